/*
 * One batch is one commit (docs/ledger-format.md): the tree's entries, the
 * commit's bytes and its trailers; made when a batch is sealed, and read back.
 */
#ifndef LEDGER_CHAIN_BATCH_H
#define LEDGER_CHAIN_BATCH_H

#include "ledger/chain/event.h"
#include "ledger/chain/index.h"
#include "ledger/chain/merkle.h"
#include "ledger/crypto/note.h"
#include "ledger/crypto/sshsig.h"
#include "ledger/store/journal.h"

#define BATCH_EVENTS 256
#define BATCH_BYTES  (4u << 20) /* of event bytes */

/* Appends "<base64 of key id and signature> SP <event> LF". */
void batch_line_add(
    struct buf *, uint32_t key_id, struct signature, struct str event);

struct batch_line {
	struct str signatures; /* comma-separated */
	struct str event;
	struct str whole; /* without the LF */
};

/* Takes the next line off *rest: 1, 0 at the end, -1 with err_corrupt. */
int batch_line_next(struct str *rest, struct batch_line *, struct err *);

/* A line by itself, its LF cut off; the event is borrowed from a copy in the
 * arena. err_corrupt. */
int batch_line_parse(
    struct arena *, struct str whole, struct batch_line *, struct err *);

/* The signature under the key id; false when there is none of 64 bytes, or
 * more than one, or the list is malformed. Other ids are passed over. */
bool batch_line_signature(
    const struct batch_line *, uint32_t key_id, struct signature *);

/* The key id of the line's first signature; false when that is none. */
bool batch_line_key_id(const struct batch_line *, uint32_t *key_id);

/* What a new batch is made of. */
struct batch_draft {
	const struct signer *signer;
	bool has_parent;
	struct oid parent;
	const struct event *events;
	const struct signature *signatures; /* one per event */
	size_t n;
	struct merkle tree;         /* after the batch */
	const struct digest *index; /* its root after the batch; or NULL */
	struct str allowed_signers;
};

struct batch_sealed {
	struct record record;  /* for the journal; all in the arena */
	struct str checkpoint; /* the signed note */
};

/* Signs checkpoint and commit. Deterministic over the draft. */
int batch_seal(struct arena *, const struct batch_draft *,
    struct batch_sealed *, struct err *);

/* A commit as read. Strings live in the arena. */
struct commit {
	struct oid oid, tree;
	bool has_parent;
	struct oid parent;
	struct str author, committer; /* the whole values */
	int64_t time;                 /* the committer's */
	struct str signed_bytes;      /* the object without its gpgsig */
	struct str gpgsig;            /* armored, continuation spaces removed */
	struct str message;
};

/* err_corrupt for more than one parent, unknown or repeated header lines. */
int commit_parse(
    struct arena *, struct str bytes, struct commit *, struct err *);

/* Reads and parses one; err_corrupt when it is missing too. */
int commit_read(
    struct repo *, struct oid, struct arena *, struct commit *, struct err *);

struct trailers {
	uint64_t size;
	struct digest root, head, signers;
	bool has_index; /* a ledger may have it */
	struct digest index;
};

/* The four trailers and Ledger-Index; err_corrupt when one of the four is
 * missing, one of the five twice or malformed. Unknown ones are passed over. */
int trailers_parse(struct str message, struct trailers *, struct err *);

/* Whether a trailer "Ledger-X: <name> <sha256>" lists the entry. */
bool trailers_list_extra(struct str message, struct str name, struct digest);

/* The entry that says which trace an event's request was part of: a line for
 * each event that has one, "<seq> SP <traceparent> LF", by rising seq. */
#define TRACES_ENTRY "x-traces"

struct payload_entry {
	struct digest sha256;
	struct oid oid;
};

struct batch {
	struct commit commit;
	struct trailers trailers;
	struct str events; /* the blob: lines */
	struct str checkpoint;
	struct str allowed_signers;
	struct str traces; /* TRACES_ENTRY; no value: there is none */
	struct payload_entry *payloads;
	size_t n_payloads;
};

/* Reads the commit and the entries of its tree (payload contents excepted);
 * err_corrupt with the reason when an object or an entry is missing. */
int batch_read(struct repo *, struct oid commit, struct arena *, struct batch *,
    struct err *);

/* The content of a stored payload: the blob less its 32 random bytes. The hash
 * is checked. */
int payload_read(struct repo *, struct oid, struct digest expect, size_t max,
    struct arena *, struct str *out, struct err *);

#endif
