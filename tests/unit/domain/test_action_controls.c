#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "domain/actions/controls.h"
#include "domain/actions/events.h"
#include "tests/support/event_vector.h"

/* A case in which every control passes or has nothing to judge. */
struct scene {
	struct arena *a;
	struct create_action request;
	struct source_record source;
	struct connector connector;
	struct counterparty counterparty;
	struct arrangement arrangement;
	struct facts facts;
	struct control_result *results;
	struct err e;
};

static struct scene *
scene_new(void)
{
	struct arena *a = arena_new();
	struct scene *s = ARENA_NEW(a, struct scene);

	s->a = a;
	s->arrangement = (struct arrangement){ .uid = { { 2 } },
		.counterparty_id = 7,
		.currency = STR("EUR"),
		.has_limit = true,
		.limit_minor = 100000 };
	s->counterparty =
	    (struct counterparty){ .id = 7, .status = STR("active") };
	s->connector = (struct connector){ .id = 1, .sandbox = true };
	s->source = (struct source_record){ .uid = { { 1 } },
		.kind = STR("invoice"),
		.sha256 = { STR("00") },
		.currency = STR("EUR"),
		.amount_minor = 50000,
		.counterparty_id = 7,
		.arrangement = { { 2 } } };
	s->request = (struct create_action){ .source_uid = { { 1 } },
		.arrangement_uid = { { 2 } },
		.connector_id = 1,
		.counterparty_id = 7,
		.currency = STR("EUR"),
		.amount = { STR("100") },
		.external_reference = STR("E2E"),
		.calculation_source = STR("model"),
		.calculation_reference = STR("run"),
		.execution_mode = STR("sandbox") };
	s->facts = (struct facts){ .request = &s->request,
		.amount = { 10000, currency_find(STR("EUR")) },
		.source = &s->source,
		.connector = &s->connector,
		.counterparty = &s->counterparty,
		.arrangement = &s->arrangement };
	s->results = arena_array(a, n_controls, sizeof *s->results);
	return s;
}

static void
scene_free(struct scene *s)
{
	arena_free(s->a);
}

static int
judge(struct scene *s)
{
	s->e = (struct err){ 0 };
	return controls_judge(&s->facts, s->a, s->results, &s->e);
}

static const char *
outcome(const struct scene *s, const char *id)
{
	for (size_t i = 0; i < n_controls; i++)
		if (str_is(s->results[i].id, id))
			return arena_cstr(s->a, s->results[i].outcome);
	fail_msg("no control %s", id);
	return NULL;
}

/* Exactly this scope control fails, and the refusal names it. */
static void
expect_refused(struct scene *s, const char *id, const char *pointer)
{
	const struct json *list;
	size_t failed = 0;

	assert_int_equal(judge(s), -1);
	assert_ptr_equal(s->e.kind, &err_control);
	assert_string_equal(outcome(s, id), "failed");
	assert_non_null(s->e.fields);
	assert_null(s->e.fields->next);
	assert_string_equal(s->e.fields->at, pointer);
	assert_string_equal(s->e.fields->code, id);
	assert_true(strlen(s->e.fields->detail) > 0);
	list = json_get(s->e.extension, "controls");
	assert_int_equal(list->n, n_controls);
	for (const struct json *v = list->first; v; v = v->next)
		failed += str_is(json_get_str(v, "outcome"), "failed");
	assert_int_equal(failed, 1);
	scene_free(s);
}

/* Created all the same; the failure is kept with its reason. */
static void
expect_kept(struct scene *s, const char *id)
{
	const struct envelope_controls *kept;
	const struct envelope_failure *failure;

	assert_int_equal(judge(s), 0);
	assert_null(s->e.kind);
	assert_string_equal(outcome(s, id), "failed");
	kept = envelope_controls_from(s->a, s->results, n_controls);
	assert_int_equal(kept->failed.n, 1);
	failure = kept->failed.items;
	assert_true(str_is(failure->id, id));
	assert_true(failure->detail.n > 0);
	assert_int_equal(
	    kept->passed.n + kept->not_applicable.n + 1, n_controls);
	scene_free(s);
}

static void
expect_outcome(struct scene *s, const char *id, const char *expected)
{
	assert_int_equal(judge(s), 0);
	assert_string_equal(outcome(s, id), expected);
	scene_free(s);
}

static void
test_all_pass(void **state)
{
	struct scene *s = scene_new();

	(void)state;
	assert_int_equal(judge(s), 0);
	for (size_t i = 0; i < n_controls; i++) {
		bool live = str_is(s->results[i].id, "live_permitted");

		assert_true(str_is(
		    s->results[i].outcome, live ? "not_applicable" : "passed"));
		assert_null(s->results[i].detail.p);
	}
	scene_free(s);
}

