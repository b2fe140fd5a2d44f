/*
 * The types' names do not begin with "application." and "credential.": those
 * are what a record's status is read from (domain/as_of.c).
 */
#include "domain/limits/events.h"

/* clang-format off */
SHAPE(limits_set, "Limits of requests were set; what is null falls back to the configuration, or to the application's",
	FIELD(limits_set, requests_per_second, .min = 1, .doc = "Requests a second"),
	FIELD(limits_set, burst, .min = 1, .doc = "Requests at once"),
	FIELD(limits_set, monthly, .min = 1, .doc = "Requests in a calendar month, UTC"),
	FIELD(limits_set, reason, .max = 280, .doc = "Why"));
/* clang-format on */

EVENT_TYPE(application_limits_set, "application_limits.set", limits_set,
    "An operator set how many requests an application may make");
EVENT_TYPE(credential_limits_set, "credential_limits.set", limits_set,
    "An operator set how many requests a credential may make");
EVENT_TYPE(oauth_client_limits_set, "oauth_client_limits.set", limits_set,
    "An operator set how many requests an OAuth client may make");

static int
project(struct db *db, const struct event *ev, const struct limits_set *d,
    struct err *e)
{
	return db_run(db, e,
	    "INSERT OR REPLACE INTO request_limit (subject,"
	    " requests_per_second, burst, monthly, changed_at)"
	    " VALUES (?, ?, ?, ?, ?)",
	    "uooot", ev->subject, d->requests_per_second, d->burst, d->monthly,
	    ev->at);
}

static int
project_application_limits_set(struct db *db, const struct event *ev,
    const struct limits_set *d, struct err *e)
{
	return project(db, ev, d, e);
}

static int
project_credential_limits_set(struct db *db, const struct event *ev,
    const struct limits_set *d, struct err *e)
{
	return project(db, ev, d, e);
}

static int
project_oauth_client_limits_set(struct db *db, const struct event *ev,
    const struct limits_set *d, struct err *e)
{
	return project(db, ev, d, e);
}
