#include "ledger/chain/event_scan.h"

#include <string.h>

#include "ledger/base/swar.h"

#define JSON_INT_MAX ((UINT64_C(1) << 53) - 1)

struct cursor {
	const char *p, *end;
};

#define TAKE(c, literal) take_literal(c, STR(literal))

static bool
take_literal(struct cursor *c, struct str s)
{
	if ((size_t)(c->end - c->p) < s.n || memcmp(c->p, s.p, s.n) != 0)
		return false;
	c->p += s.n;
	return true;
}

static bool
take_bytes(struct cursor *c, size_t n, struct str *out)
{
	if ((size_t)(c->end - c->p) < n)
		return false;
	*out = (struct str){ c->p, n };
	c->p += n;
	return true;
}

/* To the next quote or backslash, or the end. */
static const char *
find_mark(const char *p, const char *end)
{
	for (; end - p >= 8; p += 8) {
		uint64_t x = swar_load(p);
		uint64_t marks =
		    swar_mark_byte(x, '"') | swar_mark_byte(x, '\\');

		if (marks)
			return p + swar_first(marks);
	}
	while (p < end && *p != '"' && *p != '\\')
		p++;
	return p;
}

/* Up to the closing quote, which goes too; the opening one is gone already. */
static bool
take_rest_of_string(struct cursor *c, struct str *out)
{
	const char *p = find_mark(c->p, c->end);

	while (c->end - p >= 2 && *p == '\\')
		p = find_mark(p + 2, c->end);
	if (p == c->end || *p != '"')
		return false;
	*out = (struct str){ c->p, (size_t)(p - c->p) };
	c->p = p + 1;
	return true;
}

/* A string with something in it. */
static bool
take_text(struct cursor *c, struct str *out)
{
	return TAKE(c, "\"") && take_rest_of_string(c, out) && out->n > 0;
}

static bool
take_text_or_null(struct cursor *c, struct str *out)
{
	*out = STR_NONE;
	return TAKE(c, "null") || take_text(c, out);
}

/* [a-z][a-z0-9_]* */
static bool
is_word(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char ch = s.p[i];

		if (!(ch >= 'a' && ch <= 'z') &&
		    (i == 0 || !((ch >= '0' && ch <= '9') || ch == '_')))
			return false;
	}
	return s.n > 0 && s.n <= EVENT_TYPE_MAX;
}

static bool
take_word(struct cursor *c, struct str *out)
{
	return take_text(c, out) && is_word(*out);
}

static bool
take_number(struct cursor *c, uint64_t *out)
{
	const char *start = c->p;

	while (c->p < c->end && *c->p >= '0' && *c->p <= '9')
		c->p++;
	return str_to_u64((struct str){ start, (size_t)(c->p - start) }, out) &&
	       *out <= JSON_INT_MAX;
}

static bool
take_digest(struct cursor *c, struct digest *out)
{
	struct str hex;

	return TAKE(c, "\"") && take_bytes(c, DIGEST_HEX, &hex) &&
	       digest_from_hex(hex, out) && TAKE(c, "\"");
}

static bool
take_uid(struct cursor *c, struct uid *out)
{
	struct str text;

	if (!TAKE(c, "\"") || !take_bytes(c, UID_TEXT, &text) ||
	    !uid_parse(text, out) || uid_is_none(*out))
		return false;
	/* uid_parse takes capitals; an event has one form only. */
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] >= 'A' && text.p[i] <= 'F')
			return false;
	return TAKE(c, "\"");
}

/* Over the rest of an object whose brace is gone already. */
static bool
skip_object(struct cursor *c)
{
	struct str ignored;
	unsigned depth = 1;

	while (depth > 0 && c->p < c->end) {
		char ch = *c->p++;

		if (ch == '{')
			depth++;
		else if (ch == '}')
			depth--;
		else if (ch == '"' && !take_rest_of_string(c, &ignored))
			return false;
	}
	return depth == 0;
}

static bool
is_actor_kind(struct str s)
{
	return str_is(s, "application") || str_is(s, "human") ||
	       str_is(s, "worker") || str_is(s, "operator");
}

/* A signed request has both members, and a content digest if it had content. */
static bool
take_signature(struct cursor *c, struct actor *a)
{
	a->signature = a->signature_input = STR_NONE;
	if (!TAKE(c, ",\"signature\":"))
		return a->content_digest.p == NULL;
	return take_text(c, &a->signature) &&
	       TAKE(c, ",\"signature_input\":") &&
	       take_text(c, &a->signature_input);
}

static bool
take_actor(struct cursor *c, struct event_scan *s)
{
	struct actor *a = &s->actor;

	a->content_digest = STR_NONE;
	if (!TAKE(c, "{\"actor\":{"))
		return false;
	if (TAKE(c, "\"content_digest\":") &&
	    !(take_text(c, &a->content_digest) && TAKE(c, ",")))
		return false;
	return TAKE(c, "\"credential\":") &&
	       take_text_or_null(c, &a->credential) && TAKE(c, ",\"id\":") &&
	       take_text(c, &a->id) && TAKE(c, ",\"kind\":") &&
	       take_word(c, &a->kind) && is_actor_kind(a->kind) &&
	       take_signature(c, a) && TAKE(c, "}");
}

