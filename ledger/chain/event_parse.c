#include <string.h>

#include "ledger/chain/event.h"
#include "ledger/chain/event_scan.h"
#include "ledger/codec/canon.h"

static const struct json_limits limits = { EVENT_MAX, 64, EVENT_MAX };

/* A scanned string without its escapes. The bytes are canonical, so the quotes
 * stand on both sides of it. */
static int
unescape(struct arena *a, struct str *s, struct err *e)
{
	struct json *v;

	if (!s->p || !memchr(s->p, '\\', s->n))
		return 0;
	if (json_parse(a, (struct str){ s->p - 1, s->n + 2 }, &limits, &v, e))
		return -1;
	*s = v->text;
	return 0;
}

static int
copy_actor(struct arena *a, struct actor *actor, struct err *e)
{
	return unescape(a, &actor->id, e) ||
		       unescape(a, &actor->credential, e) ||
		       unescape(a, &actor->signature_input, e) ||
		       unescape(a, &actor->signature, e) ||
		       unescape(a, &actor->content_digest, e)
		   ? -1
		   : 0;
}

static int
copy_payloads(struct arena *a, const struct event_scan *s, struct event *ev,
    struct err *e)
{
	struct payload *p = arena_array(a, s->n_payloads, sizeof *p);

	for (size_t i = 0; i < s->n_payloads; i++) {
		p[i].name = s->payloads[i].name;
		p[i].media_type = s->payloads[i].media_type;
		p[i].sha256 = s->payloads[i].sha256;
		p[i].size = s->payloads[i].size;
		if (unescape(a, &p[i].name, e) ||
		    unescape(a, &p[i].media_type, e))
			return -1;
	}
	ev->payloads = s->n_payloads ? p : NULL;
	ev->n_payloads = s->n_payloads;
	return 0;
}

static int
copy(struct arena *a, const struct event_scan *s, struct event *ev,
    struct err *e)
{
	struct json *data;

	if (json_parse(a, s->data, &limits, &data, e))
		return -1;
	ev->ledger = s->ledger;
	ev->seq = s->seq;
	ev->uid = s->uid;
	ev->at = s->at;
	ev->type = s->type;
	ev->subject_kind = s->subject_kind;
	ev->subject = s->subject;
	ev->actor = s->actor;
	ev->request = s->request;
	ev->idempotency = s->idempotency;
	ev->prev = s->prev;
	ev->data = data;
	if (unescape(a, &ev->ledger, e) || copy_actor(a, &ev->actor, e))
		return -1;
	return copy_payloads(a, s, ev, e);
}

int
event_parse(struct arena *a, struct str bytes, struct event *ev, struct err *e)
{
	struct err why = { 0 };
	struct event_scan scan;

	*ev = (struct event){ .bytes = bytes };
	if (bytes.n > EVENT_MAX)
		return err_set(e, &err_corrupt, "an event has at most %d bytes",
		    EVENT_MAX);
	if (canon_check_event(bytes, &why) || event_scan(bytes, &scan, &why) ||
	    copy(a, &scan, ev, &why))
		return err_set(e, &err_corrupt, "%s", why.detail);
	ev->hash = sha256(bytes);
	return 0;
}
