#include "domain/courier.h"

#include "domain/service.h"
#include "domain/webhooks/body.h"
#include "domain/webhooks/group.h"
#include "domain/webhooks/secret.h"
#include "domain/webhooks/send.h"

#define SECOND_US INT64_C(1000000)
/* A batch begins no request after this part of the lease. */
#define WINDOW_PARTS 3

/* What is due and whose turn it is: nothing earlier about the record waits for
 * a later attempt. */
#define NOT_BLOCKED                                                    \
	" AND NOT EXISTS (SELECT 1 FROM webhook_delivery x"            \
	" WHERE x.webhook_id = d.webhook_id AND x.subject = d.subject" \
	" AND x.status = 'queued' AND x.id < d.id AND x.next_at > ?1)"
/* Endpoints that asked to be left alone, by their answer to a delivery that
 * waits since: until then, or, who did not say until when, for a minute. One
 * look for all of them, along the index of what waits. */
#define HELD_BACK                                            \
	"SELECT h.webhook_id FROM webhook_delivery h"        \
	" INDEXED BY webhook_delivery_due"                   \
	" JOIN webhook_attempt x"                            \
	" ON x.delivery_id = h.id AND x.number = h.attempts" \
	" WHERE h.status = 'queued' AND h.next_at > ?1"      \
	" AND x.http_status IN (429, 502, 503, 504)"         \
	" AND (x.fault LIKE '%" WEBHOOK_TOLD_WHEN "%'"       \
	" OR (x.http_status = 429 AND x.at > ?1 - 60000000))"
#define DUE                                                     \
	"SELECT w.uid, w.ailing FROM webhook w"                 \
	" JOIN application a ON a.uid = w.application"          \
	" WHERE w.status = 'active' AND a.status = 'active'"    \
	" AND (w.lease_until IS NULL OR w.lease_until <= ?1)"   \
	" AND w.id IN (SELECT webhook_id FROM webhook_delivery" \
	" WHERE status = 'queued' AND next_at <= ?1)"           \
	" AND EXISTS (SELECT 1 FROM webhook_delivery d"         \
	" WHERE d.webhook_id = w.id AND d.status = 'queued'"    \
	" AND d.next_at <= ?1" NOT_BLOCKED ")"                  \
	" AND w.id NOT IN (" HELD_BACK ")"                      \
	" ORDER BY w.ailing, coalesce(w.served_at, 0), w.id"

struct wanted {
	size_t most, most_ailing;
	struct errand *errands;
	size_t n;
};

static int
find_due(struct context *c, struct wanted *wanted, struct err *e)
{
	size_t ailing = 0;
	struct rows r;
	int found = 0;

	wanted->n = 0;
	if (db_query(c->db, &r, e, DUE, "t", c->now))
		return -1;
	while (wanted->n < wanted->most && (found = rows_next(&r, e)) == 1) {
		struct errand errand = { .webhook = rows_uid(&r, 0),
			.ailing = rows_bool(&r, 1) };

		if (errand.ailing && ++ailing > wanted->most_ailing)
			break;
		wanted->errands[wanted->n++] = errand;
	}
	return rows_end(&r, e) || found < 0 ? -1 : 0;
}

static int
decide_claim(struct context *c, void *arg, struct err *e)
{
	struct webhook_claimed data = {
		.worker = c->caller->operator_name,
		.lease_until = { c->now.us + service_config(c->service)
						     ->webhook_lease_seconds *
						 SECOND_US },
	};
	struct wanted *wanted = arg;

	if (find_due(c, wanted, e))
		return -1;
	for (size_t i = 0; i < wanted->n; i++)
		if (context_emit(c, &event_webhook_claimed, "webhook",
			wanted->errands[i].webhook, &data, e))
			return -1;
	return 0;
}

/* Most of the time there is nothing, and finding that out needs no turn. */
static int
look(const struct worker *w, struct arena *a, struct wanted *wanted,
    struct err *e)
{
	struct caller caller = worker_caller(w);
	struct context c = worker_context(w, &caller, a);
	struct reading reading;
	int failed;

	if (ledger_read_begin(w->ledger, &reading, e))
		return -1;
	c.db = reading.db;
	failed = find_due(&c, wanted, e);
	ledger_read_end(&reading);
	return failed;
}

/* Who cannot sign takes nothing. */
static int
check_key(const struct worker *w, struct arena *a, struct err *e)
{
	struct caller caller = worker_caller(w);
	struct context c = worker_context(w, &caller, a);
	struct webhook_vault vault;

	if (webhook_vault_open(&c, &vault, e))
		return -1;
	webhook_vault_close(&vault);
	return 0;
}

