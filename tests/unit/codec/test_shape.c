#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/codec/shape.h"

struct line {
	struct str account;
	struct decimal amount;
};

struct thing {
	struct str name;
	struct str status;
	int64_t count;
	int64_t above;
	struct opt_int limit;
	bool dry_run;
	struct decimal amount;
	struct uid uid;
	struct instant at;
	struct digest_text sha256;
	const struct json *extra;
	const void *first;
	struct list lines;
	struct str_list tags;
	int64_t page;
	struct str due;
	struct uid action_uid;
};

extern const struct shape line_shape, thing_shape;

SHAPE(line, "A line",
    FIELD(line, account, .required = true, .min = 1, .max = 4),
    FIELD(line, amount, .required = true));

SHAPE(thing, "A thing",
    FIELD(thing, name, .required = true, .max = 5, .min = 2, .doc = "Its name"),
    FIELD(thing, status, .values = VALUES("open", "closed"), .def = "open"),
    FIELD(thing, count, .max = 10), FIELD(thing, above, .min = -3),
    FIELD(thing, limit, .omit_null = true),
    FIELD(thing, dry_run, .place = IN_BODY),
    FIELD(thing, amount, .place = IN_BODY), FIELD(thing, uid, .place = IN_BODY),
    FIELD(thing, at, .place = IN_BODY), FIELD(thing, sha256, .place = IN_BODY),
    FIELD(thing, extra, .place = IN_BODY),
    FIELD(thing, first, .of = &line_shape),
    FIELD(thing, lines, .of = &line_shape, .max = 3, .omit_null = true),
    FIELD(thing, tags, .values = VALUES("a", "b"), .min = 1),
    FIELD(thing, page, .place = IN_QUERY, .def = "50", .min = 1, .max = 200),
    FIELD(thing, due, .place = IN_QUERY, .format = &format_date),
    FIELD(thing, action_uid, .place = IN_PATH));

static struct arena *arena;

