/*
 * A ledger in a folder of its own under /tmp, made batch by batch with a fixed
 * key and a clock that stands still but for one second a batch; and the means
 * to make batches that no honest writer makes, well signed all the same. Every
 * function ends the test program when it fails.
 *
 *	struct small_ledger *l = small_ledger_new();   // has event 0
 *	small_ledger_add(l, 3);
 *	… l->repo_path …
 *	small_ledger_free(l);
 */
#ifndef TESTS_SUPPORT_SMALL_LEDGER_H
#define TESTS_SUPPORT_SMALL_LEDGER_H

#include "ledger/chain/batch.h"
#include "ledger/chain/signers.h"

#define SMALL_LEDGER_ORIGIN "ledger.example.com/acme/sandbox"

struct small_ledger {
	char dir[64], repo_path[96];
	struct arena *a;
	struct repo *repo;
	struct signer *signer;
	struct public_key key, recovery;
	struct buf signers;
	struct signers keys;

	/* Where it stands. */
	struct merkle tree;
	struct digest head;
	struct instant at;
	bool has_parent;
	struct oid parent;
};

/* With event 0 in a batch of its own. */
struct small_ledger *small_ledger_new(void);

/* Removes the folder too. */
void small_ledger_free(struct small_ledger *);

/* The signer of another key, under the same origin. */
struct signer *small_ledger_stranger(void);

/* The signer of the recovery key. */
struct signer *small_ledger_recovery(void);

/* A batch of n events. */
void small_ledger_add(struct small_ledger *, size_t n);

/* A batch of one event with two payloads of the given content, and after it
 * one that names the first of them again. */
void small_ledger_add_payloads(struct small_ledger *, struct str content);

/*
 * A batch in parts, to be changed before it is written. Events may be changed
 * between small_ledger_draft and small_ledger_seal_parts, the rest after it.
 * What follows from a part is not made to follow.
 */
struct parts {
	struct event *events;
	size_t n;

	struct str blob_events, checkpoint, allowed_signers;
	struct payload_entry *payloads;
	size_t n_payloads;
	struct tree_entry extra; /* name set: one more entry */
	bool has_parent, two_parents;
	struct oid parent;
	struct str author, committer, message;
	struct signer *commit_signer;
	struct digest root;
};
struct parts small_ledger_draft(struct small_ledger *, size_t n);
void small_ledger_seal_parts(struct small_ledger *, struct parts *);

/* Writes it, moves the branch there and goes on from there. */
void small_ledger_write(struct small_ledger *, const struct parts *);

/* Stores a blob. */
struct oid small_ledger_blob(struct small_ledger *, struct str);

/* Stores a content as a payload is stored. */
struct payload small_ledger_payload(
    struct small_ledger *, const char *name, struct str content);

/* The branch moved to any commit, as git update-ref does it. */
void small_ledger_move(struct small_ledger *, struct oid);

/* The file of a loose object. */
char *small_ledger_object_path(struct small_ledger *, struct oid);

#endif
