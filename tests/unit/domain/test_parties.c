#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "domain/parties/events.h"
#include "domain/parties/identifiers.h"
#include "tests/support/desk.h"
#include "tests/support/event_vector.h"

/* Examples of the SWIFT IBAN registry. */
static const char *const good_ibans[] = {
	"GB29NWBK60161331926819",
	"GB82WEST12345698765432",
	"DE89370400440532013000",
	"NO9386011117947",
	"FR1420041010050500013M02606",
	"MT84MALT011000012345MTLCAST001S",
	"LC55HEMM000100010012001200023015",
	"SA0380000000608010167519",
};

static const char *const bad_ibans[] = {
	"",
	"GB82WEST12345698765433", /* a digit off */
	"GB82WSET12345698765432", /* letters exchanged */
	"gb82WEST12345698765432", /* a small letter */
	"GB82 WEST1234569876543", /* a space */
	"DE00370400440532013048", /* check digits out of range */
	"GB8WEST12345698765432",  /* one check digit */
	"NO938601111794",         /* short */
	"82GBWEST12345698765432",
};

static void
test_iban(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof good_ibans / sizeof good_ibans[0]; i++) {
		assert_true(iban_is_valid(str_from(good_ibans[i])));
		assert_true(format_account.check(str_from(good_ibans[i])));
	}
	for (size_t i = 0; i < sizeof bad_ibans / sizeof bad_ibans[0]; i++)
		assert_false(iban_is_valid(str_from(bad_ibans[i])));
}

/* Any single digit changed must be found. */
static void
test_iban_every_digit(void **state)
{
	char text[] = "DE89370400440532013000";

	(void)state;
	for (size_t i = 2; text[i]; i++) {
		char was = text[i];

		text[i] = was == '9' ? '0' : (char)(was + 1);
		assert_false(iban_is_valid(str_from(text)));
		assert_false(format_account.check(str_from(text)));
		text[i] = was;
	}
	assert_true(iban_is_valid(str_from(text)));
}

static void
test_account(void **state)
{
	static const char *const good[] = { "12345678", "0", "12-34-56/7890",
		"ABA:021000021", "1234567890123456789012345678901234" };
	static const char *const bad[] = { "", "12 34", "a\tb", "kont\xc3\xb3",
		"gb82west12345698765432", "GB82WEST12345698765433",
		"12345678901234567890123456789012345", "a@b" };

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		assert_true(format_account.check(str_from(good[i])));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(format_account.check(str_from(bad[i])));
}

static void
test_lei(void **state)
{
	/* Published in the GLEIF's database. */
	static const char *const good[] = { "5493001KJTIIGC8Y1R12",
		"HWUPKR0MPOU8FGXBT394", "529900T8BM49AURSDO55",
		"7LTWFZYICNSX8D621K86" };
	static const char *const bad[] = { "", "5493001KJTIIGC8Y1R13",
		"5493001KJTIIGC8Y1R1", "5493001KJTIIGC8Y1R122",
		"5493001kJTIIGC8Y1R12", "5493001KJTIIGC8YR112",
		"5493001KJTIIGC8Y1RAB" };

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		assert_true(lei_is_valid(str_from(good[i])));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(lei_is_valid(str_from(bad[i])));
}

static void
test_vectors(void **state)
{
	(void)state;
	event_vector_check(&event_connector_added);
	event_vector_check(&event_counterparty_added);
	event_vector_check(&event_counterparty_registered);
	event_vector_check(&event_arrangement_added);
	event_vector_check(&event_counterparty_suspended);
	event_vector_check(&event_counterparty_reinstated);
}

static int
open_desk(void **state)
{
	static struct desk d;

	desk_open(&d, "sandbox");
	*state = &d;
	return 0;
}

static int
close_desk(void **state)
{
	desk_close(*state);
	return 0;
}

static void
expect_str(const struct json *v, const char *name, const char *text)
{
	struct str s = json_get_str(v, name);

	if (!str_is(s, text))
		fail_msg("%s is \"%.*s\", not \"%s\"", name, STR_ARGS(s), text);
}

