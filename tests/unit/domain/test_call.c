#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>

#include "domain/applications/events.h"
#include "domain/catalog.h"
#include "domain/running.h"
#include "ledger/codec/text.h"
#include "tests/support/desk.h"

#define TREASURY                                                \
	"{\"name\":\"treasury\",\"responsible\":\"A. Person\"," \
	"\"scopes\":[\"workspace:read\"]}"
#define TREASURY_OTHERWISE                                                   \
	"{ \"scopes\": [\"workspace:read\"], \"responsible\":\"A. Person\"," \
	"  \"name\":\"tr\\u0065asury\" }"
#define PAYROLL                                                \
	"{\"name\":\"payroll\",\"responsible\":\"A. Person\"," \
	"\"scopes\":[\"workspace:read\"]}"

/* A call of any row under an idempotency key, as a front makes it. */
static int
run(struct desk *d, struct arena *a, const struct caller *caller,
    const struct operation *op, const char *key, const char *input,
    struct reply *reply, struct err *e)
{
	struct call call = {
		.op = op,
		.caller = caller,
		.idempotency_key = str_from(key),
		.body = str_from(input),
		.request = uid_new(),
	};
	struct json *body;
	int result;

	*e = (struct err){ 0 };
	assert_int_equal(
	    json_parse(a, call.body, &json_limits_default, &body, e), 0);
	call.input = (struct input){ .body = body, .flat = true };
	assert_int_equal(
	    service_acquire(d->service, &caller->place, &call.ledger, e), 0);
	result = call_run(d->service, &call, a, reply, e);
	service_release(d->service, call.ledger);
	return result;
}

static int
create(struct desk *d, const char *key, const char *input, struct reply *reply,
    struct err *e)
{
	return run(d, d->a, &d->staff, catalog_by_id(STR("application.create")),
	    key, input, reply, e);
}

static struct str
text_of(struct desk *d, const struct json *v)
{
	struct buf b;
	struct str text;

	buf_init(&b, 1 << 20);
	json_write(v, &b);
	text = arena_str(d->a, buf_str(&b));
	buf_fini(&b);
	return text;
}

static uint64_t
size_of(struct desk *d)
{
	struct ledger *ledger;
	struct reading reading;
	struct err e = { 0 };
	uint64_t size;

	assert_int_equal(
	    service_acquire(d->service, &d->place, &ledger, &e), 0);
	assert_int_equal(ledger_read_begin(ledger, &reading, &e), 0);
	assert_int_equal(ledger_read_size(&reading, &size, &e), 0);
	ledger_read_end(&reading);
	service_release(d->service, ledger);
	return size;
}

static void
test_replay_is_the_same_reply(void **state)
{
	struct desk *d = *state;
	struct reply first, again;
	struct str text;
	struct err e;
	uint64_t size;

	assert_int_equal(create(d, "key-1", TREASURY, &first, &e), 0);
	assert_false(first.replayed);
	assert_int_equal(first.status, 201);
	size = size_of(d);
	assert_int_equal(first.ledger_size, size);
	text = text_of(d, first.body);

	assert_int_equal(create(d, "key-1", TREASURY, &again, &e), 0);
	assert_true(again.replayed);
	assert_int_equal(again.status, 201);
	assert_true(str_eq(text_of(d, again.body), text));
	/* The same body in another spelling. */
	assert_int_equal(create(d, "key-1", TREASURY_OTHERWISE, &again, &e), 0);
	assert_true(again.replayed);
	assert_true(str_eq(text_of(d, again.body), text));
	assert_int_equal(size_of(d), size);

	desk_rebuild(d);
	assert_int_equal(create(d, "key-1", TREASURY, &again, &e), 0);
	assert_true(again.replayed);
	assert_true(str_eq(text_of(d, again.body), text));
}

static void
test_key_of_another_request(void **state)
{
	struct desk *d = *state;
	struct reply reply;
	struct err e;

	assert_int_equal(create(d, "key-1", TREASURY, &reply, &e), 0);
	assert_int_equal(create(d, "key-1", PAYROLL, &reply, &e), -1);
	assert_ptr_equal(e.kind, &err_idempotency);
	assert_int_equal(create(d, "key-2", PAYROLL, &reply, &e), 0);
	assert_false(reply.replayed);
}

