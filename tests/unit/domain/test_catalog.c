#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ctype.h>

#include "domain/catalog_check.h"
#include "ledger/base/io.h"
#include "tests/support/event_vector.h"

static void
test_catalog_has_no_faults(void **state)
{
	struct buf faults;

	(void)state;
	buf_init(&faults, 65536);
	if (!catalog_check(&faults))
		fail_msg("%.*s", STR_ARGS(buf_str(&faults)));
	buf_fini(&faults);
}

static void
test_scopes_are_those_of_the_specification(void **state)
{
	size_t n = 0;

	(void)state;
	for (; catalog_scopes[n].name; n++)
		if (n > 0)
			assert_true(strcmp(catalog_scopes[n - 1].name,
					catalog_scopes[n].name) < 0);
	assert_int_equal(n, 66 + 5);
	assert_true(catalog_knows_scope(STR("finance-core:close:read")));
	assert_false(catalog_knows_scope(STR("actions:")));
	assert_false(catalog_knows_scope(STR("")));
}

/* That a row's own is among them, the catalog's check says. */
static void
test_scopes_need_products_that_there_are(void **state)
{
	(void)state;
	for (const struct scope *s = catalog_scopes; s->name; s++) {
		struct str rest = str_from(s->entitlements);

		if (rest.n == 0) {
			assert_string_equal(s->name, "workspace:read");
			continue;
		}
		while (rest.p)
			assert_true(
			    catalog_knows_entitlement(str_take(&rest, ' ')));
	}
}

/* One line of the table: method, path, scope, request, responses. */
struct line {
	struct str method, path, scope, responses;
};

static bool
take_line(struct str *text, struct line *out)
{
	struct str row = str_take(text, '\n');

	out->method = str_take(&row, '\t');
	out->path = str_take(&row, '\t');
	out->scope = str_take(&row, '\t');
	str_take(&row, '\t');
	out->responses = str_take(&row, '\t');
	return out->path.p != NULL;
}

static bool
is_row_of(const struct operation *op, const struct line *line)
{
	return op->method && str_is(line->method, op->method) &&
	       str_is(line->path, op->path);
}

static void
compare(const struct operation *op, const struct line *line, struct arena *a)
{
	const char *status = arena_printf(a, "%d", op->status);

	if (!str_is(line->scope, op->scope))
		fail_msg("%s: scope %s, the specification says %.*s", op->id,
		    op->scope, STR_ARGS(line->scope));
	/* Some rows name a shape in place of a status. */
	if (line->responses.n > 0 &&
	    isdigit((unsigned char)*line->responses.p) &&
	    !strstr(arena_cstr(a, line->responses), status))
		fail_msg("%s: status %d, the specification says %.*s", op->id,
		    op->status, STR_ARGS(line->responses));
}

static size_t
compare_row(const struct operation *op, struct str text, struct arena *a)
{
	struct line line;
	size_t found = 0;

	str_take(&text, '\n');
	while (text.p) {
		if (!take_line(&text, &line) || !is_row_of(op, &line))
			continue;
		compare(op, &line, a);
		found++;
	}
	return found;
}

/* Rows beside the published operations are the auditors' reads. */
static void
test_rows_are_those_of_the_specification(void **state)
{
	struct arena *a = arena_new();
	struct str text;
	struct err e = { 0 };
	size_t found = 0;

	(void)state;
	assert_int_equal(
	    io_read_file(a, "tests/vectors/operations.tsv", 65536, &text, &e),
	    0);
	for (size_t i = 0; catalog_groups[i]; i++) {
		const struct operation *const *row =
		    catalog_groups[i]->operations;

		for (; row && *row; row++) {
			size_t n;

			if (!(*row)->method)
				continue;
			n = compare_row(*row, text, a);
			if (n == 0 &&
			    strncmp((*row)->path, "/api/v2/ledger", 14) != 0)
				fail_msg("%s %s is not in the specification",
				    (*row)->method, (*row)->path);
			found += n;
		}
	}
	assert_true(found >= 5);
	arena_free(a);
}

/* Rows with faults, and the words by which each is reported. */

struct thing {
	struct uid uid;
};

SHAPE(thing, "A thing",
    FIELD(thing, uid, .place = IN_PATH, .required = true, .doc = "Which"));

/* A list that does not say where it goes on. */
struct endless {
	struct list data;
	bool has_more;
};

SHAPE(endless, "Things", FIELD(endless, data, .of = &thing_shape, .doc = "All"),
    FIELD(endless, has_more, .doc = "Whether more follow"));

