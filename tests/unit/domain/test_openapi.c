#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "domain/catalog.h"

static struct json *
document(struct arena *a)
{
	struct json *v = catalog_openapi(a, STR("https://api.example.com"));
	struct json *again;
	struct err e = { 0 };
	struct buf b;

	/* As its readers get it: written, and read again. */
	buf_init(&b, 64u << 20);
	json_write(v, &b);
	assert_false(buf_failed(&b));
	assert_int_equal(
	    json_parse(a, buf_str(&b),
		&(struct json_limits){ 64u << 20, 64, 5000000 }, &again, &e),
	    0);
	buf_fini(&b);
	return again;
}

static struct json *
entry(const struct json *doc, const struct operation *op, struct arena *a)
{
	char *method = arena_cstr(a, str_from(op->method));
	struct json *path = json_get(json_get(doc, "paths"), op->path);

	for (char *p = method; *p; p++)
		*p = (char)(*p | 0x20);
	return json_get(path, method);
}

static void
check_row(const struct json *doc, const struct operation *op, struct arena *a)
{
	struct json *v = entry(doc, op, a), *responses, *media, *required;
	const char *type = op->media_type ? op->media_type : "application/json";
	const char *status = arena_printf(a, "%d", op->status);
	bool has_evidence = false;

	if (!v)
		fail_msg("%s is not in the document", op->id);
	assert_true(str_is(json_get_str(v, "operationId"), op->id));
	assert_true(str_is(json_get_str(v, "x-scope"), op->scope));
	assert_true(str_is(json_get_str(v, "x-stability"), "Stable"));
	assert_true(str_is(json_get_str(v, "x-lifecycle"), "Published"));
	responses = json_get(v, "responses");
	media =
	    json_get(json_get(json_get(responses, status), "content"), type);
	assert_non_null(media);
	assert_non_null(json_get(responses, "401"));
	assert_non_null(json_get(responses, "403"));
	if (op->out != &content_shape)
		assert_true(str_is(
		    json_get_str(json_get(media, "schema"), "type"), "object"));
	required = json_get(json_get(media, "schema"), "required");
	for (const struct json *r = required ? required->first : NULL; r;
	     r = r->next)
		has_evidence = has_evidence || str_is(r->text, "evidence");
	assert_int_equal(has_evidence, op->effect != EFFECT_READ);
}

static void
test_every_route_is_described(void **state)
{
	struct arena *a = arena_new();
	struct json *doc = document(a);
	size_t n = 0;

	(void)state;
	assert_true(str_is(json_get_str(doc, "openapi"), "3.1.0"));
	assert_true(
	    str_is(json_get_str(json_get(doc, "info"), "version"), "2.0.0"));
	for (size_t i = 0; catalog_groups[i]; i++) {
		const struct operation *const *row =
		    catalog_groups[i]->operations;

		for (; row && *row; row++)
			if ((*row)->method) {
				check_row(doc, *row, a);
				n++;
			}
	}
	assert_true(n >= 5);
	arena_free(a);
}

static const struct json *
resolve(const struct json *doc, struct str reference, struct arena *a)
{
	const struct json *v = doc;

	assert_true(str_has_prefix(reference, STR("#/")));
	reference = str_slice(reference, 2, reference.n);
	while (reference.p && v)
		v = json_get(v, arena_cstr(a, str_take(&reference, '/')));
	return v;
}

static size_t
check_references(const struct json *doc, const struct json *v, struct arena *a)
{
	struct str reference = json_get_str(v, "$ref");
	size_t n = 0;

	if (reference.p) {
		if (!resolve(doc, reference, a))
			fail_msg("%.*s leads nowhere", STR_ARGS(reference));
		n++;
	}
	for (const struct json *at = v->first; at; at = at->next)
		n += check_references(doc, at, a);
	return n;
}

static void
test_references_lead_somewhere(void **state)
{
	struct arena *a = arena_new();
	struct json *doc = document(a);

	(void)state;
	assert_true(check_references(doc, doc, a) > 10);
	arena_free(a);
}

/* Operators' rows have no route and are not published. */
static void
test_operators_rows_are_absent(void **state)
{
	struct arena *a = arena_new();
	struct json *doc = document(a);
	struct buf b;

	(void)state;
	buf_init(&b, 64u << 20);
	json_write(doc, &b);
	buf_add_byte(&b, '\0');
	assert_null(strstr(b.p, "credential.issue"));
	assert_non_null(strstr(b.p, "workspace.show"));
	buf_fini(&b);
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_route_is_described),
		cmocka_unit_test(test_references_lead_somewhere),
		cmocka_unit_test(test_operators_rows_are_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
