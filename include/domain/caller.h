/*
 * Who asks, and of which ledger. A credential carries scopes and nothing else.
 */
#ifndef DOMAIN_CALLER_H
#define DOMAIN_CALLER_H

#include "ledger/base/arena.h"
#include "ledger/base/err.h"
#include "ledger/base/uid.h"

/* A workspace and one of its two environments: one ledger, and the closed ones
 * that it continues. */
struct place {
	struct str workspace;   /* [a-z0-9][a-z0-9-]{0,38}, no "--" */
	struct str environment; /* "sandbox" or "production" */
	unsigned closed;        /* 0: the one in use; n: the n-th closed one */
};

bool workspace_name_is_valid(struct str);

enum caller_kind { CALLER_APPLICATION, CALLER_OPERATOR, CALLER_WORKER };

struct credential;

struct caller {
	enum caller_kind kind;
	struct place place;
	struct uid application; /* applications only, from here on */
	struct str application_name;
	struct str credential; /* public id of the key or the OAuth client */
	struct str token;      /* public id of the access token; none: a key */
	const struct str *scopes;
	size_t n_scopes;
	/* As authentication found it a moment ago; NULL: not known. */
	const struct credential *found;
	struct str operator_name; /* operators and workers */
};

bool caller_has_scope(const struct caller *, const char *scope);

#endif
