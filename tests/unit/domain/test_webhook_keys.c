#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "domain/webhooks/body.h"
#include "domain/webhooks/secret.h"
#include "domain/webhooks/send.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/ed25519.h"

#define ID   "msg_p5jXN8AQM9LWM0D4loKWxJek"
#define BODY "{\"test\": 2432232314}"
#define V1   "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
#define TEXT ID ".1614265330." BODY

/* The vector that the libraries of Standard Webhooks share. Its key has 24
 * bytes; to HMAC the same with zeros behind is the same key. */
static struct webhook_secret
known_secret(void)
{
	struct webhook_secret secret = { .seed = { 7 } };
	size_t n;

	assert_true(base64_decode(STR("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
	    secret.hmac, sizeof secret.hmac, &n));
	assert_int_equal(n, 24);
	return secret;
}

static void
test_known_vector(void **state)
{
	struct webhook_secret secret = known_secret();
	struct arena *a = arena_new();
	struct str field =
	    webhook_sign(a, &secret, 1, STR(ID), 1614265330, STR(BODY));

	(void)state;
	assert_true(str_has_prefix(field, STR(V1 " v1a,")));
	arena_free(a);
}

static void
expect_v1a(struct str text, const struct webhook_secret *secret)
{
	struct private_key *key = private_key_from_seed(secret->seed);
	struct signature s;
	size_t n;

	assert_true(str_has_prefix(text, STR("v1a,")));
	assert_true(
	    base64_decode(str_slice(text, 4, text.n), s.b, sizeof s.b, &n));
	assert_int_equal(n, sizeof s.b);
	assert_true(ed25519_verify(private_key_public(key), STR(TEXT), s));
	private_key_free(key);
}

/* While a secret is being replaced: both v1, then both v1a. */
static void
test_two_secrets_sign(void **state)
{
	struct webhook_secret secrets[2] = { { .hmac = { 1 }, .seed = { 2 } },
		known_secret() };
	struct arena *a = arena_new();
	struct str rest =
	    webhook_sign(a, secrets, 2, STR(ID), 1614265330, STR(BODY));
	struct str first = str_take(&rest, ' ');

	(void)state;
	assert_true(str_has_prefix(first, STR("v1,")));
	assert_false(str_is(first, V1));
	assert_true(str_is(str_take(&rest, ' '), V1));
	expect_v1a(str_take(&rest, ' '), &secrets[0]);
	expect_v1a(rest, &secrets[1]);
	arena_free(a);
}

static void
test_secret_is_standard_base64(void **state)
{
	struct webhook_secret secret = { .hmac = { 0xfb, 0xff, 0xfe } };
	struct arena *a = arena_new();
	struct str text = webhook_secret_text(a, &secret);

	(void)state;
	assert_true(str_has_prefix(text, STR("whsec_+//+")));
	assert_int_equal(text.n, 6 + 44);
	assert_int_equal(text.p[text.n - 1], '=');
	arena_free(a);
}

/* Each wait is as the schedule has it, and at most a tenth more. */
static void
test_waits(void **state)
{
	static const int64_t seconds[] = { 5, 300, 1800, 7200, 18000, 36000,
		50400, 72000, 86400 };

	(void)state;
	for (int64_t i = 0; i < 9; i++) {
		int64_t us = seconds[i] * 1000000;
		int64_t most = webhook_wait_us(i + 1, 100, 0, UINT32_MAX);

		assert_int_equal(webhook_wait_us(i + 1, 100, 0, 0), us);
		assert_true(most > us + us / 11 && most <= us + us / 10);
		assert_int_equal(webhook_wait_us(i + 1, 10, 0, 0), us / 10);
	}
	assert_int_equal(webhook_wait_us(10, 100, 0, 0), 0);
	assert_int_equal(webhook_wait_us(10, 100, 3600, 0), 0);
	assert_true(webhook_wait_us(1, 0, 0, 0) > 0);
}

/* Retry-After makes a wait longer, never shorter, and at most a day. */
static void
test_retry_after(void **state)
{
	(void)state;
	assert_int_equal(webhook_wait_us(1, 100, 30, 0), 30000000);
	assert_int_equal(webhook_wait_us(2, 100, 30, 0), 300000000);
	assert_int_equal(webhook_wait_us(1, 0, 7, 0), 7000000);
	assert_int_equal(
	    webhook_wait_us(1, 100, INT64_MAX, 0), INT64_C(86400000000));
}

static struct sent
judged(struct arena *a, int status, const char *fault)
{
	struct outbound_reply reply = {
		.status = status, .retry_after_s = 9, .duration_ms = 3
	};
	struct err e = { 0 };
	struct sent sent = { 0 };

	if (fault)
		err_set(&e, &err_unavailable, "%s", fault);
	webhook_judge(a, &reply, &e, &sent);
	assert_int_equal(sent.duration_ms, 3);
	return sent;
}

static void
test_outcomes(void **state)
{
	static const struct {
		int status;
		bool good, waits;
	} cases[] = { { 200, true, false }, { 204, true, false },
		{ 299, true, false }, { 199, false, false },
		{ 301, false, false }, { 307, false, false },
		{ 400, false, false }, { 410, false, false },
		{ 429, false, true }, { 500, false, false },
		{ 502, false, true }, { 503, false, true },
		{ 504, false, true } };
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct sent sent = judged(a, cases[i].status, NULL);

		assert_true(sent.status.set);
		assert_int_equal(sent.status.v, cases[i].status);
		assert_int_equal(!sent.fault.p, cases[i].good);
		assert_int_equal(sent.retry_after_s, cases[i].waits ? 9 : 0);
		assert_int_equal(
		    webhook_is_gone(&sent), cases[i].status == 410);
		assert_int_equal(webhook_holds_back(&sent), cases[i].waits);
	}
	arena_free(a);
}