int
courier_claim(const struct courier *courier, struct arena *a, size_t most,
    size_t most_ailing, struct errand *errands, size_t *n, struct err *e)
{
	struct wanted wanted = { most, most_ailing, errands, 0 };
	struct worker_decision d = { .decide = decide_claim, .arg = &wanted };
	struct receipt receipt = { 0 };

	*n = 0;
	if (look(courier->worker, a, &wanted, e))
		return -1;
	if (wanted.n == 0)
		return 0;
	if (check_key(courier->worker, a, e) ||
	    worker_submit(courier->worker, a, &d, &receipt, e))
		return -1;
	for (size_t i = 0; i < receipt.n; i++)
		errands[i].claim = receipt.events[i].seq;
	*n = receipt.n;
	return 0;
}

/* A batch of deliveries on its way. */
struct bag {
	const struct courier *courier;
	struct context *c;
	struct uid webhook;
	struct str url, base_url;
	struct str boxes[2];
	struct webhook_secret secrets[2];
	size_t n_boxes, n_secrets;
	struct uid *uids; /* of the deliveries */
	struct webhook_message *messages;
	size_t n;
	struct sent *sent;
	size_t n_sent;
};

/* 1, or 0 when the endpoint is not this errand's any more. */
static int
load_webhook(struct bag *b, const struct errand *errand, struct err *e)
{
	struct arena *a = b->c->arena;
	struct rows r;
	int found;

	if (db_query(b->c->db, &r, e,
		"SELECT url, base_url, secret, previous_secret,"
		" previous_until > ? FROM webhook"
		" WHERE uid = ? AND claim = ? AND status = 'active'",
		"tui", b->c->now, errand->webhook, (int64_t)errand->claim))
		return -1;
	found = rows_next(&r, e);
	if (found == 1) {
		b->url = rows_str(&r, 0, a);
		b->base_url = rows_str(&r, 1, a);
		b->boxes[b->n_boxes++] = rows_str(&r, 2, a);
		if (rows_bool(&r, 4))
			b->boxes[b->n_boxes++] = rows_str(&r, 3, a);
	}
	return rows_end(&r, e) ? -1 : found;
}

static int
load_messages(struct bag *b, struct err *e)
{
	struct arena *a = b->c->arena;
	struct rows r;

	if (db_query(b->c->db, &r, e,
		"SELECT d.uid, d.event, d.at, d.seq, d.event_hash, d.subject,"
		" d.detail FROM webhook_delivery d WHERE d.webhook_id ="
		" (SELECT id FROM webhook WHERE uid = ?2)"
		" AND d.status = 'queued' AND d.next_at <= ?1" NOT_BLOCKED
		" ORDER BY d.id LIMIT ?3",
		"tui", b->c->now, b->webhook, (int64_t)WEBHOOK_BATCH))
		return -1;
	while (b->n < WEBHOOK_BATCH && rows_next(&r, e) == 1) {
		b->uids[b->n] = rows_uid(&r, 0);
		b->messages[b->n++] = (struct webhook_message){
			.event = rows_str(&r, 1, a),
			.at = rows_instant(&r, 2),
			.ledger = ledger_origin(b->c->ledger),
			.seq = rows_int(&r, 3),
			.event_hash = rows_digest(&r, 4),
			.subject = rows_uid(&r, 5),
			.base_url = b->base_url,
			.detail = rows_str(&r, 6, a),
		};
	}
	return rows_end(&r, e);
}

static int
load(struct bag *b, const struct errand *errand, struct err *e)
{
	struct reading reading;
	int found;

	b->uids = arena_array(b->c->arena, WEBHOOK_BATCH, sizeof *b->uids);
	b->messages =
	    arena_array(b->c->arena, WEBHOOK_BATCH, sizeof *b->messages);
	b->sent = arena_array(b->c->arena, WEBHOOK_BATCH, sizeof *b->sent);
	if (ledger_read_begin(b->c->ledger, &reading, e))
		return -1;
	b->c->db = reading.db;
	found = load_webhook(b, errand, e);
	if (found == 1 && load_messages(b, e))
		found = -1;
	b->c->db = NULL;
	ledger_read_end(&reading);
	return found < 0 ? -1 : 0;
}

