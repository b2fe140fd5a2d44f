#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "domain/courier.h"
#include "domain/webhooks/group.h"
#include "domain/webhooks/send.h"
#include "tests/support/desk.h"

#define SECOND   INT64_C(1000000)
#define SCOPES   "[\"actions:create\",\"agent:execution:webhooks\"]"
#define PRODUCTS "[\"financial-actions\",\"agents\"]"
#define HOOK     "https://93.184.215.14/hook"

struct clock_ahead {
	struct clock base;
	int64_t us;
};

/* What the endpoints answer, and what they were sent. */
struct network {
	int status;        /* 0: no answer */
	const char *fails; /* or only to bodies that hold this */
	int64_t retry_after_s;
	size_t n;
	char *body, *id;
};

struct bench {
	struct desk desk;
	struct clock_ahead clock;
	struct caller app, other;
	const char *invoice;
	struct worker one, two;
	struct network net;
	struct courier courier;
};

static struct instant
put_forward(struct instant now, const struct clock *c)
{
	now.us += ((const struct clock_ahead *)(const void *)c)->us;
	return now;
}

static struct instant
wall(const struct clock *c)
{
	return put_forward(clock_system.wall(&clock_system), c);
}

static struct instant
steady(const struct clock *c)
{
	return put_forward(clock_system.steady(&clock_system), c);
}

static int
answer(void *arg, const struct courier_parcel *p, struct arena *a,
    struct outbound_reply *reply, struct err *e)
{
	struct network *net = arg;

	(void)a;
	net->n++;
	free(net->body);
	free(net->id);
	net->body = strndup(p->body.p, p->body.n);
	net->id = strndup(p->id.p, p->id.n);
	reply->status = net->status;
	reply->retry_after_s = net->retry_after_s;
	reply->duration_ms = 1;
	if (net->fails && !strstr(net->body, net->fails))
		reply->status = 204;
	if (reply->status == 0)
		return err_set(e, &err_unavailable, "nobody answers");
	return 0;
}

static void
hire(struct bench *b, struct worker *w, const char *name)
{
	struct err e = { 0 };

	*w = (struct worker){ .service = b->desk.service,
		.place = b->desk.place,
		.name = str_from(name) };
	if (service_acquire(b->desk.service, &b->desk.place, &w->ledger, &e))
		fail_msg("%s", e.detail);
}

static void
add_source(struct bench *b)
{
	struct desk *d = &b->desk;
	struct json *v;

	desk_do(d, "connector.add",
	    "{\"name\":\"Try\",\"kind\":\"sandbox\",\"modes\":[\"sandbox\"]}");
	desk_do(d, "counterparty.add",
	    "{\"name\":\"Lumber\",\"account\":\"DE89370400440532013000\"}");
	desk_do(d, "source_record.import",
	    "{\"format\":\"csv\",\"kind\":\"invoice\",\"file\":"
	    "\"reference,amount,currency,counterparty\\nI-1,1000.00,EUR,1\\n\"}");
	v = desk_do(d, "source_record.list", "{}");
	b->invoice =
	    arena_cstr(d->a, json_get_str(json_get(v, "data")->first, "uid"));
}

static int
set_up(void **state)
{
	struct bench *b = calloc(1, sizeof *b);

	desk_open(&b->desk, "sandbox");
	/* A ledger keeps the clock that it was opened with. */
	desk_rebuild(&b->desk);
	b->clock.base = (struct clock){ wall, steady };
	service_set_clock(b->desk.service, &b->clock.base);
	desk_application(&b->desk, "pay", SCOPES, PRODUCTS, &b->app);
	desk_application(&b->desk, "other", SCOPES, PRODUCTS, &b->other);
	add_source(b);
	hire(b, &b->one, "worker-one");
	hire(b, &b->two, "worker-two");
	b->net.status = 200;
	b->courier = (struct courier){ &b->one, answer, &b->net };
	*state = b;
	return 0;
}