/* A key belongs to who sent it. */
static void
test_key_of_another_caller(void **state)
{
	struct desk *d = *state;
	struct caller other = d->staff;
	struct reply reply;
	struct err e;

	other.operator_name = STR("another");
	assert_int_equal(create(d, "key-1", TREASURY, &reply, &e), 0);
	assert_int_equal(
	    run(d, d->a, &other, catalog_by_id(STR("application.create")),
		"key-1", PAYROLL, &reply, &e),
	    0);
	assert_false(reply.replayed);
}

static void
test_refusal_leaves_the_key(void **state)
{
	struct desk *d = *state;
	uint64_t size = size_of(d);
	struct reply reply;
	struct err e;

	assert_int_equal(create(d, NULL, PAYROLL, &reply, &e), 0);
	assert_int_equal(create(d, "key-1", PAYROLL, &reply, &e), -1);
	assert_ptr_equal(e.kind, &err_invalid); /* the name is taken */
	assert_int_equal(size_of(d), size + 1);
	assert_int_equal(create(d, "key-1", TREASURY, &reply, &e), 0);
	assert_false(reply.replayed);
	assert_int_equal(create(d, "", TREASURY, &reply, &e), -1);
	assert_string_equal(e.fields->at, "Idempotency-Key");
}

struct duplicate {
	struct desk *d;
	struct arena *a;
	struct reply reply;
	int result;
};

static void *
send_duplicate(void *arg)
{
	struct duplicate *s = arg;
	struct err e;

	s->result = run(s->d, s->a, &s->d->staff,
	    catalog_by_id(STR("application.create")), "key-1", TREASURY,
	    &s->reply, &e);
	return NULL;
}

#define SENDERS 6

static void
test_concurrent_duplicates_happen_once(void **state)
{
	struct desk *d = *state;
	struct duplicate s[SENDERS];
	pthread_t threads[SENDERS];
	uint64_t size = size_of(d);
	int replayed = 0;

	for (int i = 0; i < SENDERS; i++) {
		s[i] = (struct duplicate){ .d = d, .a = arena_new() };
		assert_int_equal(
		    pthread_create(&threads[i], NULL, send_duplicate, &s[i]),
		    0);
	}
	for (int i = 0; i < SENDERS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < SENDERS; i++) {
		assert_int_equal(s[i].result, 0);
		replayed += s[i].reply.replayed;
		assert_true(str_eq(
		    text_of(d, s[i].reply.body), text_of(d, s[0].reply.body)));
	}
	assert_int_equal(replayed, SENDERS - 1);
	assert_int_equal(size_of(d), size + 1);
	for (int i = 0; i < SENDERS; i++)
		arena_free(s[i].a);
}

/* A reply's evidence is what the repository holds, and the signature good. */
static void
test_evidence_holds(void **state)
{
	struct desk *d = *state;
	struct json *evidence =
	    json_get(desk_do(d, "application.create", TREASURY), "evidence");
	struct ledger *ledger;
	struct reading reading;
	struct stored_event stored;
	struct signature signature;
	struct err e = { 0 };
	char hash[DIGEST_HEX + 1], commit[OID_HEX + 1];
	int64_t seq;
	size_t n;

	assert_int_equal(
	    service_acquire(d->service, &d->place, &ledger, &e), 0);
	assert_int_equal(ledger_read_begin(ledger, &reading, &e), 0);
	assert_true(json_get_int(evidence, "seq", &seq));
	assert_int_equal(
	    ledger_read_event(&reading, (uint64_t)seq, d->a, &stored, &e), 0);
	digest_hex(sha256(stored.recorded.event.bytes), hash);
	assert_true(str_is(json_get_str(evidence, "event_hash"), hash));
	oid_hex(stored.commit, commit);
	assert_true(str_is(json_get_str(evidence, "commit"), commit));
	assert_true(
	    str_eq(json_get_str(evidence, "checkpoint"), stored.checkpoint));
	assert_true(
	    str_eq(json_get_str(evidence, "ledger"), ledger_origin(ledger)));
	assert_true(base64_decode(json_get_str(evidence, "signature"),
	    signature.b, sizeof signature.b, &n));
	assert_true(ed25519_verify(
	    ledger_public_key(ledger), stored.recorded.event.bytes, signature));
	ledger_read_end(&reading);
	service_release(d->service, ledger);
}