static void
test_source(void **state)
{
	struct scene *s = scene_new();

	(void)state;
	s->facts.source = NULL;
	expect_refused(s, "source_sealed", "#/source_uid");
	s = scene_new();
	s->source.sha256.hex = STR_NONE;
	expect_refused(s, "source_sealed", "#/source_uid");
}

static void
test_source_amount(void **state)
{
	struct scene *s = scene_new();

	(void)state;
	s->facts.source_reserved = 40000; /* exactly the rest */
	expect_outcome(s, "source_amount", "passed");
	s = scene_new();
	s->facts.source_reserved = 40001;
	expect_refused(s, "source_amount", "#/amount");
	s = scene_new();
	s->source.amount_minor = 9999;
	expect_refused(s, "source_amount", "#/amount");
}

static void
test_currency(void **state)
{
	struct scene *s = scene_new();

	(void)state;
	s->source.currency = STR("USD");
	expect_refused(s, "currency_match", "#/currency");
}

static void
test_counterparty(void **state)
{
	struct scene *s = scene_new();

	(void)state;
	s->counterparty.id = 8;
	expect_refused(s, "counterparty_match", "#/counterparty_id");
	s = scene_new();
	s->facts.counterparty = NULL;
	expect_refused(s, "counterparty_match", "#/counterparty_id");
	s = scene_new();
	s->source.counterparty_id = 0;
	expect_refused(s, "counterparty_match", "#/counterparty_id");
	s = scene_new();
	s->counterparty.status = STR("suspended");
	expect_kept(s, "counterparty_status");
}

static void
test_arrangement(void **state)
{
	struct scene *s = scene_new();
	const struct uid none = { { 0 } };

	(void)state;
	s->source.arrangement.b[0] = 9;
	expect_refused(s, "arrangement_match", "#/arrangement_uid");
	s = scene_new();
	s->source.arrangement = none;
	expect_refused(s, "arrangement_match", "#/arrangement_uid");
	s = scene_new();
	s->facts.arrangement = NULL;
	expect_refused(s, "arrangement_match", "#/arrangement_uid");
	s = scene_new();
	s->facts.arrangement = NULL;
	s->request.arrangement_uid = none;
	expect_refused(s, "arrangement_match", "#/arrangement_uid");
	s = scene_new();
	s->facts.arrangement = NULL;
	s->request.arrangement_uid = none;
	s->source.arrangement = none;
	expect_outcome(s, "arrangement_match", "not_applicable");
}

static void
test_limit(void **state)
{
	struct scene *s = scene_new();

	(void)state;
	s->facts.arrangement_reserved = 90000; /* exactly the rest */
	expect_outcome(s, "arrangement_limit", "passed");
	s = scene_new();
	s->facts.arrangement_reserved = 90001;
	expect_kept(s, "arrangement_limit");
	s = scene_new();
	s->facts.arrangement_reserved = INT64_MAX;
	expect_kept(s, "arrangement_limit");
	s = scene_new();
	s->arrangement.currency = STR("USD");
	expect_kept(s, "arrangement_limit");
	s = scene_new();
	s->arrangement.has_limit = false;
	expect_outcome(s, "arrangement_limit", "not_applicable");
}

static void
test_amount(void **state)
{
	struct scene *s = scene_new();

	(void)state;
	s->facts.amount.minor = 0;
	expect_refused(s, "amount_positive", "#/amount");
	s = scene_new();
	s->facts.amount.minor = -1;
	expect_refused(s, "amount_positive", "#/amount");
	s = scene_new();
	s->facts.amount_fault = MONEY_TOO_PRECISE;
	expect_refused(s, "minor_units", "#/amount");
}

static void
test_connector(void **state)
{
	struct scene *s = scene_new();

	(void)state;
	s->connector.sandbox = false;
	s->connector.live = true;
	expect_refused(s, "connector_mode", "#/connector_id");
	s = scene_new();
	s->facts.connector = NULL;
	expect_refused(s, "connector_mode", "#/connector_id");
	s = scene_new();
	s->connector.live = true;
	s->request.execution_mode = STR("live");
	expect_refused(s, "live_permitted", "#/execution_mode");
	s = scene_new();
	s->connector.live = true;
	s->facts.production_is_open = true;
	s->request.execution_mode = STR("live");
	expect_outcome(s, "live_permitted", "passed");
}