static int
reads(struct context *c, const void *in, void *out, struct err *e)
{
	(void)c;
	(void)in;
	(void)out;
	(void)e;
	return 0;
}

static int
decides(struct context *c, const void *in, struct err *e)
{
	(void)c;
	(void)in;
	(void)e;
	return 0;
}

static int
replies(struct context *c, const struct event *ev, void *out, struct err *e)
{
	(void)c;
	(void)ev;
	(void)out;
	(void)e;
	return 0;
}

static const struct event_type event_lost = { .name = "thing.lost",
	.data = &thing_shape };

#define EXAMPLE(name, more) \
	"{\"name\":\"" name "\",\"summary\":\"One\"," more "}"
#define SHOWN          EXAMPLE("shown", "\"status\":200,\"reply\":{}")
#define REFUSED        EXAMPLE("refused", "\"status\":404,\"reply\":{\"status\":404}")
#define EXAMPLES(list) "{\"examples\":[" list "]}"

#define GOOD                                                                 \
	.id = "thing.show", .method = "GET", .path = "/api/v2/things/{uid}", \
	.scope = "trust:read", .entitlement = "core-platform",               \
	.product = "Core Platform", .summary = "Show", .since = "2.0.0",     \
	.status = 200, .in = &thing_shape, .out = &thing_shape,              \
	.examples = EXAMPLES(SHOWN "," REFUSED)
#define GOOD_READ GOOD, .effect = EFFECT_READ, .read = reads
#define GOOD_WRITE \
	GOOD, .effect = EFFECT_WRITE, .decide = decides, .reply = replies

static const struct {
	struct operation op;
	const char *expect; /* NULL: no fault */
} cases[] = {
	{ { GOOD_READ }, NULL },
	{ { GOOD_READ, .id = NULL }, "lacks id" },
	{ { GOOD_READ, .summary = NULL }, "lacks id" },
	{ { GOOD_READ, .product = "Things" }, "product is not of the index" },
	{ { GOOD_READ, .scope = "thing:read" }, "scope is not known" },
	{ { GOOD_READ, .scope = NULL }, "no scope" },
	{ { GOOD_READ, .scope = "quant:models:read" }, "of another product" },
	{ { GOOD_READ, .scope = "workspace:read" }, "of another product" },
	{ { GOOD_READ, .path = "/api/v2/things/{id}" },
	    "path parameter without field" },
	{ { GOOD_READ, .path = "/api/v2/things" }, "fields of the path" },
	{ { GOOD_READ, .path = "/api/v2/things/{uid" }, "open brace" },
	{ { GOOD_READ, .method = "POST" }, "method and effect" },
	{ { GOOD_READ, .method = "FETCH" }, "method is not known" },
	{ { GOOD_READ, .method = NULL }, "neither route nor command" },
	{ { GOOD_READ, .status = 204 }, "status is not" },
	{ { GOOD_READ, .entitlement = "things" }, "entitlement is not known" },
	{ { GOOD_READ, .entitlement = NULL }, "no entitlement" },
	{ { GOOD_READ, .id = "workspace.show" }, "needs no entitlement" },
	{ { GOOD_READ, .id = "workspace.show", .entitlement = NULL },
	    "of another product" },
	{ { GOOD_READ, .id = "workspace.show", .entitlement = NULL,
	      .scope = "workspace:read" },
	    NULL },
	{ { GOOD_READ, .read = NULL }, "a read needs read" },
	{ { GOOD_READ, .emits = EMITS(&event_lost) }, "declares events" },
	{ { GOOD_READ, .file_field = "file" }, "file field is no field" },
	{ { GOOD_READ, .file_field = "uid file" }, "file field is no field" },
	{ { GOOD_READ, .file_field = "uid" }, NULL },
	{ { GOOD_READ, .out = NULL }, "has no shapes" },
	{ { GOOD_READ, .out = &endless_shape }, "where the next page begins" },
	{ { GOOD_READ, .examples = NULL }, "there are none" },
	{ { GOOD_READ, .examples = "{}" }, "cannot be read" },
	{ { GOOD_READ, .examples = "[" }, "cannot be read" },
	{ { GOOD_READ, .examples = EXAMPLES(REFUSED) }, "none succeeds" },
	{ { GOOD_READ, .examples = EXAMPLES(SHOWN) }, "none is refused" },
	{ { GOOD_READ, .examples = EXAMPLES(SHOWN "," SHOWN "," REFUSED) },
	    "twice there is shown" },
	{ { GOOD_READ, .examples = EXAMPLES(SHOWN "," EXAMPLE("other",
			   "\"status\":404,\"reply\":{\"status\":400}")) },
	    "no problem of its status" },
	{ { GOOD_READ, .examples = EXAMPLES(SHOWN "," REFUSED "," EXAMPLE(
			   "made", "\"status\":201,\"reply\":{}")) },
	    "its status is not the row's" },
	{ { GOOD_READ, .examples = EXAMPLES(
			   EXAMPLE("shown", "\"state\":200,\"reply\":{}")) },
	    "cannot be read" },
	{ { GOOD_READ, .out = &content_shape }, "no media type" },
	{ { GOOD_READ, .out = &content_shape, .media_type = "text/csv" },
	    NULL },
	{ { GOOD_WRITE, .media_type = "text/csv" }, "answers JSON alone" },
	{ { GOOD_WRITE, .method = "POST", .emits = EMITS(&event_lost) },
	    "no view projects thing.lost" },
	{ { GOOD_WRITE, .method = "POST" }, "declares no events" },
	{ { GOOD_WRITE, .method = "POST", .decide = NULL },
	    "needs decide and reply" },
	{ { GOOD_READ, .record = "/api/v2/things/{uid}" }, NULL },
	{ { GOOD_READ, .record = "/api/v2/others/{uid}" },
	    "no row reads its record" },
	{ { GOOD_READ, .record = "/api/v2/things/{uid}",
	      .out = &endless_shape },
	    "its record has no uid" },
};

