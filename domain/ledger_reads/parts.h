/*
 * What several of the auditors' reads are made of.
 */
#ifndef DOMAIN_LEDGER_READS_PARTS_H
#define DOMAIN_LEDGER_READS_PARTS_H

#include "domain/operation.h"
#include "ledger/chain/evidence.h"

#define PRODUCT "Trust"
#define SEQ_MAX 9007199254740991

struct digest_text digest_as_text(struct arena *, struct digest);
struct str commit_as_text(struct arena *, struct oid);
struct str_list hashes_as_text(struct arena *, const struct merkle_proof *);

/* A checkpoint that the ledger signed, and what it says. */
struct signed_root {
	uint64_t size;
	struct digest root;
	struct str note;
};

/* The first one that covers `size` events; without a size the newest.
 * err_not_found when the ledger has not come to it. */
int signed_root_read(
    struct context *, struct opt_int size, struct signed_root *, struct err *);

/* That event seq is in the tree of that root, also as a file. */
struct inclusion {
	struct stored_event event;
	struct merkle_proof path;
	struct str tlog_proof;
};
int inclusion_prove(struct context *, int64_t seq, const struct signed_root *,
    struct inclusion *, struct err *);

/* The keys that a checkpoint covers, each but the first with the event that
 * names it and the proof of that, as evidence has them. */
struct key_history {
	const struct evidence_key *keys;
	size_t n;
};
int key_history_prove(struct context *, const struct signed_root *,
    struct key_history *, struct err *);

#endif
