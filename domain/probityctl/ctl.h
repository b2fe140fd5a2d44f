/*
 * probityctl: the operators' tool. Its commands are the catalog's rows that
 * have one, and a few of its own that are no operations (special.c).
 */
#ifndef DOMAIN_PROBITYCTL_CTL_H
#define DOMAIN_PROBITYCTL_CTL_H

#include "domain/catalog.h"
#include "domain/service.h"

#define CTL_OK          0
#define CTL_REFUSED     1
#define CTL_USAGE       2
#define CTL_UNAVAILABLE 3
#define CTL_PARAMS_MAX  256

struct ctl {
	struct arena *arena;
	struct config config;
	struct service *service;

	/* From the command line. */
	bool json, help, version, all;
	struct place place;
	struct str closed; /* which closed ledger; no value: the one in use */
	struct str idempotency_key;
	struct str noun, verb; /* no value: not given */
	const struct operation *op;
	const struct special *special;
	struct param params[CTL_PARAMS_MAX];
	size_t n_params;
};

/* A command that is no operation. It prints its own result. `in` may be NULL:
 * no options; file_field as an operation's. */
struct special {
	const char *command, *summary;
	bool needs_place;
	int (*run)(struct ctl *, struct err *);
	const struct shape *in;
	const char *file_field;
};
extern const struct special ctl_specials[]; /* ended by a NULL command */
const struct special *special_find(struct str command);

/* arguments.c: reads the command line; err_usage. */
int arguments_read(struct ctl *, int argc, char **argv, struct err *);

/* The options of the command, and whether one of them names a file. */
const struct shape *command_shape(const struct ctl *);
bool command_takes_file(const struct ctl *, const char *field);

/* The option's value; no value: it was not given. */
struct str ctl_param(const struct ctl *, const char *name);

/* backup.c */
int run_backup(struct ctl *, struct err *);
int run_restore(struct ctl *, struct err *);
extern const struct shape backup_request_shape, restore_request_shape;

/* close.c */
int run_close(struct ctl *, struct err *);
extern const struct shape close_request_shape;

/* mirror.c */
int run_mirror(struct ctl *, struct err *);
extern const struct shape mirror_request_shape;

/* config.c */
int run_config_check(struct ctl *, struct err *);
int run_config_show(struct ctl *, struct err *);
extern const struct shape config_request_shape;

/* key_check.c */
int run_key_check(struct ctl *, struct err *);
extern const struct shape key_check_request_shape;

/* outbound_check.c */
int run_outbound_check(struct ctl *, struct err *);
extern const struct shape outbound_check_request_shape;

/* scrub.c */
int run_scrub(struct ctl *, struct err *);
int run_heal(struct ctl *, struct err *);
extern const struct shape scrub_request_shape, heal_request_shape;

/* keys.c */
int run_rotate_key(struct ctl *, struct err *);
int run_revoke_key(struct ctl *, struct err *);
extern const struct shape rotate_key_request_shape, revoke_key_request_shape;

/* special.c: a line on standard error that is written over. */
void show_progress(void *unused, uint64_t done, uint64_t total);

/* run.c: the person's name, for events. */
struct str operator_name(struct arena *);

/* run.c: runs the row that was asked for and prints its reply. */
int run_operation(struct ctl *, struct err *);

/* help.c: what the arguments so far call for; the row, the noun, or all. True
 * when the noun or the row exists. */
bool help_print(const struct ctl *);

/* table.c: a reply for people. */
void table_print(const struct shape *, const struct json *reply);

/* problem.c: what went wrong, on standard error; gives the exit status. */
int problem_print(const struct ctl *, const struct err *);

/* A field's option: dashes for underscores. */
struct str option_name(struct arena *, const char *field);

#endif
