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

/* Its name and account are encrypted and nobody's but this group's. */
struct counterparty {
	int64_t id;
	struct uid uid;
	struct str lei;    /* or no value */
	struct str status; /* active, suspended */
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
 * The ledger's counterparties by account and name, decrypted, for the time of
 * one request: no table and no hash of them outlives an erasure. Made before
 * the turn; counterparty_names_update adds, while deciding, those that came
 * since.
 */
struct counterparty_names;
int counterparty_names_read(
    struct context *, struct counterparty_names **, struct err *);
int counterparty_names_update(
    struct context *, struct counterparty_names *, struct err *);

/*
 * While deciding: the counterparty that a document calls by this account, this
 * LEI or this name, tried in that order, each exactly; no value is passed over,
 * and so is one that several bear. 1, 0, -1.
 */
int counterparty_match(struct context *, const struct counterparty_names *,
    struct str account, struct str lei, struct str name, int64_t *id,
    struct err *);

/* Connectors by kind; since: when the first was added, 0: there is none. */
struct connector_kinds {
	int64_t sandbox, file, https;
	struct instant since;
};
int connectors_by_kind(
    struct context *, struct connector_kinds *, struct err *);

/* How many this ledger has registered. */
int parties_count(struct context *, int64_t *connectors,
    int64_t *counterparties, int64_t *arrangements, struct err *);

#endif