static int
setup(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static struct json *
parse(const char *text)
{
	struct err e = { 0 };
	struct json *v = NULL;

	if (json_parse(arena, str_from(text), &json_limits_default, &v, &e))
		fail_msg("%s: %s", text, e.detail);
	return v;
}

static struct str
written(const struct json *v)
{
	struct str out;
	struct buf b;

	buf_init(&b, 1 << 20);
	json_write(v, &b);
	out = arena_str(arena, buf_str(&b));
	buf_fini(&b);
	return out;
}

/* "place at code", one fault a line. */
static struct str
faults_of(const struct err *e)
{
	struct str out;
	struct buf b;

	buf_init(&b, 65536);
	for (const struct err_field *f = e->fields; f; f = f->next) {
		assert_true(strlen(f->detail) > 5);
		buf_addf(&b, "%s %s %s\n", f->place, f->at, f->code);
	}
	out = arena_str(arena, buf_str(&b));
	buf_fini(&b);
	return out;
}

static void
expect_faults(const char *body, const char *faults)
{
	struct input input = { .body = body ? parse(body) : NULL };
	struct err e = { 0 };
	struct thing t;
	int rc = shape_decode(&thing_shape, &input, arena, &t, &e);

	assert_string_equal(faults_of(&e).p, faults);
	assert_int_equal(rc, faults[0] ? -1 : 0);
	assert_ptr_equal(e.kind, faults[0] ? &err_invalid : NULL);
}

static void
test_full(void **state)
{
	struct input input = {
		.body = parse(
		    "{\"name\":\"caf\xc3\xa9s\",\"status\":\"closed\",\"count\":10,"
		    "\"above\":-3,\"limit\":0,\"dry_run\":true,\"amount\":1.50,"
		    "\"uid\":\"017F22E2-79B0-7CC3-98C4-DC0C0C07398F\","
		    "\"at\":\"1996-12-19T16:39:57-08:00\",\"sha256\":"
		    "\"be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687\","
		    "\"extra\":{\"z\":[1.5]},\"first\":{\"account\":\"1\",\"amount\":2},"
		    "\"lines\":[{\"account\":\"2\",\"amount\":\"-0.10\"}],"
		    "\"tags\":[\"b\",\"a\"]}")
	};
	struct err e = { 0 };
	struct thing t, back;
	struct json *encoded;

	(void)state;
	assert_int_equal(shape_decode(&thing_shape, &input, arena, &t, &e), 0);
	assert_int_equal(t.above, -3);
	assert_true(t.limit.set && t.limit.v == 0);
	assert_int_equal(t.page, 50);
	assert_true(str_is(t.amount.text, "1.50"));
	encoded = shape_encode(&thing_shape, &t, arena);
	assert_string_equal(written(encoded).p,
	    "{\"name\":\"caf\xc3\xa9s\",\"status\":\"closed\",\"count\":10,"
	    "\"above\":-3,\"limit\":0,\"dry_run\":true,\"amount\":\"1.50\","
	    "\"uid\":\"017f22e2-79b0-7cc3-98c4-dc0c0c07398f\","
	    "\"at\":\"1996-12-20T00:39:57.000000Z\",\"sha256\":"
	    "\"be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687\","
	    "\"extra\":{\"z\":[1.5]},\"first\":{\"account\":\"1\",\"amount\":"
	    "\"2\"},\"lines\":[{\"account\":\"2\",\"amount\":\"-0.10\"}],"
	    "\"tags\":[\"b\",\"a\"],\"page\":50,\"due\":null,"
	    "\"action_uid\":null}");
	/* What was encoded decodes to the same again, as events do. */
	assert_int_equal(
	    shape_decode_json(&thing_shape, encoded, arena, &back, &e), 0);
	assert_true(str_eq(written(shape_encode(&thing_shape, &back, arena)),
	    written(encoded)));
}

static void
test_absent_and_null(void **state)
{
	struct input input = {
		.body = parse(
		    "{\"name\":\"ab\",\"status\":null,\"limit\":null,\"amount\":null,"
		    "\"uid\":null,\"at\":null,\"sha256\":null,\"extra\":null,"
		    "\"first\":null,\"tags\":[\"a\"]}")
	};
	struct err e = { 0 };
	struct thing t;

	(void)state;
	memset(&t, 0xff, sizeof t);
	assert_int_equal(shape_decode(&thing_shape, &input, arena, &t, &e), 0);
	assert_string_equal(written(shape_encode(&thing_shape, &t, arena)).p,
	    "{\"name\":\"ab\",\"status\":\"open\",\"count\":0,\"above\":0,"
	    "\"dry_run\":false,\"amount\":null,\"uid\":null,\"at\":null,"
	    "\"sha256\":null,\"extra\":null,\"first\":null,\"tags\":[\"a\"],"
	    "\"page\":50,\"due\":null,\"action_uid\":null}");
	expect_faults("{\"name\":null,\"count\":null,\"dry_run\":null,"
		      "\"lines\":null,\"tags\":null}",
	    "pointer #/name required\npointer #/count type\n"
	    "pointer #/dry_run type\npointer #/lines type\n"
	    "pointer #/tags type\n");
	expect_faults(NULL, "pointer #/name required\n");
	expect_faults("[]", "pointer # type\n");
	expect_faults("null", "pointer # type\n");
}

static void
test_all_faults_at_once(void **state)
{
	(void)state;
	expect_faults(
	    "{\"name\":\"toolong\",\"count\":11,\"above\":-4,"
	    "\"limit\":1.0,\"dry_run\":\"true\",\"amount\":\"x\","
	    "\"uid\":\"\",\"at\":\"2026-01-01\",\"sha256\":\"AB\","
	    "\"first\":[],\"lines\":[{\"account\":\"\",\"amount\":"
	    "1e400},5,{\"a~/ %\xc3\xa9\":1}],\"tags\":[\"a\",\"c\",1],"
	    "\"status\":\"gone\",\"page\":3,\"\":0}",
	    "pointer #/name too_long\npointer #/count maximum\n"
	    "pointer #/above minimum\npointer #/limit type\n"
	    "pointer #/dry_run type\npointer #/amount type\n"
	    "pointer #/uid format\npointer #/at format\n"
	    "pointer #/sha256 format\npointer #/first type\n"
	    "pointer #/lines/0/account too_short\npointer #/lines/1 type\n"
	    "pointer #/lines/2/a~0~1%20%25%C3%A9 unknown\n"
	    "pointer #/lines/2/account required\n"
	    "pointer #/lines/2/amount required\npointer #/tags/1 enum\n"
	    "pointer #/tags/2 type\npointer #/status enum\n"
	    "pointer #/page unknown\npointer #/ unknown\n");
	expect_faults("{\"name\":\"a\",\"lines\":[1,2,3,4],\"tags\":[]}",
	    "pointer #/name too_short\npointer #/lines too_long\n"
	    "pointer #/tags too_short\n");
	expect_faults("{\"name\":\"a\\u0000\"}", "pointer #/name format\n");
	expect_faults("{\"name\":\"ab\",\"uid\":"
		      "\"00000000-0000-0000-0000-000000000000\","
		      "\"at\":\"1970-01-01T00:00:00Z\"}",
	    "pointer #/uid format\npointer #/at format\n");
}

static void
expect_count(const char *lexeme, const char *code)
{
	expect_faults(
	    arena_printf(arena, "{\"name\":\"ab\",\"count\":%s}", lexeme),
	    code ? arena_printf(arena, "pointer #/count %s\n", code) : "");
}

static void
expect_amount(const char *lexeme, const char *code)
{
	expect_faults(
	    arena_printf(arena, "{\"name\":\"ab\",\"amount\":%s}", lexeme),
	    code ? arena_printf(arena, "pointer #/amount %s\n", code) : "");
}

static void
test_numbers(void **state)
{
	struct input input = { .body = parse("{\"name\":\"ab\","
					     "\"limit\":-9007199254740991}") };
	struct err e = { 0 };
	struct thing t;

	(void)state;
	expect_count("-0", NULL);
	expect_count("-1", "minimum");
	expect_count("1e1", "type");
	expect_count("1.0", "type");
	expect_count("\"1\"", "type");
	expect_count("99999999999999999999999999", "maximum");
	expect_count("-99999999999999999999999999", "minimum");
	assert_int_equal(shape_decode(&thing_shape, &input, arena, &t, &e), 0);
	assert_int_equal(t.limit.v, -INT64_C(9007199254740991));
	expect_faults("{\"name\":\"ab\",\"limit\":9007199254740992}",
	    "pointer #/limit maximum\n");
	expect_amount("1e400", NULL);
	expect_amount("-0", NULL);
	expect_amount("\"-0.00\"", NULL);
	expect_amount("\"1e5\"", NULL);
	expect_amount("\"NaN\"", "type");
	expect_amount("\"\"", "type");
	expect_amount("\"1.\"", "type");
	expect_amount("\"01\"", "type");
	expect_amount("\" 1\"", "type");
	expect_amount("\"1e\"", "type");
	expect_amount("true", "type");
	expect_amount("1234567890123456789012345678901234567890123456789012345"
		      "678901234",
	    NULL);
	expect_amount("1234567890123456789012345678901234567890123456789012345"
		      "6789012345",
	    "too_long");
}

static void
expect_params(const struct param *params, size_t n, bool flat, const char *body,
    const char *faults)
{
	struct input input = { .body = body ? parse(body) : NULL,
		.params = params,
		.n_params = n,
		.flat = flat };
	struct err e = { 0 };
	struct thing t;
	int rc = shape_decode(&thing_shape, &input, arena, &t, &e);

	assert_string_equal(faults_of(&e).p, faults);
	assert_int_equal(rc, faults[0] ? -1 : 0);
}

static void
test_parameters(void **state)
{
	const struct param params[] = { { STR("page"), STR("201"), IN_QUERY },
		{ STR("page"), STR("2"), IN_QUERY },
		{ STR("due"), STR("2026-02-30"), IN_QUERY },
		{ STR("name"), STR("ab"), IN_QUERY },
		{ STR("action_uid"), STR("x"), IN_PATH },
		{ STR("nope"), STR(""), IN_QUERY } };
	const struct param wrong[] = { { STR("action_uid"), STR("x"),
					   IN_QUERY },
		{ STR("page"), STR("1.0"), IN_QUERY } };
	const struct param nil[] = { { STR("action_uid"),
	    STR("00000000-0000-0000-0000-000000000000"), IN_PATH } };

	(void)state;
	expect_params(nil, 1, false, "{\"name\":\"ab\"}", "");
	expect_params(params, 6, false, "{\"name\":\"ab\"}",
	    "parameter page maximum\nparameter page duplicate\n"
	    "parameter due format\nparameter name unknown\n"
	    "parameter action_uid format\nparameter nope unknown\n");
	expect_params(wrong, 2, false, "{\"name\":\"ab\"}",
	    "parameter action_uid unknown\nparameter page type\n");
}

/* From a command line, everything is text; a body may name any field. */
static void
test_flat(void **state)
{
	const struct param good[] = { { STR("name"), STR("ab"), IN_QUERY },
		{ STR("dry_run"), STR("true"), IN_QUERY },
		{ STR("tags"), STR("a,b"), IN_QUERY },
		{ STR("amount"), STR("1.5"), IN_QUERY },
		{ STR("first"), STR("{\"account\":\"1\",\"amount\":2}"),
		    IN_QUERY } };
	const struct param bad[] = { { STR("name"), STR("ab"), IN_QUERY },
		{ STR("dry_run"), STR("yes"), IN_QUERY },
		{ STR("tags"), STR("[\"a\",\"x\"]"), IN_QUERY },
		{ STR("extra"), STR("{"), IN_QUERY } };
	struct input input = { .params = good,
		.n_params = 5,
		.flat = true,
		.body = parse("{\"page\":7}") };
	struct err e = { 0 };
	struct thing t;

	(void)state;
	assert_int_equal(shape_decode(&thing_shape, &input, arena, &t, &e), 0);
	assert_true(t.dry_run);
	assert_int_equal(t.tags.n, 2);
	assert_true(str_is(t.tags.items[1], "b"));
	assert_true(str_is(((const struct line *)t.first)->account, "1"));
	assert_int_equal(t.page, 7);
	expect_params(bad, 4, true, "{\"name\":\"ab\"}",
	    "parameter dry_run type\nparameter tags enum\n"
	    "parameter extra type\npointer #/name duplicate\n");
}

/* A body full of faults costs no more than the faults that are kept. */
static void
test_many_faults(void **state)
{
	struct json *body = json_object(arena);
	struct input input = { .body = body };
	struct err e = { 0 };
	struct thing t;
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 5000; i++)
		json_put_int(
		    arena, body, arena_printf(arena, "unknown_%d", i), i);
	assert_int_equal(shape_decode(&thing_shape, &input, arena, &t, &e), -1);
	for (const struct err_field *f = e.fields; f; f = f->next)
		n++;
	assert_int_equal(n, 64);
}

