#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fcgi/router.h"

static const struct route routes[] = {
	{ .method = "GET", .path = "/api/v2/models" },
	{ .method = "POST", .path = "/api/v2/models" },
	{ .method = "GET", .path = "/api/v2/models/{uid}" },
	{ .method = "POST", .path = "/api/v2/models/{key}/run" },
	{ .method = "POST", .path = "/api/v2/models/search" },
	{ .method = "GET", .path = "/api/v2/a/{x}/b/{y}" },
	{ .method = "DELETE", .path = "/api/v2/hooks/{uid}" },
	{ .method = "GET", .path = "/docs/" },
};

/* The path's segments are few and hold no slash of their own. */
static int
find(const char *method, const char *path, struct route_match *match,
    struct err *e)
{
	struct router *router;
	struct str segments[ROUTE_SEGMENTS_MAX], rest = str_from(path);
	size_t n = 0;
	int rc;

	assert_int_equal(0, router_new(routes, sizeof routes / sizeof routes[0],
				&router, NULL));
	str_take(&rest, '/');
	while (rest.p)
		segments[n++] = str_take(&rest, '/');
	*e = (struct err){ 0 };
	rc = router_find(router, str_from(method), segments, n, match, e);
	router_free(router);
	return rc;
}

static void
assert_param(const struct param *p, const char *name, const char *value)
{
	assert_true(str_is(p->name, name));
	assert_true(str_is(p->value, value));
	assert_int_equal(IN_PATH, p->place);
}

static void
test_methods_share_a_path(void **state)
{
	struct route_match m;
	struct err e;

	(void)state;
	assert_int_equal(0, find("GET", "/api/v2/models", &m, &e));
	assert_ptr_equal(&routes[0], m.route);
	assert_int_equal(0, m.n_params);
	assert_int_equal(0, find("POST", "/api/v2/models", &m, &e));
	assert_ptr_equal(&routes[1], m.route);
}

/* A folder's own page; nothing else ends in an empty segment. */
static void
test_a_last_segment_may_be_empty(void **state)
{
	struct route_match m;
	struct err e;

	(void)state;
	assert_int_equal(0, find("GET", "/docs/", &m, &e));
	assert_ptr_equal(&routes[7], m.route);
	assert_int_equal(-1, find("GET", "/docs", &m, &e));
	assert_int_equal(-1, find("GET", "/docs//", &m, &e));
}

static void
test_params_have_their_rows_names(void **state)
{
	struct route_match m;
	struct err e;

	(void)state;
	assert_int_equal(0, find("GET", "/api/v2/models/7", &m, &e));
	assert_ptr_equal(&routes[2], m.route);
	assert_int_equal(1, m.n_params);
	assert_param(&m.params[0], "uid", "7");
	assert_int_equal(0, find("POST", "/api/v2/models/7/run", &m, &e));
	assert_int_equal(1, m.n_params);
	assert_param(&m.params[0], "key", "7");
	assert_int_equal(0, find("GET", "/api/v2/a/1/b/2", &m, &e));
	assert_int_equal(2, m.n_params);
	assert_param(&m.params[0], "x", "1");
	assert_param(&m.params[1], "y", "2");
}

static void
test_literal_wins_and_gives_way(void **state)
{
	struct route_match m;
	struct err e;

	(void)state;
	assert_int_equal(0, find("POST", "/api/v2/models/search", &m, &e));
	assert_ptr_equal(&routes[4], m.route);
	assert_int_equal(0, m.n_params);
	/* "search" leads nowhere here, so it is a key. */
	assert_int_equal(0, find("POST", "/api/v2/models/search/run", &m, &e));
	assert_ptr_equal(&routes[3], m.route);
	assert_param(&m.params[0], "key", "search");
}

static void
test_unknown_paths(void **state)
{
	static const char *const paths[] = { "/", "/api", "/api/v2",
		"/api/v2/models/", "/api/v2/models/7/", "/api/v2/models/7/runs",
		"/api/v2/Models", "/api/v2/a//b/2", "/x/y/z" };
	struct route_match m;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		assert_int_equal(-1, find("GET", paths[i], &m, &e));
		assert_ptr_equal(&err_not_found, e.kind);
	}
}

static void
test_other_methods(void **state)
{
	struct route_match m;
	struct err e;

	(void)state;
	assert_int_equal(-1, find("DELETE", "/api/v2/models", &m, &e));
	assert_ptr_equal(&err_method, e.kind);
	assert_string_equal("GET, HEAD, POST, OPTIONS", m.allow);
	assert_int_equal(-1, find("HEAD", "/api/v2/models/7/run", &m, &e));
	assert_ptr_equal(&err_method, e.kind);
	assert_string_equal("POST, OPTIONS", m.allow);
	assert_int_equal(-1, find("get", "/api/v2/models", &m, &e));
	assert_ptr_equal(&err_method, e.kind);
	assert_int_equal(0, find("OPTIONS", "/api/v2/hooks/7", &m, &e));
	assert_null(m.route);
	assert_string_equal("DELETE, OPTIONS", m.allow);
	assert_int_equal(0, find("HEAD", "/api/v2/models/7", &m, &e));
	assert_true(m.head);
	assert_ptr_equal(&routes[2], m.route);
}

static void
test_faulty_tables(void **state)
{
	static const struct route twice[] = {
		{ .method = "GET", .path = "/a/{x}" },
		{ .method = "GET", .path = "/a/{y}" },
	};
	static const struct route bad[] = {
		{ .method = "GET", .path = "" },
		{ .method = "GET", .path = "/" },
		{ .method = "GET", .path = "a" },
		{ .method = "GET", .path = "/a//b" },
		{ .method = "GET", .path = "/a/{}//" },
		{ .method = "GET",
		    .path = "/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h" },
		{ .method = "GET",
		    .path = "/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}" },
	};
	struct router *router;

	(void)state;
	assert_int_equal(-1, router_new(twice, 2, &router, NULL));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(-1, router_new(&bad[i], 1, &router, NULL));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_methods_share_a_path),
		cmocka_unit_test(test_a_last_segment_may_be_empty),
		cmocka_unit_test(test_params_have_their_rows_names),
		cmocka_unit_test(test_literal_wins_and_gives_way),
		cmocka_unit_test(test_unknown_paths),
		cmocka_unit_test(test_other_methods),
		cmocka_unit_test(test_faulty_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