static void
test_reference(void **state)
{
	struct scene *s = scene_new();

	(void)state;
	s->facts.reference_is_taken = true;
	expect_refused(s, "duplicate_reference", "#/external_reference");
	s = scene_new();
	s->request.external_reference = STR_NONE;
	expect_outcome(s, "duplicate_reference", "not_applicable");
}

static void
test_calculation(void **state)
{
	struct scene *s = scene_new();

	(void)state;
	s->request.calculation_reference = STR_NONE;
	expect_kept(s, "calculation_required");
	s = scene_new();
	s->request.calculation_source = STR_NONE;
	expect_kept(s, "calculation_required");
	s = scene_new();
	s->request.calculation_source = STR_NONE;
	s->request.calculation_reference = STR_NONE;
	expect_outcome(s, "calculation_required", "not_applicable");
	s = scene_new();
	s->request.calculation_source = STR_NONE;
	s->request.calculation_reference = STR_NONE;
	s->source.kind = STR("entitlement");
	expect_kept(s, "calculation_required");
}

/* Everything wrong at once: each failing control is named, none twice. */
static void
test_every_failure_named(void **state)
{
	struct scene *s = scene_new();
	size_t n = 0;

	(void)state;
	s->facts.source = NULL;
	s->facts.connector = NULL;
	s->facts.counterparty = NULL;
	s->facts.arrangement = NULL;
	s->facts.reference_is_taken = true;
	s->request.execution_mode = STR("live");
	assert_int_equal(judge(s), -1);
	for (const struct err_field *f = s->e.fields; f; f = f->next)
		n++;
	assert_int_equal(n, 6);
	assert_string_equal(outcome(s, "source_amount"), "not_applicable");
	assert_string_equal(outcome(s, "currency_match"), "not_applicable");
	scene_free(s);
}

static int
check_request(struct scene *s, const char *currency, const char *amount)
{
	struct money m;

	s->e = (struct err){ 0 };
	s->request.currency = str_from(currency);
	s->request.amount.text = str_from(amount);
	return create_action_check(&s->request, s->a, &m, &s->e);
}

static void
test_request(void **state)
{
	static const struct {
		const char *currency, *amount, *at;
	} bad[] = {
		{ "EUR", "1e400", "#/amount" },
		{ "EUR", "-0", "#/amount" },
		{ "EUR", "0", "#/amount" },
		{ "EUR", "-1", "#/amount" },
		{ "EUR", "0.001", "#/amount" },
		{ "JPY", "0.5", "#/amount" },
		{ "EUR", "12345678901234567890", "#/amount" },
		{ "EUR", "NaN", "#/amount" },
		{ "EUR", "", "#/amount" },
		{ "ABC", "1", "#/currency" },
		{ "XAU", "1", "#/currency" },
	};
	struct scene *s = scene_new();

	(void)state;
	assert_int_equal(check_request(s, "EUR", "1E2"), 0);
	assert_int_equal(check_request(s, "JPY", "100.000"), 0);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		if (check_request(s, bad[i].currency, bad[i].amount) == 0)
			fail_msg("%s %s", bad[i].currency, bad[i].amount);
		assert_ptr_equal(s->e.kind, &err_invalid);
		assert_string_equal(s->e.fields->at, bad[i].at);
	}
	assert_int_equal(check_request(s, "XAU", "0"), -1);
	assert_string_equal(s->e.fields->at, "#/currency");
	assert_string_equal(s->e.fields->next->at, "#/amount");
	scene_free(s);
}

/* The vector's hash was not made by this program. */
static void
test_vector(void **state)
{
	(void)state;
	event_vector_check(&event_action_created);
}

static void
test_vector_hash(void **state)
{
	struct arena *a = arena_new();
	struct action_created data;
	struct digest_text hash;
	struct list results;
	struct err e = { 0 };

	(void)state;
	event_vector_read(&event_action_created, a, &data);
	assert_int_equal(envelope_hash(data.envelope, a, &hash, &e), 0);
	assert_true(str_eq(hash.hex, data.envelope_hash.hex));
	results = envelope_results(a, data.envelope);
	assert_int_equal(results.n, 13);
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_pass),
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_source_amount),
		cmocka_unit_test(test_currency),
		cmocka_unit_test(test_counterparty),
		cmocka_unit_test(test_arrangement),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_amount),
		cmocka_unit_test(test_connector),
		cmocka_unit_test(test_reference),
		cmocka_unit_test(test_calculation),
		cmocka_unit_test(test_every_failure_named),
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_vector),
		cmocka_unit_test(test_vector_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
