#include "domain/ledger_reads/group.h"
#include "domain/ledger_reads/parts.h"
#include "domain/witnesses.h"
#include "ledger/base/embed.h"

struct checkpoint_query {
	struct opt_int size;
	bool witnessed;
};

struct checkpoint_reply {
	struct str origin;
	int64_t size;
	struct digest_text root;
	struct str checkpoint;
	struct list cosignatures;
	bool witnessed;
};

/* clang-format off */
SHAPE(checkpoint_query, "Which checkpoint",
	FIELD(checkpoint_query, size, .place = IN_QUERY, .min = 1, .max = SEQ_MAX, .doc = "Events that it must cover; the newest one when absent"),
	FIELD(checkpoint_query, witnessed, .place = IN_QUERY, .doc = "Only a checkpoint that enough witnesses cosigned, the newest such one"));
SHAPE(checkpoint_reply, "A signed checkpoint",
	FIELD(checkpoint_reply, origin, .required = true, .doc = "The ledger's name"),
	FIELD(checkpoint_reply, size, .doc = "Events that it covers: the size asked for, rounded up to where a batch ended"),
	FIELD(checkpoint_reply, root, .required = true, .doc = "Root of the Merkle tree of that size"),
	FIELD(checkpoint_reply, checkpoint, .required = true, .max = NOTE_MAX, .doc = "The signed note; with the cosignatures when a witnessed one was asked for"),
	FIELD(checkpoint_reply, cosignatures, .of = &cosignature_shape, .doc = "What the witnesses said of it"),
	FIELD(checkpoint_reply, witnessed, .doc = "Whether enough of them cosigned it"));
/* clang-format on */

EMBED(ledger_checkpoint_examples,
    "domain/ledger_reads/examples/ledger.checkpoint.json");
READ_OPERATION(ledger_checkpoint, checkpoint_query, checkpoint_reply,
    .id = "ledger.checkpoint", .method = "GET",
    .examples = ledger_checkpoint_examples, .path = "/api/v2/ledger/checkpoint",
    .scope = "trust:read", .entitlement = "core-platform", .product = PRODUCT,
    .refusals = REFUSES(&err_not_found),
    .summary = "Read a signed checkpoint of the ledger");

/* The newest of them covers whatever any of them does. */
static int
find_witnessed(
    struct context *c, struct opt_int least, struct opt_int *out, struct err *e)
{
	uint64_t size;

	if (witnesses_find_newest(c, &size, e))
		return -1;
	if (least.set && (uint64_t)least.v > size)
		return err_set(e, &err_not_found,
		    "the newest witnessed checkpoint covers %llu events",
		    (unsigned long long)size);
	*out = (struct opt_int){ true, (int64_t)size };
	return 0;
}

static struct str
with_lines(struct arena *a, struct str note, const struct cosignatures *given)
{
	const struct cosignature *items = given->items.items;
	struct str out;
	struct buf b;

	buf_init(&b, NOTE_MAX);
	buf_add(&b, note);
	for (size_t i = 0; i < given->items.n; i++)
		buf_add(&b, items[i].line);
	out = arena_str(a, buf_str(&b));
	buf_fini(&b);
	return out;
}

static int
ledger_checkpoint_read(struct context *c, const struct checkpoint_query *in,
    struct checkpoint_reply *out, struct err *e)
{
	struct opt_int size = in->size;
	struct cosignatures given;
	struct signed_root at;

	if ((in->witnessed && find_witnessed(c, in->size, &size, e)) ||
	    signed_root_read(c, size, &at, e) ||
	    witnesses_read(c, at.size, &given, e))
		return -1;
	*out = (struct checkpoint_reply){
		.origin = ledger_origin(c->ledger),
		.size = (int64_t)at.size,
		.root = digest_as_text(c->arena, at.root),
		.checkpoint = in->witnessed
				  ? with_lines(c->arena, at.note, &given)
				  : at.note,
		.cosignatures = given.items,
		.witnessed = given.enough,
	};
	return 0;
}