static void
dismiss(struct bench *b)
{
	service_release(b->desk.service, b->one.ledger);
	service_release(b->desk.service, b->two.ledger);
}

static int
tear_down(void **state)
{
	struct bench *b = *state;

	dismiss(b);
	free(b->net.body);
	free(b->net.id);
	desk_close(&b->desk);
	free(b);
	return 0;
}

static struct json *
must(struct bench *b, const struct caller *who, const char *id,
    const char *input)
{
	struct reply reply;
	struct err e;

	if (desk_call(&b->desk, who, id, input, &reply, &e))
		fail_msg("%s: %s", id, e.detail);
	return reply.body;
}

static void
refused(struct bench *b, const struct caller *who, const char *id,
    const char *input, const struct err_kind *kind, const char *detail)
{
	struct reply reply;
	struct err e;

	if (desk_call(&b->desk, who, id, input, &reply, &e) == 0)
		fail_msg("%s %s: not refused", id, input);
	if (e.kind != kind)
		fail_msg("%s: %s %s", id, e.kind->slug, e.detail);
	if (!strstr(e.detail, detail))
		fail_msg("%s is not about %s", e.detail, detail);
}

/* Its uid, as text. */
static const char *
register_hook(struct bench *b, const struct caller *who, const char *events)
{
	struct json *v = must(b, who, "agent_execution.webhook_register",
	    arena_printf(b->desk.a, "{\"url\":\"" HOOK "\"%s%s}",
		events ? ",\"events\":" : "", events ? events : ""));

	return arena_cstr(b->desk.a, json_get_str(v, "uid"));
}

static const char *
uid_input(struct bench *b, const char *uid)
{
	return arena_printf(b->desk.a, "{\"uid\":\"%s\"}", uid);
}

static const char *
create_action(struct bench *b, const struct caller *who)
{
	struct json *v = must(b, who, "action.create_credit",
	    arena_printf(b->desk.a,
		"{\"action_key\":\"supplier-payment\",\"connector_id\":1,"
		"\"counterparty_id\":1,\"currency\":\"EUR\",\"amount\":\"1\","
		"\"execution_mode\":\"sandbox\",\"source_uid\":\"%s\"}",
		b->invoice));

	return arena_cstr(b->desk.a, json_get_str(v, "uid"));
}

static int
announce(struct context *c, void *arg, struct err *e)
{
	const struct str parts[] = { STR("a subject") };
	struct checkpoint_announced data = { *(const int64_t *)arg,
		STR("note") };

	return context_emit(c, &event_checkpoint_announced, "ledger",
	    webhook_uid_of(parts, 1), &data, e);
}

/* Events about one and the same subject. */
static void
announce_size(struct bench *b, int64_t size)
{
	struct worker_decision d = { .decide = announce, .arg = &size };
	struct receipt receipt;
	struct err e = { 0 };

	if (worker_submit(&b->one, b->desk.a, &d, &receipt, &e))
		fail_msg("%s", e.detail);
}

static struct json *
deliveries(struct bench *b)
{
	return json_get(
	    must(b, &b->desk.staff, "webhook.deliveries", "{}"), "data");
}

/* The n-th, from 0. */
static struct json *
delivery(struct bench *b, size_t n)
{
	struct json *v = deliveries(b)->first;

	while (n-- > 0)
		v = v->next;
	return v;
}

static void
expect_status(struct json *v, const char *status, size_t attempts)
{
	if (!str_is(json_get_str(v, "status"), status))
		fail_msg("status is %.*s, not %s",
		    STR_ARGS(json_get_str(v, "status")), status);
	assert_int_equal(json_get(v, "attempts")->n, attempts);
}

static void
run_all(struct bench *b)
{
	struct arena *a = arena_new();
	struct err e = { 0 };

	if (courier_run_all(&b->courier, a, &e))
		fail_msg("%s", e.detail);
	arena_free(a);
}

