/*
 * The workspace that a ledger belongs to: one row, made by
 * `workspace.created`.
 */
#ifndef DOMAIN_WORKSPACE_H
#define DOMAIN_WORKSPACE_H

#include "domain/context.h"
#include "ledger/codec/shape.h"
#include "ledger/write/succession.h"

struct workspace_record {
	int64_t id;
	struct uid uid;
	struct str name;         /* as in credentials and paths */
	struct str display_name; /* for people */
	struct str environment;
	struct str_list entitlements;
	struct instant created_at;
};

/* 1 found, 0 the ledger was opened but its workspace is not recorded, -1. */
int workspace_find(struct context *, struct workspace_record *, struct err *);

/* One of the catalog's entitlements, as the workspace has it. */
struct workspace_entitlement {
	struct str key, title;
	bool granted;
	/* Since when it is granted, or not any more; 0: it never was. */
	struct instant since;
};

/* All of them, in the catalog's order; in the context's arena. */
int workspace_entitlements(
    struct context *, struct workspace_entitlement **, size_t *n, struct err *);

/*
 * Closes the ledger of a place; one that continues it opens there with this
 * origin, and begins with the workspace's record alone (ledger_succeed). The
 * same call again finishes what a crash left.
 */
struct service;
int workspace_succeed(struct service *, const struct place *,
    struct str operator_name, const struct ledger_closed *,
    struct succession_report *, struct err *);

#endif
