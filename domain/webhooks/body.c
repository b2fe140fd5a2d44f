#include "domain/webhooks/body.h"

#include "domain/webhooks/group.h"
#include "ledger/codec/canon.h"

#define BODY_MAX 20000

static struct json *
text(struct arena *a, const char *s)
{
	return json_string(a, arena_str(a, str_from(s)));
}

/* Where the record itself is read; null where it has no page of its own. */
static struct json *
self_url(struct arena *a, const struct webhook_message *m, const char *subject)
{
	const struct webhook_name *name = webhook_name_find(m->event);

	if (!name || !name->path)
		return json_null(a);
	return json_string(a, arena_strf(a, "%.*s%s%s", STR_ARGS(m->base_url),
				  name->path, subject));
}

static int
add_detail(struct arena *a, struct json *data, struct str detail, struct err *e)
{
	struct json *v;

	if (!detail.p)
		return 0;
	if (json_parse(a, detail, &json_limits_default, &v, e))
		return -1;
	for (const struct json *m = v->first; m; m = m->next)
		json_put(data, arena_cstr(a, m->name), json_copy(a, m));
	return 0;
}

int
webhook_body(struct arena *a, const struct webhook_message *m, struct str *out,
    struct err *e)
{
	struct json *body = json_object(a), *data = json_object(a);
	char hash[DIGEST_HEX + 1], subject[UID_TEXT + 1], at[INSTANT_TEXT + 1];

	digest_hex(m->event_hash, hash);
	uid_format(m->subject, subject);
	instant_format(m->at, at);
	json_put_str(a, body, "type", m->event);
	json_put(body, "timestamp", text(a, at));
	json_put(body, "data", data);
	json_put(data, "uid", text(a, subject));
	json_put(data, "url", self_url(a, m, subject));
	json_put_str(a, data, "ledger", m->ledger);
	json_put_int(a, data, "seq", m->seq);
	json_put(data, "event_hash", text(a, hash));
	if (add_detail(a, data, m->detail, e) || canon_str(a, body, out, e))
		return -1;
	if (out->n > BODY_MAX)
		return err_set(e, &err_too_large,
		    "a body of %zu bytes is more than %d", out->n, BODY_MAX);
	return 0;
}
