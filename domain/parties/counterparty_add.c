/*
 * counterparty add
 */
#include "domain/content.h"
#include "domain/parties/events.h"
#include "domain/parties/group.h"
#include "domain/parties/identifiers.h"
#include "domain/parties/records.h"

struct counterparty_add {
	struct str name, account, lei;
};

/* clang-format off */
SHAPE(counterparty_add, "A counterparty to add",
	FIELD(counterparty_add, name, .required = true, .min = 1, .max = 140, .format = &format_text, .doc = "Name"),
	FIELD(counterparty_add, account, .required = true, .min = 1, .max = 34, .format = &format_account, .doc = "IBAN or another account number"),
	FIELD(counterparty_add, lei, .max = 20, .format = &format_lei, .doc = "Legal entity identifier (ISO 17442)"));
/* clang-format on */

PREPARE(counterparty_add, counterparty_add)
WRITE_OPERATION(counterparty_add, counterparty_add, counterparty_record,
    .id = "counterparty.add", .command = "counterparty add",
    .product = "Financial Actions", .summary = "Add a counterparty",
    .prepare = counterparty_add_prepare_any, .refusals = REFUSES(&err_erased),
    .emits = EMITS(&event_counterparty_registered));

/* Its uid, and what the event will say but for the number. */
struct prepared {
	struct uid uid;
	struct counterparty_registered data;
};

static int
counterparty_add_prepare(
    struct context *c, const struct counterparty_add *in, struct err *e)
{
	struct prepared *p = ARENA_NEW(c->arena, struct prepared);
	struct content_key key;

	if (content_begin(c, &key, &p->uid, e))
		return -1;
	p->data.name = content_text(c, &key, p->uid, "name", in->name);
	p->data.account = content_text(c, &key, p->uid, "account", in->account);
	p->data.lei = in->lei;
	content_end(&key);
	c->prepared = p;
	return 0;
}

static int
counterparty_add_decide(
    struct context *c, const struct counterparty_add *in, struct err *e)
{
	struct prepared *p = c->prepared;

	(void)in;
	if (db_get_int(c->db, &p->data.id, 1, e,
		"SELECT coalesce(max(id), 0) + 1 FROM counterparty", ""))
		return -1;
	return context_emit(c, &event_counterparty_registered, "counterparty",
	    p->uid, &p->data, e);
}

/* A replay of a request from before name and account were encrypted. */
static int
reply_in_clear(struct context *c, const struct event *ev,
    struct counterparty_record *out, struct err *e)
{
	struct counterparty_added data;

	if (context_event_data(c, ev, &event_counterparty_added, &data, e))
		return -1;
	out->id = data.id;
	out->name = data.name;
	out->account = data.account;
	out->lei = data.lei;
	return 0;
}

static int
reply_decrypted(struct context *c, const struct event *ev,
    struct counterparty_record *out, struct err *e)
{
	struct counterparty_registered data;
	const struct sealed_text *name, *account;
	struct content_key key;
	struct erasure erasure;
	int found;

	if (context_event_data(c, ev, &event_counterparty_registered, &data, e))
		return -1;
	name = data.name;
	account = data.account;
	found = content_find(c, name->key, &key, &erasure, e);
	if (found == 0)
		return content_refuse(c, &erasure, e);
	if (found == 1 && (content_open_text(c, &key, ev->subject, name, "name",
			       &out->name, e) ||
			      content_open_text(c, &key, ev->subject, account,
				  "account", &out->account, e)))
		found = -1;
	content_end(&key);
	out->id = data.id;
	out->lei = data.lei;
	return found < 0 ? -1 : 0;
}

static int
counterparty_add_reply(struct context *c, const struct event *ev,
    struct counterparty_record *out, struct err *e)
{
	*out = (struct counterparty_record){
		.uid = ev->subject,
		.status = STR("active"),
		.created_at = ev->at,
	};
	if (str_is(ev->type, event_counterparty_added.name))
		return reply_in_clear(c, ev, out, e);
	return reply_decrypted(c, ev, out, e);
}