static void
test_registering(void **state)
{
	struct bench *b = *state;
	struct json *v = must(b, &b->app, "agent_execution.webhook_register",
	    "{\"url\":\"" HOOK "\",\"description\":\"Treasury\"}");

	assert_true(str_is(json_get_str(v, "status"), "active"));
	assert_true(str_has_prefix(json_get_str(v, "secret"), STR("whsec_")));
	assert_true(
	    str_has_prefix(json_get_str(v, "public_key"), STR("whpk_")));
	assert_int_equal(json_get_str(v, "secret").n, 50);
	assert_int_equal(json_get(v, "events")->n, 15);
	assert_true(json_get(v, "secret_shown")->type == JSON_FALSE);
	v = must(b, &b->app, "agent_execution.webhooks", "{}");
	assert_int_equal(json_get(v, "data")->n, 1);
	assert_null(json_get(json_get(v, "data")->first, "secret"));
	v = must(b, &b->other, "agent_execution.webhooks", "{}");
	assert_int_equal(json_get(v, "data")->n, 0);
	v = must(b, &b->desk.staff, "agent_execution.webhooks", "{}");
	assert_int_equal(json_get(v, "data")->n, 1);
}

static void
test_unsafe_urls(void **state)
{
	static const char *const urls[] = { "http://93.184.215.14/",
		"https://127.0.0.1/", "https://169.254.169.254/latest",
		"https://user@93.184.215.14/", "https://93.184.215.14:22/" };
	struct bench *b = *state;

	for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++)
		refused(b, &b->app, "agent_execution.webhook_register",
		    arena_printf(b->desk.a, "{\"url\":\"%s\"}", urls[i]),
		    &err_unsafe_endpoint, "");
	refused(b, &b->app, "agent_execution.webhook_register",
	    "{\"url\":\"" HOOK "\",\"events\":[\"nothing\"]}", &err_invalid,
	    "events");
	refused(b, &b->app, "agent_execution.webhook_register",
	    "{\"url\":\"" HOOK "\",\"events\":[\"workflow.failed\","
	    "\"workflow.failed\"]}",
	    &err_invalid, "once");
	assert_int_equal(deliveries(b)->n, 0);
}

static void
test_most(void **state)
{
	struct bench *b = *state;
	const char *first = register_hook(b, &b->app, NULL);

	for (int i = 1; i < 20; i++)
		register_hook(b, &b->app, NULL);
	refused(b, &b->app, "agent_execution.webhook_register",
	    "{\"url\":\"" HOOK "\"}", &err_invalid, "revoke one");
	must(b, &b->app, "agent_execution.webhook_revoke", uid_input(b, first));
	register_hook(b, &b->app, NULL);
}

/* One of another application is as one that does not exist. */
static void
test_foreign_webhook(void **state)
{
	struct bench *b = *state;
	const char *uid = register_hook(b, &b->app, NULL);
	const char *none = "01930a3e-7c00-7000-8000-0000000000a1";

	refused(b, &b->other, "agent_execution.webhook_revoke",
	    uid_input(b, uid), &err_not_found, "there is no such webhook");
	refused(b, &b->other, "agent_execution.webhook_revoke",
	    uid_input(b, none), &err_not_found, "there is no such webhook");
	must(b, &b->app, "agent_execution.webhook_revoke", uid_input(b, uid));
	refused(b, &b->app, "agent_execution.webhook_revoke", uid_input(b, uid),
	    &err_conflict, "revoked");
	refused(b, &b->desk.staff, "webhook.approve", uid_input(b, uid),
	    &err_conflict, "revoked");
	refused(b, &b->desk.staff, "webhook.rotate_secret", uid_input(b, uid),
	    &err_conflict, "revoked");
}