static void
test_hostile_names(void **state)
{
	struct json *body = json_object(arena), *v = json_null(arena);
	struct input input = { .body = body };
	char *wide = arena_alloc(arena, 3001);
	struct err e = { 0 };
	struct thing t;

	(void)state;
	for (int i = 0; i < 3000; i += 3)
		memcpy(wide + i, "\xe2\x82\xac", 3);
	json_put(body, wide, json_null(arena));
	json_put(body, "", v);
	v->name = STR("name\0x");
	assert_int_equal(shape_decode(&thing_shape, &input, arena, &t, &e), -1);
	assert_int_equal(strlen(e.fields->at), 2 + 21 * 9);
	assert_string_equal(e.fields->next->at, "#/name%00x");
	assert_string_equal(e.fields->next->code, "unknown");
}

static void
test_formats(void **state)
{
	(void)state;
	assert_true(format_key.check(STR("a.b_c-9")));
	assert_false(format_key.check(STR("")));
	assert_false(format_key.check(STR(".a")));
	assert_false(format_key.check(STR("aB")));
	assert_true(format_currency.check(STR("EUR")));
	assert_false(format_currency.check(STR("EURO")));
	assert_false(format_currency.check(STR("eur")));
	assert_true(format_text.check(STR("caf\xc3\xa9 \xc2\xa0")));
	assert_false(format_text.check(STR("a\n")));
	assert_false(format_text.check(STR("\x7f")));
	assert_false(format_text.check(STR("\xc2\x85")));
	assert_true(format_date.check(STR("2024-02-29")));
	assert_false(format_date.check(STR("2023-02-29")));
}

