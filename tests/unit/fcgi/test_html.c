#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "domain/catalog.h"
#include "fcgi/reference.h"

static void
test_markup_is_escaped(void **state)
{
	struct buf out;
	struct html h = { .out = &out };

	(void)state;
	buf_init(&out, 1024);
	html_text(&h, STR("<a href='x'>\"&\" ü</a>"));
	assert_true(str_is(buf_str(&out),
	    "&lt;a href=&#39;x&#39;&gt;&quot;&amp;&quot; ü&lt;/a&gt;"));
	buf_reset(&out);
	html_text(&h, STR_NONE);
	assert_int_equal(0, out.n);
	buf_fini(&out);
}

static void
test_json_is_escaped(void **state)
{
	struct arena *a = arena_new();
	struct buf out;
	struct html h = { .out = &out, .arena = a };

	(void)state;
	buf_init(&out, 1024);
	html_json(&h, "Reply", json_string(a, STR("</code><script>")));
	buf_add_byte(&out, '\0');
	assert_null(strstr(out.p, "<script>"));
	assert_non_null(strstr(out.p, "&lt;/code&gt;&lt;script&gt;"));
	buf_fini(&out);
	arena_free(a);
}

static void
test_names_of_products(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	assert_true(
	    str_is(reference_slug(a, STR("Agents & MCP")), "agents-mcp"));
	assert_true(str_is(reference_slug(a, STR("Trust")), "trust"));
	assert_true(str_is(reference_slug(a, STR("(A) 1/2!")), "a-1-2"));
	assert_true(str_eq(reference_slug(a, STR("&")), STR("")));
	arena_free(a);
}

static void
test_only_products_have_pages(void **state)
{
	struct arena *a = arena_new();
	struct json *document = catalog_openapi(a, STR("https://h.example/p"));
	struct buf out;
	struct html h = { &out, STR("/p"), a };

	(void)state;
	buf_init(&out, HTML_BYTES_MAX);
	assert_false(reference_product(&h, document, STR("")));
	assert_false(reference_product(&h, document, STR("Core Platform")));
	assert_int_equal(0, out.n);
	assert_true(reference_product(&h, document, STR("core-platform")));
	buf_add_byte(&out, '\0');
	assert_non_null(strstr(out.p, "href=\"/p/docs/style.css\""));
	assert_non_null(
	    strstr(out.p, "https://h.example/p/api/v2/ledger/keys"));
	assert_null(strstr(out.p, "href=\"/docs/"));
	assert_false(buf_failed(&out));
	buf_fini(&out);
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_markup_is_escaped),
		cmocka_unit_test(test_json_is_escaped),
		cmocka_unit_test(test_names_of_products),
		cmocka_unit_test(test_only_products_have_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
