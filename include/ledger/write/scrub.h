/*
 * Scrubbing: everything that a ledger's branch reaches is read from the disk
 * again and held to its checksums, ids, hashes and signatures, at a set rate
 * and in pieces. It opens the files by itself, takes no turn and writes
 * nothing, so it goes on beside the service, and where the ledger cannot be
 * opened any more.
 *
 *	struct scrub_state state = { 0 };
 *	while (!state.finished)
 *		if (ledger_scrub(&options, &how, &state, e))
 *			return -1;
 */
#ifndef LEDGER_WRITE_SCRUB_H
#define LEDGER_WRITE_SCRUB_H

#include "ledger/store/inspect.h"
#include "ledger/write/ledger.h"

/* Something of the repository that is not as it was written. */
struct damage {
	/* "commit", "tree", "events", "checkpoint", "allowed_signers",
	 * "payloads", "payload", "entry", "pack", "branch"; "batch" when all
	 * objects are whole and say something wrong. */
	const char *kind;
	char name[64];  /* object id, pack, or reference */
	char what[288]; /* for people */
	bool has_seq;   /* the events of the first batch that it belongs to */
	uint64_t first_seq, last_seq;
};

/* Where a cycle stands. All zeros: at its beginning. */
struct scrub_state {
	char pack[INSPECT_PACK_NAME]; /* the last one seen */
	bool packs_done, finished;
	uint64_t next_seq;
	uint64_t events, objects, bytes, damaged;
};

struct scrub_options {
	uint64_t bytes_per_second; /* 0: as fast as it goes */
	/* Ends it at once, the step that it is at forgotten. May be NULL. */
	bool (*stopped)(void *);
	/* Ends it after a step: a pack, or a batch. May be NULL. */
	bool (*enough)(void *);
	/* Each once a call. */
	void (*found)(void *, const struct damage *);
	/* After each step; total counts events. May be NULL. */
	void (*step)(void *, const struct scrub_state *, uint64_t total);
	void *arg;
};

/* Goes on from the state, which it moves. -1 when the disk could not be asked;
 * damage is told of and is no error. */
int ledger_scrub(const struct ledger_options *, const struct scrub_options *,
    struct scrub_state *, struct err *);

/* Looks at damages again, by kind and name: remains[i] tells whether it is
 * still there. */
struct damage_name {
	struct str kind, name;
};
int ledger_damage_remains(const struct ledger_options *,
    const struct damage_name *, size_t n, bool *remains, struct err *);

#endif
