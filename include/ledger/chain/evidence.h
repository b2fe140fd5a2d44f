/*
 * Evidence files (docs/ledger-format.md, "Evidence files"): one event, its
 * inclusion proof and the ledger's key history as one canonical JSON object
 * that proves itself, and shows nothing of the event's neighbours.
 *
 *	struct evidence_key key = { .key = k };
 *	struct evidence ev = { origin, line, proof, &key, 1 };
 *	buf_init(&b, EVIDENCE_MAX);
 *	if (evidence_add(&b, &ev, e)) …
 */
#ifndef LEDGER_CHAIN_EVIDENCE_H
#define LEDGER_CHAIN_EVIDENCE_H

#include "ledger/chain/batch.h"
#include "ledger/chain/pinned.h"
#include "ledger/chain/tlog_proof.h"

#define EVIDENCE_FORMAT     "probity-evidence/v1"
#define EVIDENCE_MEDIA_TYPE "application/vnd.probity.evidence+json"
#define EVIDENCE_MAX        (512u << 10) /* bytes of a file */
#define EVIDENCE_KEYS       64

/* A ledger key and the events that it signed, both ends included. */
struct evidence_key {
	struct public_key key;
	uint64_t from_seq;
	bool ended; /* false: in force, until_seq means nothing */
	uint64_t until_seq;
	/* Of every key but the first: the line of the event that names it, and
	 * a .tlog-proof into the same checkpoint as the file's. */
	struct str line, proof;
};

struct evidence {
	struct str origin;
	struct str line;  /* "<signatures> SP <event>", no LF */
	struct str proof; /* a .tlog-proof */
	const struct evidence_key *keys;
	size_t n_keys;
};

/* A key as the file's member "keys" has it, for what shows keys elsewhere. */
struct json *evidence_key_encode(
    struct arena *, struct str origin, const struct evidence_key *);

/* Appends the file's bytes, no LF after them. err_malformed when a part is not
 * text, err_too_large beyond the buffer's maximum. */
int evidence_add(struct buf *, const struct evidence *, struct err *);

/*
 * Reads a file: canonical form, exactly the members, and a key history without
 * gaps from event 0 on. Line and proof are not looked into. err_malformed, or
 * err_too_large beyond EVIDENCE_MAX.
 */
int evidence_parse(
    struct arena *, struct str bytes, struct evidence *, struct err *);

/* The key that signs event `seq`, and a checkpoint of seq + 1 events; NULL
 * when the history has none. */
const struct evidence_key *evidence_key_at(
    const struct evidence *, uint64_t seq);

/*
 * The keys that the checkpoint of that size covers, as evidence has them: those
 * that are named later are left out, and the last one is in force. Line and
 * proof are the caller's to fill in, from the events in named_by. `keys` has
 * room for EVIDENCE_KEYS; the number of them.
 */
struct signers;
size_t evidence_keys_from(const struct signers *, uint64_t size,
    struct evidence_key *keys, uint64_t *named_by);

/* Events that a revocation makes void, both ends included. */
struct evidence_void {
	uint64_t from, to;
};

/* What a check came to. */
struct evidence_shown {
	const char *check; /* the failing one: "format", "key", "event",
			      "checkpoint", "proof"; NULL when none did */
	struct batch_line line;
	struct event event;
	struct tlog_proof proof;
	struct checkpoint checkpoint;
	struct public_key event_key, checkpoint_key;
	struct evidence_void voids[EVIDENCE_KEYS / 2];
	size_t n_voids;
};

/*
 * Whether the evidence holds by itself: the event's form, its ledger and its
 * signature, its place in the proof, the checkpoint's signature and the path
 * up to its root; and that each key is named by an event of the one before, or
 * of the recovery key, which is in the same tree. An event that a revocation
 * makes void does not hold. Whether the keys are the ledger's is for the caller
 * to judge; with `pinned` one of those keys must be one of them, and the
 * checkpoint signed by it or a later one. err_corrupt or
 * err_malformed with what does not hold, and the check's name in *shown.
 */
int evidence_check(struct arena *, const struct evidence *,
    const struct pinned *pinned, struct evidence_shown *, struct err *);

/*
 * A .tlog-proof and the event's line by themselves, which hold no key: event
 * and checkpoint must each be signed by one of those given. What keys the
 * ledger had, and whether the event is void, is not seen. As evidence_check.
 */
int evidence_check_bare(struct arena *, struct str line, struct str proof,
    const struct pinned *, struct evidence_shown *, struct err *);

#endif
