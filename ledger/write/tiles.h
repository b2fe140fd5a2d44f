/*
 * The Merkle tree in the read model, as tiles of C2SP tlog-tiles: 256 hashes
 * of one level, eight levels apart. A proof then reads a few rows, however
 * large the ledger, and the tiles are served as they lie here.
 */
#ifndef LEDGER_WRITE_TILES_H
#define LEDGER_WRITE_TILES_H

#include "ledger/chain/batch.h"
#include "ledger/view/db.h"

#define TILE_HEIGHT 8
#define TILE_WIDTH  256
#define TILE_LEVELS 8

/* Appends the leaves of one batch, at most BATCH_EVENTS; `first` is the first
 * one's index. */
int tiles_append(struct db *, uint64_t first, const struct digest *leaves,
    size_t n, struct err *);

/* Reads them, in one transaction; lives in the arena. */
struct tiles;
struct tiles *tiles_new(struct arena *, struct db *);

/* The hashes of a tile, up to 256, until its level's next read; n is 0 where
 * the tree has not come. */
int tiles_read(struct tiles *, unsigned level, uint64_t number,
    const struct digest **hashes, size_t *n, struct err *);

/* `node` of a struct tree whose arg is a struct tiles. */
int tiles_node(
    void *tiles, unsigned level, uint64_t index, struct digest *, struct err *);

#endif