/* Who wants what: an application's own events, by name. */
static void
test_deliveries_are_those_wanted(void **state)
{
	struct bench *b = *state;

	create_action(b, &b->app); /* before anybody registered */
	register_hook(b, &b->app, NULL);
	register_hook(b, &b->app, "[\"financial_action.created\"]");
	register_hook(b, &b->app, "[\"financial_action.failed\"]");
	register_hook(b, &b->other, NULL);
	create_action(b, &b->app);
	assert_int_equal(deliveries(b)->n, 2);
	announce_size(b, 3); /* nobody named it */
	assert_int_equal(deliveries(b)->n, 2);
	register_hook(b, &b->other, "[\"ledger.checkpoint\"]");
	announce_size(b, 4);
	assert_int_equal(deliveries(b)->n, 3);
}

static void
test_delivered_once(void **state)
{
	struct bench *b = *state;
	const char *uid, *msg;
	struct json *v;

	register_hook(b, &b->app, NULL);
	uid = create_action(b, &b->app);
	run_all(b);
	run_all(b);
	assert_int_equal(b->net.n, 1);
	assert_non_null(strstr(b->net.body, uid));
	v = delivery(b, 0);
	expect_status(v, "delivered", 1);
	msg = arena_printf(
	    b->desk.a, "msg_%.*s", STR_ARGS(json_get_str(v, "uid")));
	assert_string_equal(b->net.id, msg);
}

/* After ten attempts a dead letter; every attempt is the same bytes. */
static void
test_schedule_and_dead_letter(void **state)
{
	struct bench *b = *state;
	const char *uid = register_hook(b, &b->app, NULL);
	char *body = NULL, *id = NULL;

	create_action(b, &b->app);
	b->net.status = 500;
	for (size_t i = 1; i <= 10; i++) {
		run_all(b);
		assert_int_equal(b->net.n, i);
		expect_status(delivery(b, 0), i < 10 ? "queued" : "dead", i);
		if (body) {
			assert_string_equal(b->net.body, body);
			assert_string_equal(b->net.id, id);
		} else {
			body = strdup(b->net.body);
			id = strdup(b->net.id);
		}
		b->clock.us += 27 * 3600 * SECOND;
	}
	run_all(b);
	assert_int_equal(b->net.n, 10);
	b->net.status = 200;
	must(b, &b->desk.staff, "webhook.replay",
	    arena_printf(b->desk.a, "{\"webhook\":\"%s\"}", uid));
	run_all(b);
	expect_status(delivery(b, 0), "delivered", 11);
	assert_string_equal(b->net.body, body);
	refused(b, &b->desk.staff, "webhook.replay",
	    arena_printf(b->desk.a, "{\"webhook\":\"%s\"}", uid), &err_conflict,
	    "no dead letter");
	free(body);
	free(id);
}

static void
test_first_wait(void **state)
{
	struct bench *b = *state;

	register_hook(b, &b->app, NULL);
	create_action(b, &b->app);
	b->net.status = 503;
	b->net.retry_after_s = 60;
	run_all(b);
	b->clock.us += 50 * SECOND;
	run_all(b);
	assert_int_equal(b->net.n, 1);
	b->clock.us += 20 * SECOND;
	run_all(b);
	assert_int_equal(b->net.n, 2);
}

/* After 429, or 503 and the like with Retry-After, nothing at all goes to the
 * endpoint until then, whichever worker looks. */
static void
expect_held_back(struct bench *b, int status, int64_t retry_after_s)
{
	struct courier other = { &b->two, answer, &b->net };
	struct errand errand;
	struct err e = { 0 };
	size_t before = b->net.n, n;

	b->net.status = status;
	b->net.retry_after_s = retry_after_s;
	run_all(b);
	assert_int_equal(b->net.n, before + 1);
	assert_int_equal(
	    courier_claim(&other, b->desk.a, 1, 1, &errand, &n, &e), 0);
	assert_int_equal(n, 0);
	b->clock.us += 4 * SECOND;
	create_action(b, &b->app);
	run_all(b);
	assert_int_equal(b->net.n, before + 1);
}