static void
test_decimals(void **state)
{
	(void)state;
	assert_true(decimal_is_valid(STR("0")));
	assert_true(decimal_is_valid(STR("-0.10")));
	assert_true(
	    decimal_is_valid(STR("1234567890123456789012345678901234567.890")));
	assert_false(decimal_is_valid(
	    STR("12345678901234567890123456789012345678.901")));
	assert_false(decimal_is_valid(STR("")));
	assert_false(decimal_is_valid(STR_NONE));
	assert_false(decimal_is_valid(STR("-")));
	assert_false(decimal_is_valid(STR("+1")));
	assert_false(decimal_is_valid(STR("1.")));
	assert_false(decimal_is_valid(STR(".1")));
	assert_false(decimal_is_valid(STR("00.1")));
	assert_false(decimal_is_valid(STR("1e3")));
	assert_false(decimal_is_valid(STR("1.2.3")));
}

static void
test_nothing(void **state)
{
	struct input none = { .body = NULL }, some = { .body = parse("{}") };
	struct input more = { .body = parse("{\"a\":1}") };
	struct err e = { 0 };
	struct nothing out;

	(void)state;
	assert_int_equal(
	    shape_decode(&nothing_shape, &none, arena, &out, &e), 0);
	assert_int_equal(
	    shape_decode(&nothing_shape, &some, arena, &out, &e), 0);
	assert_int_equal(
	    shape_decode(&nothing_shape, &more, arena, &out, &e), -1);
	assert_string_equal(
	    written(shape_encode(&nothing_shape, &out, arena)).p, "{}");
}