static void
expect_int(const struct json *v, const char *name, int64_t expected)
{
	int64_t n = -1;

	assert_true(json_get_int(v, name, &n));
	assert_int_equal(n, expected);
}

/* Refused, and the fault named at this place. */
static void
expect_fault(struct desk *d, const char *id, const char *input, const char *at)
{
	struct reply reply;
	struct err e;

	assert_int_equal(desk_call(d, &d->staff, id, input, &reply, &e), -1);
	assert_ptr_equal(e.kind, &err_invalid);
	for (const struct err_field *f = e.fields; f; f = f->next)
		if (strcmp(f->at, at) == 0)
			return;
	fail_msg("%s: nothing at %s", input, at);
}

static void
test_connectors(void **state)
{
	struct desk *d = *state;
	struct json *v;

	v = desk_do(d, "connector.add",
	    "{\"name\":\"Try\",\"kind\":\"sandbox\",\"modes\":[\"sandbox\"]}");
	expect_int(v, "id", 1);
	expect_str(v, "status", "active");
	v = desk_do(d, "connector.add",
	    "{\"name\":\"Drop\",\"kind\":\"file\","
	    "\"modes\":[\"live\",\"sandbox\"]}");
	expect_int(v, "id", 2);
	expect_fault(d, "connector.add",
	    "{\"name\":\"x\",\"kind\":\"sandbox\",\"modes\":[\"live\"]}",
	    "#/modes");
	expect_fault(d, "connector.add",
	    "{\"name\":\"x\",\"kind\":\"file\",\"modes\":[\"live\",\"live\"]}",
	    "#/modes/1");
	expect_fault(d, "connector.add",
	    "{\"name\":\"x\",\"kind\":\"file\",\"modes\":[]}", "#/modes");
	expect_fault(d, "connector.add",
	    "{\"name\":\"x\",\"kind\":\"file\",\"modes\":[\"dry\"]}",
	    "#/modes/0");
	expect_fault(d, "connector.add",
	    "{\"name\":\"x\",\"kind\":\"swift\",\"modes\":[\"live\"]}",
	    "#/kind");
	expect_fault(d, "connector.add",
	    "{\"name\":\"\",\"kind\":\"file\",\"modes\":[\"live\"]}", "#/name");
}

static void
test_counterparties(void **state)
{
	struct desk *d = *state;
	struct json *v = desk_do(d, "counterparty.add",
	    "{\"name\":\"Lumber GmbH\",\"account\":\"DE89370400440532013000\","
	    "\"lei\":\"529900T8BM49AURSDO55\"}");

	expect_int(v, "id", 1);
	expect_str(v, "lei", "529900T8BM49AURSDO55");
	v = desk_do(d, "counterparty.add",
	    "{\"name\":\"Acme\",\"account\":\"12-34-56\"}");
	expect_int(v, "id", 2);
	assert_int_equal(json_get(v, "lei")->type, JSON_NULL);
	expect_fault(d, "counterparty.add",
	    "{\"name\":\"x\",\"account\":\"DE89370400440532013001\"}",
	    "#/account");
	expect_fault(d, "counterparty.add",
	    "{\"name\":\"x\",\"account\":\"1\",\"lei\":\"5493001KJTIIGC8Y1R13\""
	    "}",
	    "#/lei");
}