static void
test_endpoint_is_held_back(void **state)
{
	struct bench *b = *state;

	register_hook(b, &b->app, NULL);
	for (int i = 0; i < 6; i++)
		create_action(b, &b->app);
	expect_held_back(b, 429, 60);
	b->clock.us += 60 * SECOND;
	expect_held_back(b, 503, 600);
	b->clock.us += 600 * SECOND;
	b->net.status = 200;
	run_all(b);
	assert_int_equal(b->net.n, 2 + 8);
}

/* Without Retry-After for as long as the delivery itself waits: after the
 * second attempt five minutes. */
static void
test_held_back_as_usual(void **state)
{
	struct bench *b = *state;
	size_t before;

	register_hook(b, &b->app, NULL);
	create_action(b, &b->app);
	create_action(b, &b->app);
	b->net.status = 429;
	run_all(b);
	b->clock.us += 6 * SECOND;
	expect_held_back(b, 429, 0);
	/* It did not say until when: others need not wait as long as that one.
	 */
	b->clock.us += 61 * SECOND;
	b->net.status = 200;
	before = b->net.n;
	run_all(b);
	assert_int_equal(b->net.n, before + 2);
	b->clock.us += 400 * SECOND;
	run_all(b);
	assert_int_equal(b->net.n, before + 3);
}

/* The next event about a record waits; events about others do not. */
static void
test_order_of_a_subject(void **state)
{
	struct bench *b = *state;

	register_hook(
	    b, &b->app, "[\"ledger.checkpoint\",\"financial_action.created\"]");
	announce_size(b, 1);
	announce_size(b, 2);
	create_action(b, &b->app);
	b->net.status = 500;
	b->net.fails = "\"size\":1";
	run_all(b);
	expect_status(delivery(b, 0), "queued", 1);
	expect_status(delivery(b, 1), "queued", 0);
	expect_status(delivery(b, 2), "delivered", 1);
	b->net.status = 200;
	b->clock.us += 10 * SECOND;
	run_all(b);
	assert_non_null(strstr(b->net.body, "\"size\":2"));
	expect_status(delivery(b, 0), "delivered", 2);
	expect_status(delivery(b, 1), "delivered", 1);
}

static size_t
claim(struct bench *b, const struct worker *w, struct errand *errand)
{
	struct courier courier = { w, answer, &b->net };
	struct err e = { 0 };
	size_t n;

	if (courier_claim(&courier, b->desk.a, 1, 1, errand, &n, &e))
		fail_msg("%s", e.detail);
	return n;
}

static void
run_errand(struct bench *b, const struct worker *w, const struct errand *errand)
{
	struct courier courier = { w, answer, &b->net };
	struct err e = { 0 };

	if (courier_run(&courier, b->desk.a, errand, &e))
		fail_msg("%s", e.detail);
}

/* An endpoint is one worker's until it gives it back or its lease ends; who
 * comes back after that sends nothing. */
static void
test_lease(void **state)
{
	struct bench *b = *state;
	struct errand lost, found;

	register_hook(b, &b->app, NULL);
	create_action(b, &b->app);
	assert_int_equal(claim(b, &b->one, &lost), 1);
	assert_int_equal(claim(b, &b->two, &found), 0);
	b->clock.us += 61 * SECOND;
	assert_int_equal(claim(b, &b->two, &found), 1);
	run_errand(b, &b->one, &lost);
	assert_int_equal(b->net.n, 0);
	assert_int_equal(claim(b, &b->one, &lost), 0);
	run_errand(b, &b->two, &found);
	expect_status(delivery(b, 0), "delivered", 1);
	assert_int_equal(claim(b, &b->one, &lost), 0);
}

/* What a worker sent before it lost the endpoint is recorded, and cannot undo
 * what came of it meanwhile. */