static void
test_evidence_of_several_events(void **state)
{
	struct desk *d = *state;
	struct recorded recorded[2] = { { .seq = 7 }, { .seq = 8 } };
	struct proof proof = { recorded, 2, { { 1 } }, STR("note") };
	struct json *body = json_object(d->a), *events;
	int64_t seq;

	evidence_put(d->a, body, &proof);
	assert_true(json_get_int(json_get(body, "evidence"), "seq", &seq));
	assert_int_equal(seq, 8);
	events = json_get(body, "events");
	assert_int_equal(events->n, 2);
	assert_true(json_get_int(events->first, "seq", &seq));
	assert_int_equal(seq, 7);
	assert_null(json_get(events->first, "checkpoint"));
	proof.n = 1;
	body = json_object(d->a);
	evidence_put(d->a, body, &proof);
	assert_null(json_get(body, "events"));
}

/* Who may not is told so before the body is looked at. */
static void
test_authority_comes_before_validity(void **state)
{
	struct desk *d = *state;
	const struct operation *op = catalog_by_id(STR("action.create_credit"));
	struct caller reader, writer;
	struct reply reply;
	struct err e;

	assert_non_null(op);
	desk_application(d, "reader", "[\"workspace:read\"]", "[]", &reader);
	desk_application(d, "writer", "[\"actions:create\"]",
	    op->entitlement ? arena_printf(d->a, "[\"%s\"]", op->entitlement)
			    : "[]",
	    &writer);
	assert_int_equal(run(d, d->a, &reader, op, NULL, "{}", &reply, &e), -1);
	assert_ptr_equal(e.kind, &err_forbidden);
	assert_int_equal(run(d, d->a, &writer, op, NULL, "{}", &reply, &e), -1);
	assert_ptr_equal(e.kind, &err_invalid);
}

/* Rows of this test's own, for what no good row does. */

enum habit { EMITS_IT, EMITS_ANOTHER, EMITS_NOTHING, ANSWERS_WITH_3, NO_REPLY };
static enum habit habit;

static int
probe_decide(struct context *c, const void *in, struct err *e)
{
	struct status_changed changed = { STR_NONE };
	struct application_created data = {
		.name = STR("probe"),
		.responsible = STR("A. Person"),
	};

	(void)in;
	switch (habit) {
	case EMITS_NOTHING:
		return 0;
	case ANSWERS_WITH_3:
		context_answer_with(c, 3);
		return 0;
	case EMITS_ANOTHER:
		return context_emit(c, &event_application_revoked,
		    "application", tx_uid(c->tx), &changed, e);
	case EMITS_IT:
	case NO_REPLY:
		break;
	}
	return context_emit(c, &event_application_created, "application",
	    tx_uid(c->tx), &data, e);
}

struct probe {
	struct str name;
};

SHAPE(probe, "A probe", FIELD(probe, name, .doc = "Its name"));

static int
probe_reply(struct context *c, const struct event *ev, void *out, struct err *e)
{
	struct application_created data;
	struct probe *reply = out;

	if (habit == NO_REPLY)
		return err_set(e, &err_not_found, "cannot render");
	if (context_event_data(c, ev, &event_application_created, &data, e))
		return -1;
	reply->name = data.name;
	return 0;
}

static const struct operation op_probe = {
	.id = "probe.make",
	.command = "probe make",
	.effect = EFFECT_WRITE,
	.status = 201,
	.in = &nothing_shape,
	.out = &probe_shape,
	.decide = probe_decide,
	.reply = probe_reply,
};

static int
run_probe(struct desk *d, enum habit how, struct reply *reply, struct err *e)
{
	static const struct event_type *const emits[] = {
		&event_application_created, NULL
	};
	struct operation op = op_probe;

	op.emits = emits;
	habit = how;
	return run(d, d->a, &d->staff, &op, NULL, "{}", reply, e);
}

static void
test_rows_that_break_the_rules(void **state)
{
	struct desk *d = *state;
	uint64_t size = size_of(d);
	struct reply reply;
	struct err e;

	assert_int_equal(run_probe(d, EMITS_IT, &reply, &e), 0);
	assert_int_equal(size_of(d), size + 1);
	assert_int_equal(run_probe(d, EMITS_ANOTHER, &reply, &e), -1);
	assert_ptr_equal(e.kind, &err_internal);
	assert_int_equal(run_probe(d, EMITS_NOTHING, &reply, &e), -1);
	assert_ptr_equal(e.kind, &err_internal);
	assert_int_equal(size_of(d), size + 1);
}

