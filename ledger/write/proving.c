#include "ledger/write/tiles.h"
#include "ledger/write/writer.h"

static int
beyond(struct err *e, const char *what, uint64_t n)
{
	return err_set(e, &err_not_found, "the ledger has not come to %s %llu",
	    what, (unsigned long long)n);
}

int
ledger_read_checkpoint(struct reading *r, uint64_t *size, struct arena *a,
    struct str *note, struct err *e)
{
	struct err why = { 0 };
	struct batch_place at;
	struct batch b;

	if (*size == 0 && ledger_read_size(r, size, e))
		return -1;
	if (*size == 0)
		return err_set(e, &err_not_found, "the ledger is empty");
	if (ledger_read_batch_place(r, *size - 1, &at, &why))
		return why.kind == &err_not_found
			   ? beyond(e, "size", *size)
			   : err_set(e, why.kind, "%s", why.detail);
	if (batch_read(r->repo, at.commit, a, &b, e))
		return -1;
	*size = at.first + at.count;
	*note = b.checkpoint;
	return 0;
}

/* The tree of the first `size` events. */
static int
begin(struct reading *r, uint64_t size, struct arena *a, struct tree *t,
    struct err *e)
{
	uint64_t all;

	if (ledger_read_size(r, &all, e))
		return -1;
	if (size > all)
		return beyond(e, "size", size);
	*t = (struct tree){ size, tiles_node, tiles_new(a, r->db) };
	return 0;
}

int
ledger_prove_inclusion(struct reading *r, uint64_t seq, uint64_t size,
    struct arena *a, struct merkle_proof *p, struct err *e)
{
	struct tree t;

	if (begin(r, size, a, &t, e))
		return -1;
	if (seq >= size)
		return err_set(e, &err_not_found,
		    "event %llu is not among the first %llu",
		    (unsigned long long)seq, (unsigned long long)size);
	return proof_inclusion(&t, seq, p, e);
}

int
ledger_prove_consistency(struct reading *r, uint64_t old, uint64_t size,
    struct arena *a, struct merkle_proof *p, struct err *e)
{
	struct tree t;

	if (begin(r, size, a, &t, e))
		return -1;
	if (old == 0 || old > size)
		return err_set(e, &err_invalid,
		    "a consistency proof goes from a size of at least 1 to one"
		    " that is not smaller");
	return proof_consistency(&t, old, p, e);
}

int
ledger_read_tile(struct reading *r, unsigned level, uint64_t number,
    size_t width, struct arena *a, struct str *out, struct err *e)
{
	const struct digest *hashes;
	size_t n;

	if (tiles_read(tiles_new(a, r->db), level, number, &hashes, &n, e))
		return -1;
	if (width == 0 || width > n)
		return err_set(e, &err_not_found, "there is no such tile yet");
	*out = arena_str(
	    a, (struct str){ (const char *)hashes, width * DIGEST_BYTES });
	return 0;
}