/* 503 alone is a failure of one delivery, 429 is about the endpoint. */
static void
test_who_holds_back(void **state)
{
	struct sent busy = { .status = { true, 429 } };
	struct sent broken = { .status = { true, 503 } };
	struct sent silent = { .fault = STR("nobody answers") };

	(void)state;
	assert_true(webhook_holds_back(&busy));
	assert_false(webhook_holds_back(&broken));
	assert_false(webhook_holds_back(&silent));
}

/* What a peer says goes into an event: nothing of it may be markup, control
 * characters or half a letter. */
static void
test_fault_is_plain(void **state)
{
	struct arena *a = arena_new();
	struct sent sent = judged(a, 200, "caf\xc3\xa9\n\x1b[31m");
	char longer[400];

	(void)state;
	assert_false(sent.status.set);
	assert_true(str_is(sent.fault, "caf????[31m"));
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	assert_int_equal(judged(a, 200, longer).fault.n, WEBHOOK_FAULT);
	arena_free(a);
}

static struct webhook_message
message(const char *event)
{
	struct webhook_message m = {
		.event = str_from(event),
		.ledger = STR("ledger.example.com/acme/sandbox"),
		.seq = 41,
		.base_url = STR("https://probity.example.com"),
	};

	assert_true(
	    uid_parse(STR("01930a3e-7c00-7000-8000-0000000000a1"), &m.subject));
	assert_true(instant_parse(STR("2026-11-21T12:00:00.000001Z"), &m.at));
	memset(m.event_hash.b, 0xab, sizeof m.event_hash.b);
	return m;
}

#define HASH                               \
	"abababababababababababababababab" \
	"abababababababababababababababab"
#define UID "01930a3e-7c00-7000-8000-0000000000a1"

static void
test_body_of_an_action(void **state)
{
	struct webhook_message m = message("financial_action.created");
	struct arena *a = arena_new();
	struct err e = { 0 };
	struct str body;

	(void)state;
	assert_int_equal(webhook_body(a, &m, &body, &e), 0);
	assert_string_equal(arena_cstr(a, body),
	    "{\"data\":{\"event_hash\":\"" HASH "\","
	    "\"ledger\":\"ledger.example.com/acme/sandbox\",\"seq\":41,"
	    "\"uid\":\"" UID "\","
	    "\"url\":\"https://probity.example.com/api/v2/agent-execution/"
	    "actions/" UID "\"},"
	    "\"timestamp\":\"2026-11-21T12:00:00.000001Z\","
	    "\"type\":\"financial_action.created\"}");
	arena_free(a);
}

static void
test_body_with_more(void **state)
{
	struct webhook_message m = message("ledger.checkpoint");
	struct arena *a = arena_new();
	struct err e = { 0 };
	struct str body;

	(void)state;
	m.detail = STR("{\"checkpoint\":\"a\\nb\",\"size\":7}");
	assert_int_equal(webhook_body(a, &m, &body, &e), 0);
	assert_string_equal(arena_cstr(a, body),
	    "{\"data\":{\"checkpoint\":\"a\\nb\",\"event_hash\":\"" HASH "\","
	    "\"ledger\":\"ledger.example.com/acme/sandbox\",\"seq\":41,"
	    "\"size\":7,\"uid\":\"" UID "\",\"url\":null},"
	    "\"timestamp\":\"2026-11-21T12:00:00.000001Z\","
	    "\"type\":\"ledger.checkpoint\"}");
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_vector),
		cmocka_unit_test(test_two_secrets_sign),
		cmocka_unit_test(test_secret_is_standard_base64),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_retry_after),
		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_who_holds_back),
		cmocka_unit_test(test_fault_is_plain),
		cmocka_unit_test(test_body_of_an_action),
		cmocka_unit_test(test_body_with_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
