#include "ledger/chain/event.h"

#include <string.h>

#include "ledger/chain/event_scan.h"
#include "ledger/codec/canon.h"
#include "ledger/codec/text.h"

/*
 * Written member by member in canonical order: only data needs the canonical
 * writer. Every request that changes something waits for this.
 */

static bool
is_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < ' ' || s.p[i] > '~' || s.p[i] == '"' ||
		    s.p[i] == '\\')
			return false;
	return true;
}

static int
add_string(struct buf *b, struct str s, struct err *e)
{
	struct json node = { .type = JSON_STRING, .text = s };

	if (!s.p) {
		buf_add(b, STR("null"));
		return 0;
	}
	if (is_plain(s)) {
		buf_add_byte(b, '"');
		buf_add(b, s);
		buf_add_byte(b, '"');
		return 0;
	}
	if (!str_is_utf8(s) || memchr(s.p, '\0', s.n))
		return err_set(e, &err_internal,
		    "a string of an event is UTF-8 without U+0000");
	return canon_write(&node, b, e);
}

static void
add_digest(struct buf *b, struct digest d)
{
	char hex[DIGEST_HEX + 1];

	digest_hex(d, hex);
	buf_add_byte(b, '"');
	buf_add(b, (struct str){ hex, DIGEST_HEX });
	buf_add_byte(b, '"');
}

static void
add_uid(struct buf *b, struct uid uid)
{
	char text[UID_TEXT + 1];

	uid_format(uid, text);
	buf_add_byte(b, '"');
	buf_add(b, (struct str){ text, UID_TEXT });
	buf_add_byte(b, '"');
}

static void
add_number(struct buf *b, uint64_t v)
{
	char digits[20];
	size_t at = sizeof digits;

	do
		digits[--at] = (char)('0' + v % 10);
	while ((v /= 10) > 0);
	buf_add(b, (struct str){ digits + at, sizeof digits - at });
}

static int
add_actor(struct buf *b, const struct actor *a, struct err *e)
{
	buf_add(b, STR("{\"actor\":{"));
	if (a->content_digest.p) {
		buf_add(b, STR("\"content_digest\":"));
		if (add_string(b, a->content_digest, e))
			return -1;
		buf_add_byte(b, ',');
	}
	buf_add(b, STR("\"credential\":"));
	if (add_string(b, a->credential, e))
		return -1;
	buf_add(b, STR(",\"id\":"));
	if (add_string(b, a->id, e))
		return -1;
	buf_add(b, STR(",\"kind\":"));
	if (add_string(b, a->kind, e))
		return -1;
	if (a->signature.p) {
		buf_add(b, STR(",\"signature\":"));
		if (add_string(b, a->signature, e))
			return -1;
	}
	if (a->signature_input.p) {
		buf_add(b, STR(",\"signature_input\":"));
		if (add_string(b, a->signature_input, e))
			return -1;
	}
	buf_add_byte(b, '}');
	return 0;
}

static void
add_at(struct buf *b, struct instant at)
{
	char text[INSTANT_TEXT + 1];

	instant_format(at, text);
	buf_add(b, STR(",\"at\":\""));
	buf_add(b, (struct str){ text, INSTANT_TEXT });
	buf_add_byte(b, '"');
}

static int
add_data(struct arena *a, struct buf *b, const struct json *data, struct err *e)
{
	struct str canonical;

	if (!data || data->type != JSON_OBJECT)
		return err_set(
		    e, &err_internal, "an event's data is an object");
	if (canon_event(a, data, &canonical, e))
		return -1;
	buf_add(b, STR(",\"data\":"));
	buf_add(b, canonical);
	return 0;
}

static void
add_idempotency(struct buf *b, const struct idempotency *i)
{
	buf_add(b, STR(",\"idempotency\":"));
	if (!i->set) {
		buf_add(b, STR("null"));
		return;
	}
	buf_add(b, STR("{\"key_hmac\":"));
	add_digest(b, i->key_hmac);
	buf_add(b, STR(",\"request_hmac\":"));
	add_digest(b, i->request_hmac);
	buf_add_byte(b, '}');
}

static int
add_payload(struct buf *b, const struct payload *p, struct err *e)
{
	buf_add(b, STR("{\"media_type\":"));
	if (add_string(b, p->media_type, e))
		return -1;
	buf_add(b, STR(",\"name\":"));
	if (add_string(b, p->name, e))
		return -1;
	buf_add(b, STR(",\"sha256\":"));
	add_digest(b, p->sha256);
	buf_add(b, STR(",\"size\":"));
	add_number(b, p->size);
	buf_add_byte(b, '}');
	return 0;
}

static int
add_payloads(struct buf *b, const struct event *ev, struct err *e)
{
	if (ev->n_payloads == 0)
		return 0;
	buf_add(b, STR(",\"payloads\":["));
	for (size_t i = 0; i < ev->n_payloads; i++) {
		if (i > 0)
			buf_add_byte(b, ',');
		if (add_payload(b, &ev->payloads[i], e))
			return -1;
	}
	buf_add_byte(b, ']');
	return 0;
}

static int
add_tail(struct buf *b, const struct event *ev, struct err *e)
{
	buf_add(b, STR(",\"prev\":"));
	add_digest(b, ev->prev);
	buf_add(b, STR(",\"request\":"));
	if (uid_is_none(ev->request))
		buf_add(b, STR("null"));
	else
		add_uid(b, ev->request);
	buf_add(b, STR(",\"seq\":"));
	add_number(b, ev->seq);
	buf_add(b, STR(",\"subject\":{\"kind\":"));
	if (add_string(b, ev->subject_kind, e))
		return -1;
	buf_add(b, STR(",\"uid\":"));
	add_uid(b, ev->subject);
	buf_add(b, STR("},\"type\":"));
	if (add_string(b, ev->type, e))
		return -1;
	buf_add(b, STR(",\"uid\":"));
	add_uid(b, ev->uid);
	buf_add(b, STR(",\"v\":1}"));
	return 0;
}

static int
add_event(struct arena *a, struct buf *b, const struct event *ev, struct err *e)
{
	if (add_actor(b, &ev->actor, e))
		return -1;
	add_at(b, ev->at);
	if (add_data(a, b, ev->data, e))
		return -1;
	add_idempotency(b, &ev->idempotency);
	buf_add(b, STR(",\"ledger\":"));
	if (add_string(b, ev->ledger, e) || add_payloads(b, ev, e))
		return -1;
	return add_tail(b, ev, e);
}

/* What no reader would accept must never be signed. */
static int
check_own(struct str bytes, struct err *e)
{
	struct event_scan scan;
	struct err why = { 0 };

	if (canon_check_event(bytes, &why) || event_scan(bytes, &scan, &why))
		return err_set(
		    e, &err_internal, "the event is not valid: %s", why.detail);
	return 0;
}

int
event_seal(struct arena *a, struct event *ev, struct err *e)
{
	struct buf b;
	int rc = -1;

	buf_init(&b, EVENT_MAX);
	if (add_event(a, &b, ev, e))
		goto out;
	if (buf_failed(&b)) {
		err_set(e, &err_too_large, "an event has at most %d bytes",
		    EVENT_MAX);
		goto out;
	}
	if (check_own(buf_str(&b), e))
		goto out;
	ev->bytes = arena_str(a, buf_str(&b));
	ev->hash = sha256(ev->bytes);
	rc = 0;
out:
	buf_fini(&b);
	return rc;
}
