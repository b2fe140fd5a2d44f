#include "domain/content.h"

#include <string.h>

#include "ledger/base/log.h"

int
content_begin(struct context *c, struct content_key *key, struct uid *subject,
    struct err *e)
{
	uint8_t random[10];

	random_bytes(random, sizeof random);
	*subject = uid_from(c->now, random);
	if (content_key_make(c->ledger, key, e))
		return -1;
	c->content_key = key->uid;
	return 0;
}

void
content_end(struct content_key *key)
{
	explicit_bzero(key, sizeof *key);
}

/* Left behind it would open nothing, so the call's outcome stands. */
void
content_abandon(struct context *c)
{
	struct err e = { 0 };

	if (uid_is_none(c->content_key))
		return;
	if (content_key_destroy(c->ledger, c->content_key, &e))
		log_line(
		    LOG_WARN, "content", "an unused key stays: %s", e.detail);
	c->content_key = (struct uid){ 0 };
}

struct sealed_place
content_place(const struct context *c, struct uid subject, const char *member)
{
	return (
	    struct sealed_place){ ledger_origin(c->ledger), subject, member };
}

const struct sealed_text *
content_text(struct context *c, const struct content_key *key,
    struct uid subject, const char *member, struct str clear)
{
	struct sealed_place place = content_place(c, subject, member);

	if (!clear.p)
		return NULL;
	return sealed_text_make(c->arena, key, &place, clear);
}

/* The erasing event counts from when it is there, the key may go later. */
int
content_find(struct context *c, struct uid key, struct content_key *out,
    struct erasure *erasure, struct err *e)
{
	struct err why = { 0 };
	int erased = erasure_find(c->db, key, erasure, e);
	char text[UID_TEXT + 1];

	if (erased != 0)
		return erased < 0 ? -1 : 0;
	if (content_key_load(c->ledger, key, out, &why) == 0)
		return 1;
	uid_format(key, text);
	if (why.kind == &err_not_found)
		return err_set(e, &err_unavailable,
		    "the content key %s is not there: put the keys back from "
		    "their newest backup",
		    text);
	return err_set(e, why.kind, "%s", why.detail);
}

int
content_open(struct context *c, const struct content_key *key,
    struct uid subject, const char *member, struct str box, struct str *clear,
    struct err *e)
{
	struct sealed_place place = content_place(c, subject, member);

	return sealed_box_open(c->arena, key, &place, box, clear, e);
}

int
content_open_text(struct context *c, const struct content_key *key,
    struct uid subject, const struct sealed_text *sealed, const char *member,
    struct str *clear, struct err *e)
{
	struct sealed_place place = content_place(c, subject, member);

	*clear = STR_NONE;
	if (!sealed)
		return 0;
	return sealed_text_open(c->arena, key, &place, sealed, clear, e);
}

int
content_refuse(struct context *c, const struct erasure *by, struct err *e)
{
	struct json *more = json_object(c->arena);
	char at[INSTANT_TEXT + 1];

	instant_format(by->at, at);
	err_set(e, &err_erased, "event %llu erased it, at %s",
	    (unsigned long long)by->seq, at);
	json_put_int(c->arena, more, "erased_by_event", (int64_t)by->seq);
	json_put_str(
	    c->arena, more, "erased_at", arena_str(c->arena, str_from(at)));
	if (e && e->kind == &err_erased && !e->extension)
		e->extension = more;
	return -1;
}