static void
test_late_attempt(void **state)
{
	struct bench *b = *state;
	struct errand errand = { 0 };
	struct sent sent = { .at = { 1000000 }, .fault = STR("too late") };
	struct err e = { 0 };

	assert_true(uid_parse(
	    str_from(register_hook(b, &b->app, NULL)), &errand.webhook));
	create_action(b, &b->app);
	run_all(b);
	assert_true(
	    uid_parse(json_get_str(delivery(b, 0), "uid"), &sent.delivery));
	assert_int_equal(
	    webhook_record(&b->one, b->desk.a, &errand, &sent, 1, &e), 0);
	expect_status(delivery(b, 0), "delivered", 2);
	assert_true(str_is(
	    json_get_str(json_get(delivery(b, 0), "attempts")->last, "outcome"),
	    "late"));
}

static void
test_gone(void **state)
{
	struct bench *b = *state;
	const char *uid = register_hook(b, &b->app, NULL);
	struct json *v;

	create_action(b, &b->app);
	create_action(b, &b->app);
	b->net.status = 410;
	run_all(b);
	assert_int_equal(b->net.n, 1);
	v = must(b, &b->app, "agent_execution.webhooks", "{}");
	assert_true(str_is(
	    json_get_str(json_get(v, "data")->first, "status"), "disabled"));
	create_action(b, &b->app);
	v = must(b, &b->desk.staff, "webhook.dead_letters", "{}");
	assert_int_equal(json_get(v, "data")->n, 2);
	refused(b, &b->desk.staff, "webhook.replay",
	    arena_printf(b->desk.a, "{\"webhook\":\"%s\"}", uid), &err_conflict,
	    "disabled: webhook approve");
	must(b, &b->desk.staff, "webhook.approve", uid_input(b, uid));
	b->net.status = 200;
	must(b, &b->desk.staff, "webhook.replay",
	    arena_printf(b->desk.a, "{\"webhook\":\"%s\"}", uid));
	create_action(b, &b->app);
	run_all(b);
	assert_int_equal(b->net.n, 4);
}

static void
test_suspended_application_waits(void **state)
{
	struct bench *b = *state;
	char uid[UID_TEXT + 1];

	register_hook(b, &b->app, NULL);
	create_action(b, &b->app);
	uid_format(b->app.application, uid);
	desk_do(&b->desk, "application.suspend", uid_input(b, uid));
	run_all(b);
	assert_int_equal(b->net.n, 0);
	desk_do(&b->desk, "application.resume", uid_input(b, uid));
	run_all(b);
	assert_int_equal(b->net.n, 1);
}

/* Ailing endpoints get no more than their part. */
static void
test_ailing_come_last(void **state)
{
	struct bench *b = *state;
	struct errand errands[4];
	struct err e = { 0 };
	size_t n;

	register_hook(b, &b->app, NULL);
	register_hook(b, &b->other, NULL);
	create_action(b, &b->app);
	b->net.status = 0;
	run_all(b);
	create_action(b, &b->app);
	create_action(b, &b->other);
	b->clock.us += 10 * SECOND;
	assert_int_equal(
	    courier_claim(&b->courier, b->desk.a, 4, 0, errands, &n, &e), 0);
	assert_int_equal(n, 1);
	assert_false(errands[0].ailing);
	assert_int_equal(
	    courier_claim(&b->courier, b->desk.a, 4, 1, errands, &n, &e), 0);
	assert_int_equal(n, 1);
	assert_true(errands[0].ailing);
}

