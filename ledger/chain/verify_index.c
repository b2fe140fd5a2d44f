/* The index, kept along with the batches from event 0 on. */
#include "ledger/chain/verify_run.h"

static int
add_batch(struct verification *v, const struct batch_result *b)
{
	struct err why = { 0 };

	for (size_t i = 0; i < b->n; i++)
		if (index_list_add(v->index, &b->records[i], &why))
			return verify_fail(v, CHECK_INDEX, v->report->size + i,
			    "%.200s", why.detail);
	return 0;
}

int
verify_index(struct verification *v, const struct batch_result *b)
{
	uint64_t seq = v->report->size;
	struct err why = { 0 };
	struct digest root;

	if (!v->index)
		return 0;
	if (add_batch(v, b))
		return 1;
	v->indexed |= b->indexed;
	if (!v->indexed)
		return 0;
	if (!b->has_index)
		return verify_fail(v, CHECK_INDEX, seq,
		    "the trailer " INDEX_TRAILER " is missing");
	if (index_list_root(v->index, &root, &why))
		return verify_fail(v, CHECK_INDEX, seq, "%.200s", why.detail);
	if (!digest_eq(root, b->index_root))
		return verify_fail(v, CHECK_INDEX, seq,
		    "the trailer " INDEX_TRAILER
		    " is not the root of the index over the events");
	return 0;
}
