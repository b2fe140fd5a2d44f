/*
 * All groups of operations. catalog.c lists them; each group's folder holds
 * the rest.
 */
#ifndef DOMAIN_CATALOG_H
#define DOMAIN_CATALOG_H

#include "domain/gauge.h"
#include "domain/job.h"
#include "domain/operation.h"

struct group {
	const char *name; /* the folder */
	const char *title;
	const struct operation *const *operations; /* NULL-ended */
	const struct view *view;
	const struct job_kind *const *jobs;     /* NULL-ended, or NULL */
	const struct err_kind *const *problems; /* NULL-ended, or NULL */
	const struct gauge *const *gauges;      /* NULL-ended, or NULL */
};

extern const struct group *const catalog_groups[]; /* NULL-ended */

/* All views, NULL-ended, for ledger_options. */
const struct view *const *catalog_views(void);

/* The row with this id, or this command ("workspace create"); NULL: none. */
const struct operation *catalog_by_id(struct str id);
const struct operation *catalog_by_command(struct str command);

/* What operations ask a credential for. A token carries it only where its
 * application and workspace are entitled to one of the products whose
 * operations do, whether there are any yet or not. */
struct scope {
	const char *name;
	const char *entitlements; /* with spaces between them; empty: none is
				     needed */
};

/* Every one, sorted by name, ended by a NULL name. */
extern const struct scope catalog_scopes[];
const struct scope *catalog_scope(struct str name); /* NULL: there is none */
bool catalog_knows_scope(struct str name);

/* Whether it is among those named; "": whether there is none. */
bool catalog_scope_needs(const struct scope *, const char *entitlement);

/* A group of operations that a workspace has or has not, and its applications
 * with it. */
struct entitlement {
	const char *key, *title;
};

/* Every one, sorted by key, ended by a NULL key. */
extern const struct entitlement catalog_entitlements[];
bool catalog_knows_entitlement(struct str key);

/*
 * Writes a line for every fault: ids and routes twice, unknown scopes and
 * those of another product, path parameters without a field, events on reads,
 * events that no group's view projects, missing functions. True when there is
 * none. A unit test runs it.
 */
bool catalog_check(struct buf *faults);

/* The OpenAPI 3.1 document of the rows that have a route. */
struct json *catalog_openapi(struct arena *, struct str base_url);

#endif
