/*
 * Idempotency keys. What is kept of one is in the events it led to: keyed
 * hashes of key and request, so a replay outlives every table and a small
 * request cannot be guessed from its hash.
 */
#include "domain/running.h"

#include "ledger/codec/canon.h"

#define PARTS_MAX   1048576
#define REQUEST_MAX ((size_t)256 << 20)
#define KEY_LENGTH  255

/* Length before content: no two lists of parts give the same bytes. */
static void
add_part(struct buf *b, struct str part)
{
	buf_add_u64be(b, part.n);
	buf_add(b, part);
}

static struct str
who(const struct caller *caller, char text[UID_TEXT + 1])
{
	if (caller->kind != CALLER_APPLICATION)
		return caller->operator_name;
	uid_format(caller->application, text);
	return str_from(text);
}

/* Where the request went: the path without its query, or the row's name where
 * a front has no paths. */
static struct str
where(const struct call *call)
{
	if (!call->target.p)
		return str_from(call->op->id);
	return str_slice(call->target, 0, str_find(call->target, '?'));
}

static struct digest
key_fingerprint(const struct running *r)
{
	const struct call *call = r->call;
	char text[UID_TEXT + 1];
	struct digest digest;
	struct buf b;
	struct str all;

	buf_init(&b, PARTS_MAX);
	add_part(&b, STR("key"));
	add_part(&b, who(call->caller, text));
	add_part(&b, str_from(call->op->method ? call->op->method : "-"));
	add_part(&b, where(call));
	add_part(&b, call->idempotency_key);
	all = buf_str(&b);
	digest = ledger_fingerprint(r->c.ledger, &all, 1);
	buf_fini(&b);
	return digest;
}

/* No other number has its canonical form: a double tells all decimals of
 * fifteen digits apart, but for those near the ends of its range. */
static bool
number_is_kept(struct str lexeme)
{
	size_t digits = 0, exponent = 0, *count = &digits;

	for (size_t i = 0; i < lexeme.n; i++)
		if (lexeme.p[i] == 'e' || lexeme.p[i] == 'E')
			count = &exponent;
		else if (lexeme.p[i] >= '0' && lexeme.p[i] <= '9')
			++*count;
	return digits <= 15 && exponent <= 2;
}

/* The depth is that of what was parsed, which has a limit. */
static bool
numbers_are_kept(const struct json *v)
{
	if (v->type == JSON_NUMBER)
		return number_is_kept(v->text);
	for (const struct json *child = v->first; child; child = child->next)
		if (!numbers_are_kept(child))
			return false;
	return true;
}

/* Two spellings of one JSON body are the same request; so is a command line in
 * another order, which counts as it was understood. A body without canonical
 * form, or that another one shares, counts as it was sent. */
static struct str
content_of(const struct running *r)
{
	const struct call *call = r->call;
	const struct json *v =
	    call->input.flat ? shape_encode(call->op->in, r->in, r->c.arena)
			     : call->input.body;
	struct str canonical;
	struct err ignored = { 0 };

	if (v && (call->input.flat || numbers_are_kept(v)) &&
	    canon_str(r->c.arena, v, &canonical, &ignored) == 0)
		return canonical;
	return call->body;
}

static int
request_fingerprint(
    const struct running *r, struct digest *digest, struct err *e)
{
	const struct call *call = r->call;
	struct buf b;
	struct str all;
	int result = 0;

	/* What a request brings is bounded by its front. */
	buf_init(&b, REQUEST_MAX);
	add_part(&b, STR("request"));
	add_part(&b, str_from(call->op->method ? call->op->method : "-"));
	add_part(&b, call->target.p ? call->target : str_from(call->op->id));
	add_part(&b, content_of(r));
	all = buf_str(&b);
	if (buf_failed(&b))
		result = err_set(e, &err_too_large, "the request is too large");
	else
		*digest = ledger_fingerprint(r->c.ledger, &all, 1);
	buf_fini(&b);
	return result;
}

int
idempotency_fingerprints(struct running *r, struct err *e)
{
	struct str key = r->call->idempotency_key;

	if (!key.p || r->idempotency.set || !r->c.ledger)
		return 0;
	if (key.n == 0 || key.n > KEY_LENGTH)
		return err_add_field(e, r->c.arena, "header", "Idempotency-Key",
		    "length", "must have 1 to %d characters", KEY_LENGTH);
	r->idempotency.key_hmac = key_fingerprint(r);
	r->idempotency.set = true;
	return request_fingerprint(r, &r->idempotency.request_hmac, e);
}

int
idempotency_find(struct running *r, struct db *db, struct err *e)
{
	struct rows rows;
	int found;

	if (!r->idempotency.set)
		return 0;
	if (db_query(db, &rows, e,
		"SELECT request_hmac, first_seq, last_seq FROM idempotency"
		" WHERE key_hmac = ?",
		"d", r->idempotency.key_hmac))
		return -1;
	found = rows_next(&rows, e);
	if (found == 1) {
		r->replayed = digest_eq(
		    rows_digest(&rows, 0), r->idempotency.request_hmac);
		r->first_seq = (uint64_t)rows_int(&rows, 1);
		r->last_seq = (uint64_t)rows_int(&rows, 2);
	}
	if (rows_end(&rows, e) || found < 0)
		return -1;
	if (found == 1 && !r->replayed)
		return err_set(e, &err_idempotency,
		    "the key was sent before with another request");
	return found;
}