/* An operator with an application: as a credential of production would be. */
static void
test_production_waits_for_approval(void **state)
{
	struct caller app = { .kind = CALLER_OPERATOR,
		.operator_name = STR("somebody") };
	struct json *v;
	struct bench b = { 0 };
	const char *uid;

	(void)state;
	desk_open(&b.desk, "production");
	app.place = b.desk.place;
	v = desk_do(&b.desk, "application.create",
	    "{\"name\":\"pay\",\"responsible\":\"A. Person\","
	    "\"scopes\":" SCOPES ",\"entitlements\":" PRODUCTS "}");
	assert_true(uid_parse(json_get_str(v, "uid"), &app.application));
	v = must(&b, &app, "agent_execution.webhook_register",
	    "{\"url\":\"" HOOK "\",\"events\":[\"ledger.checkpoint\"]}");
	assert_true(str_is(json_get_str(v, "status"), "pending_approval"));
	uid = arena_cstr(b.desk.a, json_get_str(v, "uid"));
	hire(&b, &b.one, "worker-one");
	announce_size(&b, 1);
	assert_int_equal(deliveries(&b)->n, 0);
	must(&b, &b.desk.staff, "webhook.approve", uid_input(&b, uid));
	refused(&b, &b.desk.staff, "webhook.approve", uid_input(&b, uid),
	    &err_conflict, "active");
	announce_size(&b, 2);
	assert_int_equal(deliveries(&b)->n, 1);
	service_release(b.desk.service, b.one.ledger);
	desk_close(&b.desk);
}

/* For a day the previous secret signs along. */
static void
test_rotation(void **state)
{
	struct bench *b = *state;
	const char *uid = register_hook(b, &b->app, NULL);
	struct json *v =
	    must(b, &b->desk.staff, "webhook.rotate_secret", uid_input(b, uid));

	assert_true(str_has_prefix(json_get_str(v, "secret"), STR("whsec_")));
	create_action(b, &b->app);
	run_all(b);
	expect_status(delivery(b, 0), "delivered", 1);
	refused(b, &b->desk.staff, "webhook.rotate_secret",
	    "{\"uid\":\"01930a3e-7c00-7000-8000-0000000000a1\"}",
	    &err_not_found, "no such webhook");
}

/* Everything that happened to webhooks follows from the events. */
static void
test_rebuild_is_identical(void **state)
{
	struct bench *b = *state;
	const char *uid = register_hook(
	    b, &b->app, "[\"ledger.checkpoint\",\"financial_action.created\"]");
	struct str before;

	register_hook(b, &b->other, NULL);
	announce_size(b, 1);
	create_action(b, &b->app);
	create_action(b, &b->other);
	b->net.status = 500;
	b->net.fails = "\"size\":1";
	run_all(b);
	must(b, &b->desk.staff, "webhook.rotate_secret", uid_input(b, uid));
	b->net.status = 410;
	b->clock.us += 60 * SECOND;
	run_all(b);
	must(b, &b->desk.staff, "webhook.approve", uid_input(b, uid));
	must(b, &b->desk.staff, "webhook.replay",
	    arena_printf(b->desk.a, "{\"webhook\":\"%s\"}", uid));
	must(b, &b->app, "agent_execution.webhook_revoke", uid_input(b, uid));
	assert_int_equal(deliveries(b)->n, 3);
	dismiss(b);
	before = desk_dump(&b->desk);
	desk_rebuild(&b->desk);
	assert_true(str_eq(before, desk_dump(&b->desk)));
	hire(b, &b->one, "worker-one");
	hire(b, &b->two, "worker-two");
}

#define WITH_BENCH(test) \
	cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BENCH(test_registering),
		WITH_BENCH(test_unsafe_urls),
		WITH_BENCH(test_most),
		WITH_BENCH(test_foreign_webhook),
		WITH_BENCH(test_deliveries_are_those_wanted),
		WITH_BENCH(test_delivered_once),
		WITH_BENCH(test_schedule_and_dead_letter),
		WITH_BENCH(test_first_wait),
		WITH_BENCH(test_endpoint_is_held_back),
		WITH_BENCH(test_held_back_as_usual),
		WITH_BENCH(test_order_of_a_subject),
		WITH_BENCH(test_lease),
		WITH_BENCH(test_late_attempt),
		WITH_BENCH(test_gone),
		WITH_BENCH(test_suspended_application_waits),
		WITH_BENCH(test_ailing_come_last),
		cmocka_unit_test(test_production_waits_for_approval),
		WITH_BENCH(test_rotation),
		WITH_BENCH(test_rebuild_is_identical),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