/* What was recorded is never answered as a refusal. */
static void
test_recorded_without_reply(void **state)
{
	struct desk *d = *state;
	uint64_t size = size_of(d);
	struct reply reply;
	struct err e;
	int64_t seq;

	assert_int_equal(run_probe(d, NO_REPLY, &reply, &e), -1);
	assert_ptr_equal(e.kind, &err_outcome_unknown);
	assert_true(json_get_int(e.extension, "seq", &seq));
	assert_int_equal(seq, size);
	assert_int_equal(json_get_str(e.extension, "event_hash").n, 64);
	assert_int_equal(size_of(d), size + 1);
}

static void
test_answer_with_an_earlier_event(void **state)
{
	struct desk *d = *state;
	struct reply reply;
	struct err e;
	uint64_t size;
	int64_t seq;

	desk_do(d, "application.create", TREASURY); /* event 3 */
	size = size_of(d);
	assert_int_equal(run_probe(d, ANSWERS_WITH_3, &reply, &e), 0);
	assert_true(str_is(json_get_str(reply.body, "name"), "treasury"));
	assert_true(
	    json_get_int(json_get(reply.body, "evidence"), "seq", &seq));
	assert_int_equal(seq, 3);
	assert_false(reply.replayed);
	assert_int_equal(size_of(d), size);
}

static void
test_secret_is_not_replayed(void **state)
{
	struct desk *d = *state;
	struct json *v = desk_do(d, "application.create", TREASURY);
	const char *input = arena_printf(d->a, "{\"application\":\"%.*s\"}",
	    STR_ARGS(json_get_str(v, "uid")));
	const struct operation *op = catalog_by_id(STR("credential.issue"));
	struct reply reply;
	struct err e;

	assert_int_equal(
	    run(d, d->a, &d->staff, op, "k", input, &reply, &e), 0);
	assert_true(json_get_str(reply.body, "key").n > 0);
	assert_int_equal(
	    run(d, d->a, &d->staff, op, "k", input, &reply, &e), 0);
	assert_true(reply.replayed);
	assert_int_equal(json_get(reply.body, "key")->type, JSON_NULL);
	assert_int_equal(json_get(reply.body, "secret_shown")->type, JSON_TRUE);
}

static int
refuse_to_prepare(struct context *c, const void *in, struct err *e)
{
	(void)c;
	(void)in;
	return err_set(e, &err_unavailable, "what it needs is not there now");
}

/* What a row prepares may be refused by the time of the replay. */
static void
test_a_replay_prepares_nothing(void **state)
{
	struct desk *d = *state;
	struct operation op = *catalog_by_id(STR("application.create"));
	struct reply first, again;
	struct err e;

	assert_int_equal(create(d, "key-1", TREASURY, &first, &e), 0);
	op.prepare = refuse_to_prepare;
	assert_int_equal(
	    run(d, d->a, &d->staff, &op, "key-1", TREASURY, &again, &e), 0);
	assert_true(again.replayed);
	assert_true(str_eq(text_of(d, again.body), text_of(d, first.body)));
	assert_int_equal(
	    run(d, d->a, &d->staff, &op, "key-1", PAYROLL, &again, &e), -1);
	assert_ptr_equal(e.kind, &err_idempotency);
	assert_int_equal(
	    run(d, d->a, &d->staff, &op, "key-2", PAYROLL, &again, &e), -1);
	assert_ptr_equal(e.kind, &err_unavailable);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DESK(test_replay_is_the_same_reply),
		WITH_DESK(test_key_of_another_request),
		WITH_DESK(test_key_of_another_caller),
		WITH_DESK(test_refusal_leaves_the_key),
		WITH_DESK(test_concurrent_duplicates_happen_once),
		WITH_DESK(test_evidence_holds),
		WITH_DESK(test_evidence_of_several_events),
		WITH_DESK(test_authority_comes_before_validity),
		WITH_DESK(test_rows_that_break_the_rules),
		WITH_DESK(test_recorded_without_reply),
		WITH_DESK(test_answer_with_an_earlier_event),
		WITH_DESK(test_secret_is_not_replayed),
		WITH_DESK(test_a_replay_prepares_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
