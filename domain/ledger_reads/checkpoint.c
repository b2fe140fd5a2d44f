#include "domain/ledger_reads/group.h"
#include "domain/ledger_reads/parts.h"

struct checkpoint_query {
	struct opt_int size;
};

struct checkpoint_reply {
	struct str origin;
	int64_t size;
	struct digest_text root;
	struct str checkpoint;
};

/* clang-format off */
SHAPE(checkpoint_query, "Which checkpoint",
	FIELD(checkpoint_query, size, .place = IN_QUERY, .min = 1, .max = SEQ_MAX, .doc = "Events that it must cover; the newest one when absent"));
SHAPE(checkpoint_reply, "A signed checkpoint",
	FIELD(checkpoint_reply, origin, .doc = "The ledger's name"),
	FIELD(checkpoint_reply, size, .doc = "Events that it covers: the size asked for, rounded up to where a batch ended"),
	FIELD(checkpoint_reply, root, .doc = "Root of the Merkle tree of that size"),
	FIELD(checkpoint_reply, checkpoint, .max = 4096, .doc = "The signed note"));
/* clang-format on */

READ_OPERATION(ledger_checkpoint, checkpoint_query, checkpoint_reply,
    .id = "ledger.checkpoint", .method = "GET",
    .path = "/api/v2/ledger/checkpoint", .scope = "trust:read",
    .product = PRODUCT, .refusals = REFUSES(&err_not_found),
    .summary = "Read a signed checkpoint of the ledger");

static int
ledger_checkpoint_read(struct context *c, const struct checkpoint_query *in,
    struct checkpoint_reply *out, struct err *e)
{
	struct signed_root at;

	if (signed_root_read(c, in->size, &at, e))
		return -1;
	*out = (struct checkpoint_reply){
		.origin = ledger_origin(c->ledger),
		.size = (int64_t)at.size,
		.root = digest_as_text(c->arena, at.root),
		.checkpoint = at.note,
	};
	return 0;
}
