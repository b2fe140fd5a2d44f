/*
 * What the OpenAPI document says of a row beside its summary.
 */
#include "domain/openapi.h"

#include "ledger/base/buf.h"
#include "ledger/chain/event.h"

#define WORDS_MAX 4096

static void
add_events(const struct operation *op, struct buf *words)
{
	for (size_t i = 0; op->emits && op->emits[i]; i++)
		buf_addf(words, "%s%s", i == 0 ? " May append: " : ", ",
		    op->emits[i]->name);
	if (op->emits && op->emits[0])
		buf_add_byte(words, '.');
}

static void
add_effect(const struct operation *op, struct buf *words)
{
	if (op->effect == EFFECT_READ)
		buf_add_cstr(words, " Changes nothing.");
	else if (op->may_wait)
		buf_add_cstr(
		    words, " Answers 202 where the worker is to do it.");
}

struct str
openapi_description(struct arena *a, const struct operation *op)
{
	struct buf words;
	struct str s;

	buf_init(&words, WORDS_MAX);
	buf_addf(&words, "Needs the scope %s", op->scope);
	if (op->entitlement)
		buf_addf(&words, " and the entitlement %s", op->entitlement);
	buf_add_byte(&words, '.');
	add_effect(op, &words);
	add_events(op, &words);
	s = arena_str(a, buf_str(&words));
	buf_fini(&words);
	return s;
}

/* Whoever runs it; the pages are where its readers begin. */
struct json *
openapi_contact(struct arena *a, struct str base_url)
{
	struct json *v = json_object(a);

	json_put_str(a, v, "name", STR("The operator of this service"));
	json_put_str(
	    a, v, "url", arena_strf(a, "%.*s/docs/", STR_ARGS(base_url)));
	return v;
}
