#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fcgi/deprecation.h"

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

static const struct response_header *
announce(const struct operation *op, const struct param *params, size_t n)
{
	struct param copy[4];
	struct request r = { .params = copy, .n_params = n };
	struct response response = { 0 };

	for (size_t i = 0; i < n; i++)
		copy[i] = params[i];
	deprecation_announce(
	    op, &r, STR("https://a.example/p"), STR("/p"), a, &response);
	return response.headers;
}

static void
test_a_row_in_force_says_nothing(void **state)
{
	static const struct operation op = { .id = "a", .since = "2.0.0" };

	(void)state;
	assert_null(announce(&op, NULL, 0));
}

static void
assert_header(
    const struct response_header **h, const char *name, const char *value)
{
	assert_non_null(*h);
	assert_string_equal((*h)->name, name);
	if (!str_is((*h)->value, value))
		fail_msg("%s: %.*s", name, STR_ARGS((*h)->value));
	*h = (*h)->next;
}

/* date -u -d 2027-06-30 +%s: 1814313600; 2028-07-04 is a Tuesday. */
static void
test_fields(void **state)
{
	static const struct operation op = { .id = "a",
		.path = "/api/v2/a/{uid}",
		.deprecated = "2027-06-30",
		.sunset = "2028-07-04",
		.successor = "/api/v2/b/{uid}/parts" };
	const struct param uid = { STR("uid"), STR("1/ 2"), IN_PATH };
	const struct response_header *h = announce(&op, &uid, 1);

	(void)state;
	assert_header(&h, "Deprecation", "@1814313600");
	assert_header(&h, "Sunset", "Tue, 04 Jul 2028 00:00:00 GMT");
	assert_header(&h, "Link",
	    "<https://a.example/p/docs/changes>; rel=\"deprecation\"; "
	    "type=\"text/html\"");
	assert_header(&h, "Link",
	    "</p/api/v2/b/1%2F%202/parts>; rel=\"successor-version\"");
	assert_null(h);
}

/* A request that was refused before its path was read names no successor. */
static void
test_successor_without_its_name(void **state)
{
	static const struct operation op = { .id = "a",
		.path = "/api/v2/a/{uid}",
		.deprecated = "2027-06-30",
		.sunset = "2028-07-04",
		.successor = "/api/v2/b/{uid}" };
	const struct param other = { STR("uid"), STR("1"), IN_QUERY };
	const struct response_header *h = announce(&op, &other, 1);

	(void)state;
	assert_non_null(h);
	assert_non_null(h->next->next);
	assert_null(h->next->next->next);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_row_in_force_says_nothing),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_successor_without_its_name),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
