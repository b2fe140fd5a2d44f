#include "domain/complete.h"

#include "ledger/write/index.h"

/* clang-format off */
SHAPE(complete, "What shows that a list leaves nothing out: pages of the index, and the signed commit that names their root",
	FIELD(complete, format, .values = VALUES(INDEX_FORMAT), .required = true, .doc = "How the index is built"),
	FIELD(complete, size, .doc = "Events in the ledger that it holds for"),
	FIELD(complete, kind, .required = true, .doc = "Kind of the records"),
	FIELD(complete, subject, .doc = "The one record that it is about; null: all between the next two"),
	FIELD(complete, after, .doc = "Only records above this one; null: from the first of the kind"),
	FIELD(complete, to, .doc = "Only records up to this one, with it; null: to the last of the kind"),
	FIELD(complete, pages, .doc = "The pages of the index, the topmost first"),
	FIELD(complete, commit, .required = true, .doc = "The newest commit object; its trailer Ledger-Index is the topmost page's SHA-256"),
	FIELD(complete, checkpoint, .required = true, .doc = "The signed checkpoint of that commit"));
/* clang-format on */

static int
prove(struct context *c, const struct index_range *range,
    const struct complete *about, const void **out, struct err *e)
{
	struct complete *made = ARENA_NEW(c->arena, struct complete);
	struct index_proof proof;

	if (ledger_read_index(c->reading, range, c->arena, &proof, e))
		return -1;
	*made = *about;
	made->format = STR(INDEX_FORMAT);
	made->size = (int64_t)proof.size;
	made->pages = (struct str_list){ proof.pages, proof.n };
	made->commit = proof.commit;
	made->checkpoint = proof.checkpoint;
	*out = made;
	return 0;
}

int
complete_prove_record(struct context *c, struct str kind, struct uid uid,
    const void **out, struct err *e)
{
	struct complete about = { .kind = kind, .subject = uid };
	struct index_range range;

	if (index_range_of_record(&range, kind, uid, e))
		return -1;
	return prove(c, &range, &about, out, e);
}

int
complete_prove_kind(struct context *c, struct str kind, struct uid after,
    struct uid to, const void **out, struct err *e)
{
	struct complete about = { .kind = kind, .after = after, .to = to };
	struct index_range range;

	if (index_range_of_kind(&range, kind, after, to, e))
		return -1;
	return prove(c, &range, &about, out, e);
}

int
complete_refuse_filter(
    struct context *c, bool given, const char *name, struct err *e)
{
	if (!given)
		return 0;
	return err_add_field(e, c->arena, "parameter", name, "filter",
	    "a complete list takes no filter: leave this out, or leave out "
	    "proof");
}