static void
test_suspension(void **state)
{
	struct desk *d = *state;
	struct reply reply;
	struct err e;

	expect_str(desk_do(d, "counterparty.suspend",
		       "{\"id\":2,\"reason\":\"sanctions screening\"}"),
	    "status", "suspended");
	assert_int_equal(desk_call(d, &d->staff, "counterparty.suspend",
			     "{\"id\":2,\"reason\":\"again\"}", &reply, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_conflict);
	assert_int_equal(desk_call(d, &d->staff, "counterparty.suspend",
			     "{\"id\":9,\"reason\":\"none\"}", &reply, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_not_found);
	expect_str(desk_do(d, "counterparty.reinstate",
		       "{\"id\":2,\"reason\":\"cleared\"}"),
	    "status", "active");
	assert_int_equal(desk_call(d, &d->staff, "counterparty.reinstate",
			     "{\"id\":2,\"reason\":\"again\"}", &reply, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_conflict);
}

static void
test_arrangements(void **state)
{
	struct desk *d = *state;
	struct json *v = desk_do(d, "arrangement.add",
	    "{\"counterparty_id\":1,\"kind\":\"supply\",\"currency\":\"EUR\","
	    "\"limit\":1E3}");

	expect_int(v, "id", 1);
	expect_str(v, "limit", "1000.00");
	v = desk_do(d, "arrangement.add",
	    "{\"counterparty_id\":2,\"kind\":\"lease\",\"currency\":\"JPY\"}");
	expect_int(v, "id", 2);
	assert_int_equal(json_get(v, "limit")->type, JSON_NULL);
	expect_fault(d, "arrangement.add",
	    "{\"counterparty_id\":7,\"kind\":\"lease\",\"currency\":\"JPY\"}",
	    "#/counterparty_id");
	expect_fault(d, "arrangement.add",
	    "{\"counterparty_id\":1,\"kind\":\"lease\",\"currency\":\"XAU\"}",
	    "#/currency");
	expect_fault(d, "arrangement.add",
	    "{\"counterparty_id\":1,\"kind\":\"lease\",\"currency\":\"JPY\","
	    "\"limit\":0.5}",
	    "#/limit");
	expect_fault(d, "arrangement.add",
	    "{\"counterparty_id\":1,\"kind\":\"lease\",\"currency\":\"JPY\","
	    "\"limit\":\"0\"}",
	    "#/limit");
}

static void
test_lists(void **state)
{
	struct desk *d = *state;
	struct json *v = desk_do(d, "connector.list", "{}"), *first;

	assert_int_equal(json_get(v, "data")->n, 2);
	assert_int_equal(json_get(v, "has_more")->type, JSON_FALSE);
	assert_int_equal(json_get(v, "next_after_id")->type, JSON_NULL);

	v = desk_do(d, "connector.list", "{\"limit\":1}");
	assert_int_equal(json_get(v, "data")->n, 1);
	assert_int_equal(json_get(v, "has_more")->type, JSON_TRUE);
	expect_int(v, "next_after_id", 1);
	v = desk_do(d, "connector.list", "{\"limit\":1,\"after_id\":1}");
	first = json_get(v, "data")->first;
	expect_int(first, "id", 2);
	expect_str(first, "name", "Drop");
	assert_int_equal(json_get(first, "modes")->n, 2);
	assert_int_equal(json_get(v, "has_more")->type, JSON_FALSE);

	first = json_get(desk_do(d, "counterparty.list", "{}"), "data")->first;
	expect_str(first, "account", "DE89370400440532013000");
	first = json_get(desk_do(d, "arrangement.list", "{}"), "data")->first;
	expect_str(first, "limit", "1000.00");
	expect_int(first, "counterparty_id", 1);
}

static void
test_rebuild(void **state)
{
	struct desk *d = *state;
	struct str before = desk_dump(d), after;

	desk_rebuild(d);
	after = desk_dump(d);
	assert_true(str_eq(before, after));
	assert_non_null(strstr(before.p, "INSERT INTO counterparty "));
	assert_null(strstr(before.p, "Lumber GmbH"));
	assert_null(strstr(before.p, "DE89370400440532013000"));
}

int
main(void)
{
	const struct CMUnitTest pure[] = {
		cmocka_unit_test(test_iban),
		cmocka_unit_test(test_iban_every_digit),
		cmocka_unit_test(test_account),
		cmocka_unit_test(test_lei),
		cmocka_unit_test(test_vectors),
	};
	/* One after the other over one ledger. */
	const struct CMUnitTest records[] = {
		cmocka_unit_test(test_connectors),
		cmocka_unit_test(test_counterparties),
		cmocka_unit_test(test_suspension),
		cmocka_unit_test(test_arrangements),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_rebuild),
	};

	return cmocka_run_group_tests(pure, NULL, NULL) ||
	       cmocka_run_group_tests(records, open_desk, close_desk);
}
