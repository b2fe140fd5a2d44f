/*
 * Where a manifest goes while it is made: memory for a small one, a file for
 * one that may be larger than memory.
 */
#ifndef DOMAIN_LINEAGE_SINK_H
#define DOMAIN_LINEAGE_SINK_H

#include "ledger/base/buf.h"
#include "ledger/base/err.h"
#include "ledger/crypto/hash.h"

struct sink {
	int (*add)(struct sink *, struct str, struct err *);
};

/* Memory, up to the buffer's maximum: err_too_large beyond. */
struct memory_sink {
	struct sink sink;
	struct buf buf;
};
void memory_sink_init(struct memory_sink *, size_t max);
void memory_sink_fini(struct memory_sink *);

/* A file, hashed while it is written, by one writer at a time: err_conflict for
 * another. err_no_space when the disk would be left with less than free_floor.
 */
struct file_sink;
int file_sink_open(
    const char *path, uint64_t free_floor, struct file_sink **, struct err *);
struct sink *file_sink_of(struct file_sink *);

/* Writes what is left, syncs, and gives the file the name by which it is read.
 * Frees the sink in any case. */
int file_sink_end(struct file_sink *, const char *path, struct digest *,
    uint64_t *bytes, struct err *);

/* Removes what was written. */
void file_sink_drop(struct file_sink *);

#endif
