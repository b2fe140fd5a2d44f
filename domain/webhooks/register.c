/*
 * POST …/webhooks: an application registers an endpoint for its events. The
 * endpoint is screened and the keys are made before the turn; what screening
 * found is told in the decision, after a request that was answered before.
 */
#include <stdatomic.h>

#include "domain/outbound.h"
#include "domain/service.h"
#include "domain/webhooks/group.h"
#include "domain/webhooks/secret.h"
#include "domain/webhooks/send.h"
#include "domain/words.h"
#include "ledger/base/embed.h"

#define MOST 20 /* registrations of an application that are not revoked */

struct webhook_register {
	struct str url, description;
	struct str_list events;
};

struct webhook_new {
	int64_t id;
	struct uid uid;
	struct str url, description;
	struct str_list events;
	struct str status, secret, public_key;
	bool secret_shown;
	struct instant created_at;
};

/* clang-format off */
SHAPE(webhook_register, "An endpoint to register",
	FIELD(webhook_register, url, .required = true, .min = 1, .max = WEBHOOK_URL_MAX, .format = &format_text, .doc = "https URL that events are posted to"),
	FIELD(webhook_register, events, .min = 1, .max = 100, .values = webhook_values, .doc = "Names of the events it wants; all but ledger.checkpoint when not given"),
	FIELD(webhook_register, description, .max = 280, .format = &format_text, .doc = "What it is for"));
SHAPE(webhook_new, "A webhook that was registered",
	FIELD(webhook_new, id, .doc = "Number"),
	FIELD(webhook_new, uid, .required = true, .doc = "Identifier"),
	FIELD(webhook_new, url, .required = true, .doc = "Endpoint"),
	FIELD(webhook_new, description, .doc = "What it is for"),
	FIELD(webhook_new, events, .doc = "Names of the events it wants"),
	FIELD(webhook_new, status, .required = true, .doc = "active; pending_approval: nothing is delivered until an operator approves it"),
	FIELD(webhook_new, secret, .doc = "The secret of v1 signatures, shown this once"),
	FIELD(webhook_new, public_key, .required = true, .doc = "The public key of v1a signatures"),
	FIELD(webhook_new, secret_shown, .doc = "The secret was shown before and is not shown again"),
	FIELD(webhook_new, created_at, .required = true, .doc = "When"));
/* clang-format on */

EMBED(webhook_register_examples,
    "domain/webhooks/examples/agent_execution.webhook_register.json");

PREPARE(webhook_register, webhook_register)
WRITE_OPERATION(webhook_register, webhook_register, webhook_new,
    .id = "agent_execution.webhook_register", .method = "POST",
    .path = "/api/v2/agent-execution/webhooks",
    .examples = webhook_register_examples, .scope = "agent:execution:webhooks",
    .entitlement = "agents", .product = "Agents & MCP",
    .summary = "Register a webhook, its secret shown once",
    .prepare = webhook_register_prepare_any, .reply_is_pure = true,
    .emits = EMITS(&event_webhook_registered),
    .refusals = REFUSES(&err_unsafe_endpoint));

struct prepared {
	struct uid uid;
	struct webhook_keys keys;
	struct err unsafe;
};

static int
check_events(struct context *c, struct str_list names, struct err *e)
{
	for (size_t i = 0; i < names.n; i++)
		if (words_have(
			(struct str_list){ names.items, i }, names.items[i]))
			return err_add_field(e, c->arena, "pointer",
			    arena_printf(c->arena, "#/events/%zu", i),
			    "duplicate", "must be given once");
	return 0;
}

/* A name whose servers are silent holds a thread for seconds: of the front's
 * threads half are left for what else is asked. */
