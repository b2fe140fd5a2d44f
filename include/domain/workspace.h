/*
 * The workspace that a ledger belongs to: one row, made by
 * `workspace.created`.
 */
#ifndef DOMAIN_WORKSPACE_H
#define DOMAIN_WORKSPACE_H

#include "domain/context.h"
#include "ledger/codec/shape.h"

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

#endif