static void
expect_schema(enum field_place place, bool reply, const char *want)
{
	assert_string_equal(
	    written(shape_schema(&thing_shape, place, reply, arena)).p, want);
}

#define NUMBER_PATTERN \
	"\"pattern\":\"^-?(0|[1-9][0-9]*)(\\\\.[0-9]+)?([eE][+-]?[0-9]+)?$\""
#define TAKEN_LINE                                                                      \
	"\"properties\":{\"account\":{\"type\":\"string\",\"minLength\":1,"             \
	"\"maxLength\":4},\"amount\":{\"type\":[\"string\",\"number\"]," NUMBER_PATTERN \
	",\"maxLength\":64}},"                                                          \
	"\"required\":[\"account\",\"amount\"],"                                        \
	"\"additionalProperties\":false,\"description\":\"A line\"}"
#define REPLIED_LINE                                                          \
	"\"properties\":{\"account\":{\"type\":\"string\"},\"amount\":{"      \
	"\"type\":\"string\"," NUMBER_PATTERN "}},\"required\":[\"account\"," \
	"\"amount\"],\"description\":\"A line\"}"

static void
test_schema_taken(void **state)
{
	(void)state;
	expect_schema(IN_BODY, false,
	    "{\"type\":\"object\",\"properties\":{"
	    "\"name\":{\"type\":\"string\",\"minLength\":2,\"maxLength\":5,"
	    "\"description\":\"Its name\"},"
	    "\"status\":{\"type\":[\"string\",\"null\"],\"maxLength\":4096,"
	    "\"enum\":[\"open\",\"closed\",null],\"default\":\"open\"},"
	    "\"count\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":10},"
	    "\"above\":{\"type\":\"integer\",\"minimum\":-3,"
	    "\"maximum\":9007199254740991},"
	    "\"limit\":{\"type\":[\"integer\",\"null\"],"
	    "\"minimum\":-9007199254740991,\"maximum\":9007199254740991},"
	    "\"dry_run\":{\"type\":\"boolean\"},"
	    "\"amount\":{\"type\":[\"string\",\"number\",\"null\"]," NUMBER_PATTERN
	    ",\"maxLength\":64},"
	    "\"uid\":{\"type\":[\"string\",\"null\"],\"format\":\"uuid\"},"
	    "\"at\":{\"type\":[\"string\",\"null\"],\"format\":\"date-time\"},"
	    "\"sha256\":{\"type\":[\"string\",\"null\"],"
	    "\"pattern\":\"^[0-9a-f]{64}$\"},"
	    "\"extra\":{},"
	    "\"first\":{\"type\":[\"object\",\"null\"]," TAKEN_LINE ","
	    "\"lines\":{\"type\":\"array\",\"maxItems\":3,\"items\":{"
	    "\"type\":\"object\"," TAKEN_LINE "},"
	    "\"tags\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":1000,"
	    "\"items\":{\"type\":\"string\",\"enum\":[\"a\",\"b\"],"
	    "\"maxLength\":4096}}},"
	    "\"required\":[\"name\"],\"additionalProperties\":false,"
	    "\"description\":\"A thing\"}");
	expect_schema(IN_QUERY, false,
	    "{\"type\":\"object\",\"properties\":{"
	    "\"page\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":200,"
	    "\"default\":50},"
	    "\"due\":{\"type\":\"string\",\"maxLength\":4096,"
	    "\"format\":\"date\","
	    "\"pattern\":\"^[0-9]{4}-[0-9]{2}-[0-9]{2}$\"}},"
	    "\"additionalProperties\":false,\"description\":\"A thing\"}");
}

