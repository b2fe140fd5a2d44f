#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fcgi/negotiation.h"

static const struct operation json_row = { .id = "a" };
static const struct operation bytes_row = { .id = "b",
	.media_type = "application/vnd.thing+json" };
static const struct operation several_row = { .id = "c",
	.renderings = (const char *const[]){ "application/json;profile=prov",
	    "text/html; charset=utf-8", NULL } };

static const struct {
	const char *accept; /* NULL: not sent */
	bool json, bytes, several;
} cases[] = {
	{ NULL, true, true, true },
	{ "", true, true, true },
	{ "*/*", true, true, true },
	{ "application/*", true, true, true },
	{ "Application/JSON", true, true, true },
	{ "application/json; charset=utf-8", true, true, true },
	{ "application/json;profile=prov", true, true, true },
	{ "application/problem+json", false, false, false },
	{ "application/vnd.thing+json", false, true, false },
	{ "text/html", false, false, true },
	{ "text/*", false, false, true },
	{ "text/html, application/json;q=0.1", true, true, true },
	{ "application/json;q=0", false, false, false },
	{ "application/json;q=0, */*", false, false, true },
	{ "*/*;q=0", false, false, false },
	{ "*/*;q=0.001", true, true, true },
	{ "application/*;q=0.0, text/html", false, false, true },
	{ "application/jsonx, image/png", false, false, false },
	{ "json", false, false, false },
	{ "*", false, false, false },
	{ "/", false, false, false },
	{ ",,;;", false, false, false },
};

static void
test_replies(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct header item = { STR("accept"),
			cases[i].accept ? str_from(cases[i].accept)
					: STR_NONE };
		struct headers h = { &item, cases[i].accept ? 1 : 0 };
		struct err e[3] = { { 0 }, { 0 }, { 0 } };

		if ((negotiation_check_reply(&h, &json_row, &e[0]) == 0) !=
			cases[i].json ||
		    (negotiation_check_reply(&h, &bytes_row, &e[1]) == 0) !=
			cases[i].bytes ||
		    (negotiation_check_reply(&h, &several_row, &e[2]) == 0) !=
			cases[i].several)
			fail_msg("case %zu: %s", i, cases[i].accept);
		assert_true(cases[i].json || e[0].kind == &err_not_acceptable);
	}
}

static void
test_preference(void **state)
{
	static const char json[] = "application/json", html[] = "text/html";

	(void)state;
	assert_false(negotiation_prefers(STR_NONE, json, html));
	assert_false(negotiation_prefers(STR("*/*"), json, html));
	assert_true(negotiation_prefers(STR("application/json"), json, html));
	assert_true(negotiation_prefers(
	    STR("text/html;q=0.5, application/json;q=0.75"), json, html));
	assert_false(negotiation_prefers(
	    STR("text/html,application/xhtml+xml,*/*;q=0.8"), json, html));
}

static void
test_html_rather_than_text(void **state)
{
	static const struct {
		const char *accept;
		bool wanted;
	} rows[] = {
		{ "text/html", true },
		{ "text/html,*/*;q=0.8", true },
		{ "text/html;level=1;q=0.3", true },
		{ "text/html;q=0.001", true },
		{ "text/plain, text/html;q=0.9", false },
		{ "text/plain;q=0.5, text/html;q=0.9", true },
		{ "text/html;q=0", false },
		{ "text/html;q=x", false },
		{ "*/*", false },
		{ "", false },
		{ ",;,;q", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(rows[i].wanted,
		    negotiation_prefers(
			str_from(rows[i].accept), "text/html", "text/plain"));
}

static int
check_body(const char *coding, struct str body, struct err *e)
{
	struct header item = { STR("content-encoding"), str_from(coding) };
	struct request r = { .headers = { &item, 1 }, .body = body };

	*e = (struct err){ 0 };
	return negotiation_check_body(&r, e);
}

static void
test_codings(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(check_body("identity", STR("{}"), &e), 0);
	assert_int_equal(check_body("gzip", STR(""), &e), 0);
	assert_int_equal(check_body("gzip", STR("{}"), &e), -1);
	assert_ptr_equal(e.kind, &err_media_type);
	assert_int_equal(check_body("identity, br", STR("{}"), &e), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replies),
		cmocka_unit_test(test_preference),
		cmocka_unit_test(test_html_rather_than_text),
		cmocka_unit_test(test_codings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