static void
test_each_fault_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct operation *const rows[] = { &cases[i].op, NULL };
		const struct group group = { .name = "things",
			.operations = rows };
		const struct group *const groups[] = { &group, NULL };
		struct buf b;
		bool good;

		buf_init(&b, 65536);
		good = catalog_check_groups(groups, &b);
		buf_add_byte(&b, '\0');
		if (good != !cases[i].expect)
			fail_msg("case %zu: %s", i, b.p);
		if (cases[i].expect && !strstr(b.p, cases[i].expect))
			fail_msg("case %zu: %s", i, b.p);
		buf_fini(&b);
	}
}

static void
test_two_of_a_kind_are_found(void **state)
{
	static const struct operation a = { GOOD_READ },
				      b = { GOOD_READ, .id = "thing.other" };
	const struct operation *const rows[] = { &a, &b, &a, NULL };
	const struct event_type *const types[] = { &event_lost, &event_lost,
		NULL };
	const struct view view = { types, "" };
	const struct group group = {
		.name = "things", .operations = rows, .view = &view
	};
	const struct group *const groups[] = { &group, NULL };
	struct buf faults;

	(void)state;
	buf_init(&faults, 65536);
	assert_false(catalog_check_groups(groups, &faults));
	buf_add_byte(&faults, '\0');
	assert_non_null(
	    strstr(faults.p, "thing.show: shares its route with thing.other"));
	assert_non_null(strstr(faults.p, "thing.show: is listed twice"));
	assert_non_null(
	    strstr(faults.p, "thing.lost: event type is there twice"));
	buf_fini(&faults);
}

/* Every type that ever landed can still be read whole. */
static void
test_every_event_type_is_frozen(void **state)
{
	const struct view *const *views = catalog_views();

	(void)state;
	for (size_t i = 0; views[i]; i++)
		for (size_t k = 0; views[i]->types[k]; k++)
			event_vector_check(views[i]->types[k]);
}

static void
test_rows_are_found_by_id_and_command(void **state)
{
	const struct operation *op =
	    catalog_by_command(STR("workspace create"));

	(void)state;
	assert_non_null(op);
	assert_string_equal(op->id, "workspace.create");
	assert_ptr_equal(catalog_by_id(STR("workspace.create")), op);
	assert_null(catalog_by_command(STR("workspace")));
	assert_null(catalog_by_id(STR("workspace")));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_catalog_has_no_faults),
		cmocka_unit_test(test_scopes_are_those_of_the_specification),
		cmocka_unit_test(test_scopes_need_products_that_there_are),
		cmocka_unit_test(test_rows_are_those_of_the_specification),
		cmocka_unit_test(test_each_fault_is_found),
		cmocka_unit_test(test_two_of_a_kind_are_found),
		cmocka_unit_test(test_every_event_type_is_frozen),
		cmocka_unit_test(test_rows_are_found_by_id_and_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