static void
test_schema_replied(void **state)
{
	(void)state;
	expect_schema(IN_BODY, true,
	    "{\"type\":\"object\",\"properties\":{"
	    "\"name\":{\"type\":\"string\",\"description\":\"Its name\"},"
	    "\"status\":{\"type\":[\"string\",\"null\"],"
	    "\"enum\":[\"open\",\"closed\",null]},"
	    "\"count\":{\"type\":\"integer\"},"
	    "\"above\":{\"type\":\"integer\"},"
	    "\"limit\":{\"type\":\"integer\"},"
	    "\"dry_run\":{\"type\":\"boolean\"},"
	    "\"amount\":{\"type\":[\"string\",\"null\"]," NUMBER_PATTERN "},"
	    "\"uid\":{\"type\":[\"string\",\"null\"],\"format\":\"uuid\"},"
	    "\"at\":{\"type\":[\"string\",\"null\"],\"format\":\"date-time\"},"
	    "\"sha256\":{\"type\":[\"string\",\"null\"],"
	    "\"pattern\":\"^[0-9a-f]{64}$\"},"
	    "\"extra\":{},"
	    "\"first\":{\"type\":[\"object\",\"null\"]," REPLIED_LINE ","
	    "\"lines\":{\"type\":\"array\",\"items\":{\"type\":\"object\"," REPLIED_LINE
	    "},"
	    "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\","
	    "\"enum\":[\"a\",\"b\"]}},"
	    "\"page\":{\"type\":\"integer\"},"
	    "\"due\":{\"type\":[\"string\",\"null\"],\"format\":\"date\","
	    "\"pattern\":\"^[0-9]{4}-[0-9]{2}-[0-9]{2}$\"},"
	    "\"action_uid\":{\"type\":[\"string\",\"null\"],"
	    "\"format\":\"uuid\"}},"
	    "\"required\":[\"name\",\"status\",\"count\",\"above\","
	    "\"dry_run\",\"amount\",\"uid\",\"at\",\"sha256\",\"extra\","
	    "\"first\",\"tags\",\"page\",\"due\",\"action_uid\"],"
	    "\"description\":\"A thing\"}");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_absent_and_null),
		cmocka_unit_test(test_all_faults_at_once),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_parameters),
		cmocka_unit_test(test_flat),
		cmocka_unit_test(test_many_faults),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_decimals),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_schema_taken),
		cmocka_unit_test(test_schema_replied),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
