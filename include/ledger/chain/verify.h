/*
 * Full verification of a ledger's repository: all that docs/ledger-format.md,
 * "What a verifier must check", lists. Needs the repository and a pinned key,
 * nothing else. Batches are checked in parallel; the chain from batch to batch
 * is stitched together in order, so the first failure named is the first.
 *
 * With from_seq above 0 the last batch that ends at or before it is trusted:
 * what it says of origin, allowed_signers, head and time is taken over, and
 * only the batches after it are checked. Their Merkle roots are not computed
 * again then, since the tree before is not known, nor is the index compared
 * with the trailer Ledger-Index; a kept checkpoint can be
 * compared only where a batch ends (err_usage otherwise).
 *
 * The keys are judged by the numbers of the events. Which key signs which batch
 * is found before the batches are checked, from the commits whose trailer
 * Ledger-Signers is another than the one before; a key event that such a commit
 * does not announce, or another one than it announced, is a fault there.
 */
#ifndef LEDGER_CHAIN_VERIFY_H
#define LEDGER_CHAIN_VERIFY_H

#include "ledger/chain/batch.h"
#include "ledger/chain/pinned.h"
#include "ledger/chain/signers.h"

struct verify_options {
	/* Of event 0, or a later one that has signed a batch since. */
	struct public_key key;
	/* Given besides: where the ledger does not name the key, the first of
	 * these that it names is in its place. The kept checkpoint may be by
	 * any of them. */
	struct pinned more;
	/* The key may be one that the last event names, which has signed
	 * nothing yet. Then only the key's own statement ties it to this
	 * ledger, and anybody can copy that: for who has the repository from a
	 * place that is trusted. */
	bool key_may_be_new;
	bool own_key; /* take event 0's instead: for a ledger that is bound by
			 something else than its key */
	bool has_kept;
	struct checkpoint kept; /* a checkpoint the auditor kept */
	/* With its signatures, to be checked with the keys that are found; NULL
	 * when the caller has checked them. */
	const struct note *kept_note;
	bool quick;        /* no event signatures, no payloads */
	unsigned threads;  /* 0: one per core */
	uint64_t from_seq; /* 0; later: only batches at or beyond */
	/* Called about ten times a second from the calling thread. */
	void (*progress)(void *, uint64_t checked, uint64_t total);
	void *progress_arg;
};

struct verify_report {
	bool good;
	bool empty;
	uint64_t events, batches, payloads; /* checked */
	uint64_t size;
	struct digest root, head;
	struct oid commit;
	char origin[201];
	struct signers keys;        /* good as far as it is good; no origin */
	char checkpoint[1024];      /* the last signed note */
	bool closed;                /* the last event is ledger.closed */
	struct continued continues; /* as event 0 says, when it was checked */
	uint64_t failed_seq; /* first failing event, or first of its batch */
	char check[32];      /* "commit", "chain", "event", "payload",
				"checkpoint", "signers", "index",
				"consistency", "repository" */
	char reason[256];
	double seconds;
};

/* -1 only when the verification could not be carried out; a bad ledger is 0
 * with good false. err_malformed when neither a key given nor one of the ledger
 * signed the kept checkpoint, unless that covers more events than are there:
 * then the history may be one from before its key, which is bad. err_usage when
 * from_seq is beyond what a revocation voids. */
int verify_ledger(const char *repo_path, const struct verify_options *,
    struct verify_report *, struct err *);

#endif