static bool
take_at(struct cursor *c, struct event_scan *s)
{
	struct str text;

	return TAKE(c, ",\"at\":\"") && take_bytes(c, INSTANT_TEXT, &text) &&
	       instant_parse(text, &s->at) && TAKE(c, "\"");
}

static bool
take_data(struct cursor *c, struct event_scan *s)
{
	const char *start;

	if (!TAKE(c, ",\"data\":"))
		return false;
	start = c->p;
	if (!TAKE(c, "{") || !skip_object(c))
		return false;
	s->data = (struct str){ start, (size_t)(c->p - start) };
	return true;
}

static bool
take_idempotency(struct cursor *c, struct event_scan *s)
{
	struct idempotency *i = &s->idempotency;

	*i = (struct idempotency){ 0 };
	if (!TAKE(c, ",\"idempotency\":"))
		return false;
	if (TAKE(c, "null"))
		return true;
	i->set = true;
	return TAKE(c, "{\"key_hmac\":") && take_digest(c, &i->key_hmac) &&
	       TAKE(c, ",\"request_hmac\":") &&
	       take_digest(c, &i->request_hmac) && TAKE(c, "}");
}

static bool
take_ledger(struct cursor *c, struct event_scan *s)
{
	return TAKE(c, ",\"ledger\":") && take_text(c, &s->ledger);
}

static bool
take_payload(struct cursor *c, struct payload_scan *p)
{
	return TAKE(c, "{\"media_type\":") && take_text(c, &p->media_type) &&
	       TAKE(c, ",\"name\":") && take_text(c, &p->name) &&
	       TAKE(c, ",\"sha256\":") && take_digest(c, &p->sha256) &&
	       TAKE(c, ",\"size\":") && take_number(c, &p->size) &&
	       TAKE(c, "}");
}

static bool
take_payloads(struct cursor *c, struct event_scan *s)
{
	s->n_payloads = 0;
	if (!TAKE(c, ",\"payloads\":["))
		return true;
	do {
		if (s->n_payloads == EVENT_PAYLOADS ||
		    !take_payload(c, &s->payloads[s->n_payloads++]))
			return false;
	} while (TAKE(c, ","));
	return TAKE(c, "]");
}

static bool
take_prev(struct cursor *c, struct event_scan *s)
{
	return TAKE(c, ",\"prev\":") && take_digest(c, &s->prev);
}

static bool
take_request(struct cursor *c, struct event_scan *s)
{
	s->request = (struct uid){ 0 };
	return TAKE(c, ",\"request\":") &&
	       (TAKE(c, "null") || take_uid(c, &s->request));
}

static bool
take_seq(struct cursor *c, struct event_scan *s)
{
	return TAKE(c, ",\"seq\":") && take_number(c, &s->seq);
}

static bool
take_subject(struct cursor *c, struct event_scan *s)
{
	return TAKE(c, ",\"subject\":{\"kind\":") &&
	       take_word(c, &s->subject_kind) && TAKE(c, ",\"uid\":") &&
	       take_uid(c, &s->subject) && TAKE(c, "}");
}

/* Words joined by dots, two at least. */
static bool
take_type(struct cursor *c, struct event_scan *s)
{
	struct str rest;

	if (!TAKE(c, ",\"type\":") || !take_text(c, &s->type) ||
	    s->type.n > EVENT_TYPE_MAX || str_find(s->type, '.') == s->type.n)
		return false;
	for (rest = s->type; rest.p;)
		if (!is_word(str_take(&rest, '.')))
			return false;
	return true;
}

static bool
take_own_uid(struct cursor *c, struct event_scan *s)
{
	return TAKE(c, ",\"uid\":") && take_uid(c, &s->uid) &&
	       s->uid.b[6] >> 4 == 7 && s->uid.b[8] >> 6 == 2;
}

static bool
take_version(struct cursor *c, struct event_scan *s)
{
	(void)s;
	return TAKE(c, ",\"v\":1}") && c->p == c->end;
}

static const struct {
	const char *member;
	bool (*take)(struct cursor *, struct event_scan *);
} members[] = {
	{ "actor", take_actor },
	{ "at", take_at },
	{ "data", take_data },
	{ "idempotency", take_idempotency },
	{ "ledger", take_ledger },
	{ "payloads", take_payloads },
	{ "prev", take_prev },
	{ "request", take_request },
	{ "seq", take_seq },
	{ "subject", take_subject },
	{ "type", take_type },
	{ "uid", take_own_uid },
	{ "v", take_version },
};

int
event_scan(struct str bytes, struct event_scan *s, struct err *e)
{
	struct cursor c = { bytes.p, bytes.p + bytes.n };

	for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
		if (!members[i].take(&c, s))
			return err_set(e, &err_corrupt,
			    "an unknown member, or %s missing or malformed",
			    members[i].member);
	return 0;
}
