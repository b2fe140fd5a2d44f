/*
 * The redo journal: a preallocated, zero-filled ring of whole batches. A batch
 * has happened when journal_append returns 0; from then on it is only ever
 * finished: published to git and to state.db from here, after a crash too.
 *
 * Positions count bytes since the ledger's birth and only rise; position p
 * lies at JOURNAL_HEADER + p % ring size in the file. A record never wraps. It
 * carries its position and a SHA-256 over everything, so a torn or a stale one
 * is never taken for whole. The header exists twice, each copy with a counter
 * and a checksum, so a torn write of one leaves the other.
 *
 * Every function but journal_open is called with the turn held (turn.h).
 */
#ifndef LEDGER_STORE_JOURNAL_H
#define LEDGER_STORE_JOURNAL_H

#include "ledger/store/repo.h"

#define JOURNAL_BYTES      (16u << 20)
#define JOURNAL_RECORD_MAX (5u << 20)

struct journal;

/* A batch: the objects to write and where the branch moves. */
struct record {
	bool has_parent;
	struct oid parent; /* where the branch was */
	struct oid commit; /* where it goes */
	uint64_t first_seq, count;
	const struct object *objects;
	size_t n_objects;
};

/* Makes the file when it is missing, all blocks written and synced. */
int journal_open(const char *path, struct journal **, struct err *);
void journal_close(struct journal *);

/*
 * Reads the header again and walks over whole records that other processes
 * appended since the last call. A torn record at the end, which can only be a
 * batch that never happened, is overwritten with zeros and synced, so that no
 * signed checkpoint of it stays on the disk.
 */
int journal_refresh(struct journal *, struct err *);

/* Where records start that are not freed, and where the next one goes. */
uint64_t journal_start(const struct journal *);
uint64_t journal_end(const struct journal *);

/* The record at *position, into the arena; moves *position past it. 1, or 0 at
 * the end, or -1. */
int journal_read(struct journal *, uint64_t *position, struct arena *,
    struct record *, struct err *);

/* The last record, if it is at `from` or after. 1, or 0 when there is none, or
 * -1. */
int journal_read_last(struct journal *, uint64_t from, struct arena *,
    struct record *out, struct err *);

/*
 * Appends and syncs (one fdatasync). On -1:
 *   err_no_space or err_unavailable: it did not happen, nothing of it remains;
 *   err_outcome_unknown: it may be on the disk. Nothing more may be appended
 *   until journal_recover succeeds.
 */
int journal_append(struct journal *, const struct record *, struct err *);

/*
 * After err_outcome_unknown, at the first turn of a process, and before a
 * record that journal_refresh found is published while the branch is not there
 * yet (its writer may have been killed between writing and syncing): reads the
 * tail back, writes the last whole record again and syncs it (a page that
 * failed to reach the disk counts as clean to the kernel), zeroes a torn one.
 * When it returns 0 what journal_read gives is durable, and appending may go
 * on.
 */
int journal_recover(struct journal *, struct err *);

/* Records before the position are published and synced: their space is free. */
int journal_free(struct journal *, uint64_t upto, struct err *);

/* Whether the file was last used in another boot of the machine: then unsynced
 * objects may be torn, see journal_mark_boot. */
bool journal_from_other_boot(const struct journal *);

/* Writes this boot's id into the header, once recovery is done and synced. */
int journal_mark_boot(struct journal *, struct err *);

/* As if the boot were another one, for every process, until the next
 * journal_mark_boot: a sync failed and what was unsynced may be lost. */
int journal_doubt_boot(struct journal *, struct err *);

/* Bytes of the ring in use, for the half-full rule. */
uint64_t journal_used(const struct journal *);

#endif
