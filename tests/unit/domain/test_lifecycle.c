#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "domain/catalog_check.h"
#include "domain/lifecycle.h"

static struct arena *a;

static int
setup(void **state)
{
	(void)state;
	a = arena_new();
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_free(a);
	return 0;
}

struct thing {
	struct uid uid;
};

SHAPE(thing, "A thing",
    FIELD(thing, uid, .place = IN_PATH, .required = true, .doc = "Which"));

static int
reads(struct context *c, const void *in, void *out, struct err *e)
{
	(void)c;
	(void)in;
	(void)out;
	(void)e;
	return 0;
}

#define EXAMPLES                                                          \
	"{\"examples\":[{\"name\":\"shown\",\"summary\":\"One\","         \
	"\"status\":200,\"reply\":{}},{\"name\":\"refused\",\"summary\":" \
	"\"None\",\"status\":404,\"reply\":{\"status\":404}}]}"
#define OF(name)                                                               \
	.id = name ".show", .method = "GET", .path = "/api/v2/" name "/{uid}", \
	.scope = "trust:read", .entitlement = "core-platform",                 \
	.product = "Core Platform", .summary = "Show", .since = "2.0.0",       \
	.status = 200, .in = &thing_shape, .out = &thing_shape,                \
	.effect = EFFECT_READ, .read = reads, .examples = EXAMPLES

static const struct operation new_row = { OF("new") };
static const struct operation old_row = { OF("old"), .deprecated = "2027-01-31",
	.sunset = "2028-01-31", .successor = "/api/v2/new/{uid}" };

static const struct {
	struct operation op;
	const char *expect; /* NULL: no fault */
} cases[] = {
	{ { OF("old") }, NULL },
	{ { OF("old"), .stability = "Beta" }, NULL },
	{ { OF("old"), .stability = "Shaky" }, "stability is not" },
	{ { OF("old"), .deprecated = "2027-01-31", .sunset = "2028-01-31" },
	    NULL },
	{ { OF("old"), .deprecated = "2027-01-31", .sunset = "2028-01-30" },
	    "under a year" },
	{ { OF("old"), .deprecated = "2099-12-31", .sunset = "2100-12-31" },
	    NULL },
	{ { OF("old"), .deprecated = "2099-12-31", .sunset = "2100-12-30" },
	    "under a year" },
	{ { OF("old"), .deprecated = "2028-02-29", .sunset = "2029-02-28" },
	    "under a year" },
	{ { OF("old"), .deprecated = "2028-02-29", .sunset = "2029-03-01" },
	    NULL },
	{ { OF("old"), .deprecated = "2027-02-30", .sunset = "2029-03-01" },
	    "are dates" },
	{ { OF("old"), .deprecated = "soon", .sunset = "later" }, "are dates" },
	{ { OF("old"), .deprecated = "2027-01-31" }, "has no sunset" },
	{ { OF("old"), .sunset = "2028-01-31" }, "is not deprecated" },
	{ { OF("old"), .successor = "/api/v2/new/{uid}" },
	    "is not deprecated" },
	{ { OF("old"), .deprecated = "2027-01-31", .sunset = "2028-01-31",
	      .successor = "/api/v2/new/{uid}" },
	    NULL },
	{ { OF("old"), .deprecated = "2027-01-31", .sunset = "2028-01-31",
	      .successor = "/api/v2/newer/{uid}" },
	    "successor is no row" },
	{ { OF("old"), .deprecated = "2027-01-31", .sunset = "2028-01-31",
	      .successor = "/api/v2/old/{uid}" },
	    "successor is no row" },
	{ { OF("old"), .deprecated = "2027-01-31", .sunset = "2028-01-31",
	      .successor = "/api/v2/new/{id}" },
	    "what the path has not" },
};

