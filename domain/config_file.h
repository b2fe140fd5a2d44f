/*
 * The text of a configuration: lines of `name = value`, comments that begin
 * with #. Nothing here knows which names there are. All faults are told, each
 * with its line and column.
 */
#ifndef DOMAIN_CONFIG_FILE_H
#define DOMAIN_CONFIG_FILE_H

#include "domain/config.h"
#include "ledger/base/arena.h"

#define CONFIG_SETTINGS_MAX 256

struct setting {
	struct str name, value; /* borrowed from the text */
	struct config_origin origin;
	const char *name_at, *value_at; /* "path:12:1", or the variable */
};

struct settings {
	struct setting list[CONFIG_SETTINGS_MAX];
	size_t n;
};

/* Adds the text's settings; path is for the faults. err_invalid with all
 * faults; what could be read is added even so. */
int config_file_read(struct arena *, const char *path, struct str text,
    struct settings *, struct err *);

/* NULL: the name was not set. */
struct setting *settings_find(struct settings *, struct str name);

/* What bounds and words cannot say of the named setting. Called with this one
 * set and all others at their defaults. err_invalid, with what is wrong. */
int config_check_meaning(
    struct arena *, struct str name, const struct config *, struct err *);

/* Whether what the named setting's value stands for is there: a file, a
 * program, a folder. err_invalid, with what is not. */
int config_look(
    struct arena *, struct str name, struct str value, struct err *);

/* What webhook_lease_seconds has to be by what webhook_seconds is. err_invalid,
 * with what is wrong. */
int config_check_lease(const struct config *, struct err *);

/* The known name that a mistyped one was meant to be, or NULL. */
const char *config_nearest(struct str name);

/* The fault of a setting at a place. Returns -1. */
__attribute__((format(printf, 5, 6))) int config_fault(struct err *,
    struct arena *, const char *at, const char *code, const char *fmt, ...);

#endif
