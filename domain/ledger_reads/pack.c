#include "ledger/store/pack.h"
#include "domain/ledger_reads/group.h"
#include "domain/ledger_reads/parts.h"
#include "ledger/base/embed.h"

#define PACK_OBJECTS_MAX ((size_t)30 << 20)

struct pack_query {
	int64_t seq;
};

/* clang-format off */
SHAPE(pack_query, "Which batch",
	FIELD(pack_query, seq, .place = IN_PATH, .required = true, .min = 0, .max = SEQ_MAX, .doc = "Place of an event of the batch; the whole batch is shown"));
/* clang-format on */

EMBED(ledger_pack_examples, "domain/ledger_reads/examples/ledger.pack.json");
CONTENT_OPERATION(ledger_pack, pack_query, .id = "ledger.pack", .method = "GET",
    .examples = ledger_pack_examples, .path = "/api/v2/ledger/packs/{seq}",
    .scope = "trust:read", .entitlement = "core-platform", .product = PRODUCT,
    .media_type = "application/x-git-packed-objects",
    .refusals = REFUSES(&err_pack_too_large),
    .summary = "Download the batch that holds an event as a git pack");

static int
ledger_pack_read(struct context *c, const struct pack_query *in,
    struct content *out, struct err *e)
{
	struct batch_place at;
	struct err why = { 0 };

	if (ledger_read_batch_place(c->reading, (uint64_t)in->seq, &at, e))
		return -1;
	if (pack_commit(c->reading->repo, at.commit, PACK_OBJECTS_MAX, c->arena,
		&out->bytes, &why))
		return err_set(e,
		    why.kind == &err_too_large ? &err_pack_too_large : why.kind,
		    "%s", why.detail);
	out->file_name = arena_strf(c->arena, "batch-%llu-%llu.pack",
	    (unsigned long long)at.first,
	    (unsigned long long)(at.first + at.count - 1));
	return 0;
}