static void
test_each_fault_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct operation *const rows[] = { &cases[i].op, &new_row,
			NULL };
		const struct group group = { .operations = rows };
		const struct group *const groups[] = { &group, NULL };
		struct buf b;
		bool good;

		buf_init(&b, 65536);
		good = catalog_check_groups(groups, &b);
		buf_add_byte(&b, '\0');
		if (good != !cases[i].expect ||
		    (!good && !strstr(b.p, cases[i].expect)))
			fail_msg("case %zu: %s", i, b.p);
		buf_fini(&b);
	}
}

static void
assert_text(const struct json *v, const char *name, const char *text)
{
	if (!str_is(json_get_str(v, name), text))
		fail_msg("%s is not %s", name, text);
}

static void
test_the_document_says_it(void **state)
{
	struct json *v = json_object(a);

	(void)state;
	lifecycle_describe(a, &new_row, v);
	assert_text(v, "x-product", "Core Platform");
	assert_text(v, "x-stability", "Stable");
	assert_text(v, "x-lifecycle", "Published");
	assert_text(v, "x-since", "2.0.0");
	assert_null(json_get(v, "deprecated"));
	assert_null(json_get(v, "x-sunset"));
	v = json_object(a);
	lifecycle_describe(a, &old_row, v);
	assert_text(v, "x-lifecycle", "Deprecated");
	assert_int_equal(json_get(v, "deprecated")->type, JSON_TRUE);
	assert_text(v, "x-deprecated", "2027-01-31");
	assert_text(v, "x-sunset", "2028-01-31");
	assert_text(v, "x-successor", "/api/v2/new/{uid}");
}

static const char document[] =
    "{\"info\":{\"version\":\"2.0.0\"},\"paths\":{"
    "\"/api/v2/new/{uid}\":{\"get\":{\"security\":"
    "[{\"bearer\":[\"trust:read\"]},{\"oauth\":[\"trust:read\"]}]}},"
    "\"/api/v2/old/{uid}\":{\"get\":{\"security\":"
    "[{\"bearer\":[\"%s\"]},{\"oauth\":[%s]}]}}}}";

static const struct json *
changes(const char *scope, const char *scopes)
{
	const struct operation *const rows[] = { &new_row, &old_row, NULL };
	const struct group group = { .operations = rows };
	const struct group *const groups[] = { &group, NULL };
	struct err e = { 0 };
	struct json *v;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	assert_int_equal(json_parse(a, arena_strf(a, document, scope, scopes),
			     &json_limits_default, &v, &e),
	    0);
#pragma GCC diagnostic pop
	return lifecycle_changes(a, groups, v);
}

static int64_t
total(const struct json *v, const char *name)
{
	int64_t n = -1;

	assert_true(json_get_int(json_get(v, "totals"), name, &n));
	return n;
}

static void
test_changes(void **state)
{
	const struct json *v = changes("trust:read", "\"trust:read\"");
	const struct json *first = json_get(v, "data")->first;

	(void)state;
	assert_text(v, "version", "2.0.0");
	assert_int_equal(total(v, "operations"), 2);
	assert_int_equal(total(v, "catalog_mappings"), 2);
	assert_int_equal(total(v, "scope_mismatches"), 0);
	assert_int_equal(total(v, "deprecated"), 1);
	assert_text(first, "operation", "GET /api/v2/new/{uid}");
	assert_text(first, "alignment", "aligned");
	assert_text(first, "lifecycle", "Published");
	assert_text(first, "summary", "Published in 2.0.0: Show");
	assert_text(first->next, "lifecycle", "Deprecated");
	assert_text(first->next, "sunset", "2028-01-31");
}

static void
test_a_mismatch_is_counted(void **state)
{
	static const char *const bad[][2] = {
		{ "trust:write", "\"trust:read\"" },
		{ "trust:read", "\"trust:write\"" },
		{ "trust:read", "" },
		{ "trust:read", "\"trust:read\",\"trust:write\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		const struct json *v = changes(bad[i][0], bad[i][1]);

		assert_int_equal(total(v, "scope_mismatches"), 1);
		assert_text(
		    json_get(v, "data")->first->next, "alignment", "mismatch");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_fault_is_found),
		cmocka_unit_test(test_the_document_says_it),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_a_mismatch_is_counted),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