static int
screen_url(struct context *c, struct str url, struct err *unsafe, struct err *e)
{
	static _Atomic int64_t busy;
	int64_t most = service_config(c->service)->threads / 2 + 1;
	struct outbound_rules rules;
	struct screened screened;

	if (webhook_rules(c->service, c->arena, &rules, e))
		return -1;
	if (atomic_fetch_add(&busy, 1) >= most)
		err_set(e, &err_capacity,
		    "the names of as many endpoints as may be are being"
		    " resolved: try again in a few seconds");
	else
		outbound_screen_url(url, &rules, &screened, unsafe);
	atomic_fetch_sub(&busy, 1);
	return e->kind ? -1 : 0;
}

/* Of a name that its servers do not tell, too, nothing is known to be safe. */
static int
screen(struct context *c, struct str url, struct err *unsafe, struct err *e)
{
	struct err why = { 0 };

	if (screen_url(c, url, &why, e))
		return -1;
	if (!why.kind)
		return 0;
	if (why.kind != &err_invalid && why.kind != &err_unavailable)
		return err_set(e, why.kind, "%s", why.detail);
	err_set(unsafe, &err_unsafe_endpoint, "%s", why.detail);
	err_add_field(
	    unsafe, c->arena, "pointer", "#/url", "unsafe", "%s", why.detail);
	return 0;
}

static int
webhook_register_prepare(
    struct context *c, const struct webhook_register *in, struct err *e)
{
	struct prepared *prepared = ARENA_NEW(c->arena, struct prepared);
	uint8_t random[10];

	random_bytes(random, sizeof random);
	prepared->uid = uid_from(c->now, random);
	c->prepared = prepared;
	if (check_events(c, in->events, e) || webhook_key_check(c, e) ||
	    screen(c, in->url, &prepared->unsafe, e))
		return -1;
	return webhook_keys_make(c, prepared->uid, &prepared->keys, e);
}

static struct str_list
default_events(struct arena *a)
{
	struct str_list all = { 0 };
	struct str *items;
	size_t n = 0;

	while (webhook_names[n].text)
		n++;
	items = arena_array(a, n, sizeof *items);
	for (size_t i = 0; i < n; i++)
		if (webhook_names[i].by_default)
			items[all.n++] = str_from(webhook_names[i].text);
	all.items = items;
	return all;
}

static int
check_number(struct context *c, struct err *e)
{
	int64_t n;

	if (db_get_int(c->db, &n, 0, e,
		"SELECT count(*) FROM webhook WHERE application = ?"
		" AND status <> 'revoked'",
		"u", c->caller->application))
		return -1;
	if (n >= MOST)
		return err_set(e, &err_invalid,
		    "the application has %d webhooks: revoke one first", MOST);
	return 0;
}

static int
webhook_register_decide(
    struct context *c, const struct webhook_register *in, struct err *e)
{
	const struct prepared *prepared = c->prepared;
	bool waits = str_is(c->place->environment, "production");
	struct webhook_registered data = {
		.application = c->caller->application,
		.url = in->url,
		.base_url = service_config(c->service)->base_url,
		.description = in->description,
		.events = in->events.n ? in->events : default_events(c->arena),
		.status = waits ? STR("pending_approval") : STR("active"),
		.secret = prepared->keys.box,
		.public_key = prepared->keys.public_key,
	};

	if (prepared->unsafe.kind) {
		*e = prepared->unsafe;
		return -1;
	}
	if (check_number(c, e) ||
	    db_get_int(c->db, &data.id, 1, e,
		"SELECT coalesce(max(id), 0) + 1 FROM webhook", ""))
		return -1;
	c->secret = prepared->keys.secret;
	return context_emit(
	    c, &event_webhook_registered, "webhook", prepared->uid, &data, e);
}

static int
webhook_register_reply(struct context *c, const struct event *ev,
    struct webhook_new *out, struct err *e)
{
	struct webhook_registered data;

	if (context_event_data(c, ev, &event_webhook_registered, &data, e))
		return -1;
	*out = (struct webhook_new){
		.id = data.id,
		.uid = ev->subject,
		.url = data.url,
		.description = data.description,
		.events = data.events,
		.status = data.status,
		.secret = c->secret,
		.public_key = data.public_key,
		.secret_shown = !c->secret.p,
		.created_at = ev->at,
	};
	return 0;
}
