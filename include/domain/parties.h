/*
 * What operators register for Financial Actions: connectors, counterparties
 * and arrangements. Other groups read them here.
 */
#ifndef DOMAIN_PARTIES_H
#define DOMAIN_PARTIES_H

#include "domain/context.h"
#include "domain/money.h"

struct connector {
	int64_t id;
	struct uid uid;
	struct str name, kind; /* sandbox, file, https */
	bool sandbox, live;    /* execution modes it supports */
	struct str status;     /* active */
};

struct counterparty {
	int64_t id;
	struct uid uid;
	struct str name, account, lei; /* lei: or no value */
	struct str status;             /* active, suspended */
};

struct arrangement {
	int64_t id;
	struct uid uid;
	int64_t counterparty_id;
	struct str kind, currency, status;
	bool has_limit;
	int64_t limit_minor;
};

/* 1 found, 0 not in this ledger, -1. Strings go into the context's arena. */
int connector_find(
    struct context *, int64_t id, struct connector *, struct err *);
int counterparty_find(
    struct context *, int64_t id, struct counterparty *, struct err *);
int arrangement_find(
    struct context *, struct uid, struct arrangement *, struct err *);

/*
 * The counterparty that a document calls by this account, this LEI or this
 * name, tried in that order, each exactly; no value is passed over, and so is
 * one that several bear. 1, 0, -1.
 */
int counterparty_match(struct context *, struct str account, struct str lei,
    struct str name, struct counterparty *, struct err *);

/* How many this ledger has registered. */
int parties_count(struct context *, int64_t *connectors,
    int64_t *counterparties, int64_t *arrangements, struct err *);

#endif
