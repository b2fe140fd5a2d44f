#include "ledger/write/tiles.h"

#include <stdlib.h>
#include <string.h>

#define TILE_BYTES ((size_t)TILE_WIDTH * DIGEST_BYTES)

/* The row's key. 2^48 tiles of 256 leaves are more than there will be. */
static int64_t
place_of(unsigned level, uint64_t number)
{
	return (int64_t)((uint64_t)level << 48 | number);
}

/* The hashes of a row; none when there is no such row. */
static int
load(struct db *db, int64_t place, struct digest *out, size_t *n, struct err *e)
{
	struct str bytes;
	struct rows r;

	*n = 0;
	if (db_query(db, &r, e,
		"SELECT hashes FROM ledger_tile WHERE place = ?", "i", place))
		return -1;
	if (rows_next(&r, e) == 1) {
		bytes = rows_borrow(&r, 0);
		if (bytes.n <= TILE_BYTES && bytes.n % DIGEST_BYTES == 0) {
			*n = bytes.n / DIGEST_BYTES;
			memcpy(out, bytes.p, bytes.n);
		}
	}
	return rows_end(&r, e);
}

static struct digest
root_of(const struct digest *hashes, size_t n)
{
	struct merkle m = { 0 };

	for (size_t i = 0; i < n; i++)
		merkle_append(&m, hashes[i]);
	return merkle_root(&m);
}

/* Adds to one level's tiles, and gives the roots of those that became full,
 * which are the next level's. */
static int
append_level(struct db *db, unsigned level, uint64_t first,
    const struct digest *hashes, size_t n, struct digest *full, size_t *n_full,
    struct err *e)
{
	struct digest tile[TILE_WIDTH];

	*n_full = 0;
	while (n > 0) {
		int64_t place = place_of(level, first / TILE_WIDTH);
		size_t have = first % TILE_WIDTH, kept = 0;
		size_t take = TILE_WIDTH - have < n ? TILE_WIDTH - have : n;

		if (have > 0 && load(db, place, tile, &kept, e))
			return -1;
		if (kept != have)
			return err_set(e, &err_view_damaged,
			    "read model: a tile has %zu hashes, not %zu", kept,
			    have);
		memcpy(tile + have, hashes, take * sizeof *tile);
		if (db_run(db, e,
			"INSERT OR REPLACE INTO ledger_tile VALUES (?, ?)",
			"ib", place,
			(struct str){
			    (const char *)tile, (have + take) * DIGEST_BYTES }))
			return -1;
		if (have + take == TILE_WIDTH)
			full[(*n_full)++] = root_of(tile, TILE_WIDTH);
		first += take;
		hashes += take;
		n -= take;
	}
	return 0;
}

int
tiles_append(struct db *db, uint64_t first, const struct digest *leaves,
    size_t n, struct err *e)
{
	struct digest full[BATCH_EVENTS / TILE_WIDTH + 1];

	for (unsigned level = 0; n > 0; level++) {
		uint64_t up = first / TILE_WIDTH;

		if (append_level(db, level, first, leaves, n, full, &n, e))
			return -1;
		leaves = full;
		first = up;
	}
	return 0;
}

struct tiles {
	struct db *db;
	/* By level, the tile that was read last: a proof goes through the tree
	 * along one way or two. */
	struct {
		bool set;
		uint64_t number;
		size_t n;
		struct digest hashes[TILE_WIDTH];
	} last[TILE_LEVELS];
};

struct tiles *
tiles_new(struct arena *a, struct db *db)
{
	struct tiles *t = arena_alloc(a, sizeof *t);

	t->db = db;
	for (size_t i = 0; i < TILE_LEVELS; i++)
		t->last[i].set = false;
	return t;
}

int
tiles_read(struct tiles *t, unsigned level, uint64_t number,
    const struct digest **hashes, size_t *n, struct err *e)
{
	if (level >= TILE_LEVELS || number >> 48)
		return err_set(e, &err_not_found, "there is no such tile");
	if (!t->last[level].set || t->last[level].number != number) {
		t->last[level].set = false;
		if (load(t->db, place_of(level, number), t->last[level].hashes,
			&t->last[level].n, e))
			return -1;
		t->last[level].set = true;
		t->last[level].number = number;
	}
	*hashes = t->last[level].hashes;
	*n = t->last[level].n;
	return 0;
}

/* struct tree's node: from the hashes of a tile below it, or in it. */
int
tiles_node(void *arg, unsigned level, uint64_t index, struct digest *out,
    struct err *e)
{
	const struct digest *hashes;
	unsigned in_tile = level % TILE_HEIGHT;
	uint64_t first = index << in_tile;
	size_t from = first % TILE_WIDTH, count = (size_t)1 << in_tile, n;

	if (tiles_read(
		arg, level / TILE_HEIGHT, first / TILE_WIDTH, &hashes, &n, e))
		return -1;
	if (from + count > n)
		return err_set(e, &err_view_damaged,
		    "read model: a tile is shorter than the ledger says");
	*out = root_of(hashes + from, count);
	return 0;
}