static int
open_secrets(struct bag *b, struct err *e)
{
	struct webhook_vault vault;

	if (webhook_vault_open(b->c, &vault, e))
		return -1;
	for (size_t i = 0; i < b->n_boxes; i++)
		if (webhook_box_open(&vault, ledger_origin(b->c->ledger),
			b->webhook, b->boxes[i], &b->secrets[b->n_secrets]))
			b->n_secrets++;
	webhook_vault_close(&vault);
	return 0;
}

static void
wipe(struct bag *b)
{
	for (size_t i = 0; i < 2; i++)
		webhook_secret_wipe(&b->secrets[i]);
}

static int
send(struct bag *b, const struct courier_parcel *parcel,
    struct outbound_reply *reply, struct err *e)
{
	const struct courier *courier = b->courier;

	return courier->send
		   ? courier->send(courier->arg, parcel, b->c->arena, reply, e)
		   : webhook_post(b->c->service, parcel, b->c->arena, reply, e);
}

static int
attempt(struct bag *b, size_t i, struct sent *out, struct outbound_reply *reply,
    struct err *e)
{
	struct arena *a = b->c->arena;
	struct courier_parcel parcel = { .url = b->url };
	int64_t unix_s = out->at.us / SECOND_US;
	char uid[UID_TEXT + 1];

	if (b->n_secrets == 0)
		return err_set(e, &err_unavailable,
		    "the webhook's secret cannot be read with webhooks.key: "
		    "put that back, or rotate the secret");
	if (webhook_body(a, &b->messages[i], &parcel.body, e))
		return -1;
	uid_format(b->uids[i], uid);
	parcel.id = arena_strf(a, "msg_%s", uid);
	parcel.timestamp = arena_strf(a, "%lld", (long long)unix_s);
	parcel.signature = webhook_sign(
	    a, b->secrets, b->n_secrets, parcel.id, unix_s, parcel.body);
	return send(b, &parcel, reply, e);
}

static int64_t
now_us(const struct bag *b)
{
	return service_now(b->c->service).us;
}

static const struct sent *
deliver_one(struct bag *b, size_t i)
{
	struct sent *out = &b->sent[b->n_sent++];
	struct outbound_reply reply = { 0 };
	struct err fault = { 0 };

	*out = (struct sent){ .delivery = b->uids[i], .at = { now_us(b) } };
	if (attempt(b, i, out, &reply, &fault) && reply.duration_ms == 0)
		reply.duration_ms = (now_us(b) - out->at.us) / 1000;
	if (reply.duration_ms < 0)
		reply.duration_ms = 0;
	webhook_judge(b->c->arena, &reply, &fault, out);
	return out;
}

/* Whether an earlier one about the same record failed in this batch. */
static bool
is_blocked(const struct uid *failed, size_t n, struct uid subject)
{
	for (size_t i = 0; i < n; i++)
		if (uid_eq(failed[i], subject))
			return true;
	return false;
}

static void
deliver(struct bag *b)
{
	const struct service *s = b->c->service;
	int64_t end_us = now_us(b) + service_config(s)->webhook_lease_seconds *
					 SECOND_US / WINDOW_PARTS;
	struct uid failed[WEBHOOK_BATCH];
	size_t n_failed = 0;

	for (size_t i = 0; i < b->n && !service_is_stopping(s); i++) {
		struct uid subject = b->messages[i].subject;
		const struct sent *sent;

		if (is_blocked(failed, n_failed, subject))
			continue;
		sent = deliver_one(b, i);
		if (sent->fault.p)
			failed[n_failed++] = subject;
		if (webhook_is_gone(sent) || webhook_holds_back(sent) ||
		    now_us(b) > end_us)
			return;
	}
}

int
courier_run(const struct courier *courier, struct arena *a,
    const struct errand *errand, struct err *e)
{
	struct caller caller = worker_caller(courier->worker);
	struct context c = worker_context(courier->worker, &caller, a);
	struct bag b = {
		.courier = courier, .c = &c, .webhook = errand->webhook
	};
	int failed = load(&b, errand, e) || open_secrets(&b, e);

	if (!failed) {
		deliver(&b);
		failed = webhook_record(
		    courier->worker, a, errand, b.sent, b.n_sent, e);
	}
	wipe(&b);
	return failed ? -1 : 0;
}

int
courier_run_all(const struct courier *courier, struct arena *a, struct err *e)
{
	struct errand errand;
	size_t n;

	for (;;) {
		if (courier_claim(courier, a, 1, 1, &errand, &n, e))
			return -1;
		if (n == 0)
			return 0;
		if (courier_run(courier, a, &errand, e))
			return -1;
		arena_reset(a);
	}
}
