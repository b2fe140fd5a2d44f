/*
 * Where a configuration comes from, what is wrong with one, and taking a new
 * one while the process runs. struct config and config_load are in
 * domain/service.h.
 *
 * A fault is a field of the error: `at` is "/etc/probity/probity.conf:12:9" or
 * the environment variable, `detail` is "threads: must be 1 to 1024".
 */
#ifndef DOMAIN_CONFIG_H
#define DOMAIN_CONFIG_H

#include "domain/service.h"

enum config_source { CONFIG_DEFAULT, CONFIG_FILE, CONFIG_ENVIRONMENT };

/* Of one setting; line and column, from 1, of its value in the file. */
struct config_origin {
	enum config_source source;
	int line, column;
};

struct config_origins {
	const char *path; /* of the file that was read; NULL: none is there */
	struct config_origin *of; /* one for each field of config_shape */
};

/* As config_load, of the file at path (NULL: the one that PROBITY_CONFIG
 * names, or the usual one). origins may be NULL. err_invalid with all faults,
 * at most 64. */
int config_load_from(struct arena *, const char *path, struct config *,
    struct config_origins *origins, struct err *);

/*
 * config_load_from for who wants to know before the programs do: looks also for
 * files that settings name and nobody can read, for the program, and for the
 * folder of the log. Who runs it should be who runs the programs.
 */
int config_check_from(struct arena *, const char *path, struct config *,
    struct config_origins *origins, struct err *);

/* Where the i-th setting comes from: "path:12:9", "PROBITY_THREADS", or
 * "default". */
const char *config_place(
    struct arena *, const struct config_origins *, size_t i);

/* False before the first workspace, and when `state` names another folder than
 * was meant. */
bool config_state_is_there(struct arena *, const struct config *);

/* Calls say with a line for each fault: what a person has to mend. */
void config_complain(
    const struct err *, void (*say)(void *arg, const char *line), void *arg);

/* Whether a changed value counts from the next reload on; otherwise from the
 * next start. */
bool config_reloads(struct str name);

/* How much the log says. */
void config_set_log_level(const struct config *);

/*
 * Reads the configuration again. What can change is in force when this
 * returns; whoever works by the old one goes on with it, since none is freed
 * before the service is. Settings that changed but wait for a start are told
 * to the log. A faulty file changes nothing and is the error; its faults are in
 * the arena.
 */
int service_reload(struct service *, struct arena *, struct err *);

/* service_reload, with success and faults told to the log. */
void service_reload_logged(struct service *, const char *module);

#endif
