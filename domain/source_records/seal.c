#include "domain/source_records/seal.h"

#include <stdio.h>

#include "ledger/codec/canon.h"

#define END STR("\n")

static void
make_entry_key(const struct source_content *c, struct seal *out)
{
	/* None of the parts can hold a line end. */
	struct str parts[] = { c->kind, END, c->account, END, c->bank_reference,
		END, c->direction, END, c->amount.text, END, c->currency, END,
		c->booked_on };

	out->has_key = c->bank_reference.p != NULL;
	if (out->has_key)
		out->key = sha256_parts(parts, sizeof parts / sizeof parts[0]);
}

static void
make_document_key(const struct source_content *c, struct seal *out)
{
	char id[24];
	int n =
	    snprintf(id, sizeof id, "%lld", (long long)c->counterparty_id.v);
	struct str parts[] = { c->kind, END, { id, (size_t)n }, END,
		c->reference };

	out->has_key = true;
	out->key = sha256_parts(parts, sizeof parts / sizeof parts[0]);
}

int
seal_make(struct arena *a, const struct source_content *c, struct seal *out,
    struct err *e)
{
	*out = (struct seal){ 0 };
	if (canon_event(a, shape_encode(&source_content_shape, c, a),
		&out->canonical, e))
		return -1;
	out->sha256 = sha256(out->canonical);
	if (str_is(c->kind, "statement_entry"))
		make_entry_key(c, out);
	else
		make_document_key(c, out);
	return 0;
}

struct str
seal_key_bytes(const struct seal *s)
{
	if (!s->has_key)
		return STR_NONE;
	return (struct str){ (const char *)s->key.b, DIGEST_BYTES };
}
