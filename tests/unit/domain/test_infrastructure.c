#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "domain/catalog.h"
#include "tests/support/approver.h"

static const struct json *
entitlement(struct desk *d, const char *key)
{
	const struct json *v = json_get(
	    desk_do(d, "infrastructure.data_entitlements", "{}"), "data")
				   ->first;

	while (v && !str_is(json_get_str(v, "key"), key))
		v = v->next;
	assert_non_null(v);
	return v;
}

static bool
is_granted(struct desk *d, const char *key)
{
	return json_get(entitlement(d, key), "granted")->type == JSON_TRUE;
}

static void
test_every_entitlement_is_listed(void **state)
{
	struct desk *d = *state;
	struct json *v = desk_do(d, "infrastructure.data_entitlements", "{}");
	struct str created =
	    json_get_str(desk_do(d, "workspace.show", "{}"), "created_at");
	size_t n = 0;

	for (const struct json *i = json_get(v, "data")->first; i;
	     i = i->next) {
		int64_t id;

		assert_true(json_get_int(i, "id", &id));
		assert_int_equal(id, n + 1);
		assert_true(str_is(
		    json_get_str(i, "key"), catalog_entitlements[n].key));
		assert_true(json_get_str(i, "title").n > 0);
		assert_true(str_eq(json_get_str(i, "since"), created));
		n++;
	}
	assert_null(catalog_entitlements[n].key);
}

/* Every row with a route stands under its entitlement, and there alone. */
static void
test_operations_are_those_of_the_catalog(void **state)
{
	struct desk *d = *state;
	size_t listed = 0, rows = 0;

	for (size_t i = 0; catalog_entitlements[i].key; i++) {
		const struct json *v =
		    entitlement(d, catalog_entitlements[i].key);

		v = json_get(v, "operations")->first;
		for (; v; v = v->next, listed++)
			assert_string_equal(catalog_by_id(v->text)->entitlement,
			    catalog_entitlements[i].key);
	}
	for (size_t i = 0; catalog_groups[i]; i++) {
		const struct operation *const *row =
		    catalog_groups[i]->operations;

		for (; row && *row; row++)
			rows += (*row)->method && (*row)->entitlement;
	}
	assert_int_equal(listed, rows);
	assert_true(rows > 10);
}

static void
test_pages(void **state)
{
	struct desk *d = *state;
	struct json *v =
	    desk_do(d, "infrastructure.data_entitlements", "{\"limit\":3}");
	int64_t next;

	assert_int_equal(json_get(v, "data")->n, 3);
	assert_true(json_get_int(v, "next_after_id", &next));
	assert_int_equal(next, 3);
	v = desk_do(d, "infrastructure.data_entitlements",
	    "{\"limit\":3,\"after_id\":12}");
	assert_int_equal(json_get(v, "data")->n, 2);
	assert_int_equal(json_get(v, "has_more")->type, JSON_FALSE);
	v = desk_do(
	    d, "infrastructure.data_entitlements", "{\"after_id\":1000}");
	assert_int_equal(json_get(v, "data")->n, 0);
}

static struct err
refused(struct desk *d, const char *id, const char *input)
{
	struct reply reply;
	struct err e;

	assert_int_equal(desk_call(d, &d->staff, id, input, &reply, &e), -1);
	return e;
}

static void
test_given_and_taken(void **state)
{
	struct desk *d = *state;
	struct json *v = desk_do(d, "workspace.disentitle",
	    "{\"entitlements\":[\"quant\",\"agents\"],\"reason\":\"r\"}");
	struct str taken = json_get_str(v, "changed_at");
	struct err e;

	assert_int_equal(json_get(v, "changed")->n, 2);
	assert_int_equal(json_get(v, "entitlements")->n, 12);
	assert_false(is_granted(d, "quant"));
	assert_true(
	    str_eq(json_get_str(entitlement(d, "quant"), "since"), taken));
	e = refused(
	    d, "workspace.disentitle", "{\"entitlements\":[\"quant\"]}");
	assert_ptr_equal(e.kind, &err_conflict);
	v = desk_do(d, "workspace.entitle",
	    "{\"entitlements\":[\"quant\",\"commercial\"]}");
	assert_int_equal(json_get(v, "changed")->n, 1);
	assert_true(is_granted(d, "quant"));
	e = refused(d, "workspace.entitle", "{\"entitlements\":[\"quant\"]}");
	assert_ptr_equal(e.kind, &err_conflict);
	e = refused(d, "workspace.entitle", "{\"entitlements\":[\"moon\"]}");
	assert_string_equal(e.fields->at, "#/entitlements/0");
	e = refused(d, "workspace.entitle", "{\"entitlements\":[]}");
	assert_string_equal(e.fields->at, "#/entitlements");
}

static int
ask(struct desk *d, const struct caller *caller, struct err *e)
{
	struct caller later = *caller;
	struct reply reply;

	later.found = NULL; /* as a request that comes later */
	return desk_call(d, &later, "infrastructure.posture", "{}", &reply, e);
}

/* An application keeps its list while the workspace has less. */
static void
test_the_workspace_bounds_its_applications(void **state)
{
	struct desk *d = *state;
	struct caller with, without;
	struct err e;

	desk_application(
	    d, "a", "[\"infrastructure:read\"]", "[\"infrastructure\"]", &with);
	desk_application(
	    d, "b", "[\"infrastructure:read\"]", "[\"knowledge\"]", &without);
	assert_int_equal(ask(d, &with, &e), 0);
	assert_int_equal(ask(d, &without, &e), -1);
	assert_ptr_equal(e.kind, &err_forbidden);
	assert_non_null(strstr(e.detail, "the application"));
	desk_do(d, "workspace.disentitle",
	    "{\"entitlements\":[\"infrastructure\"]}");
	assert_int_equal(ask(d, &with, &e), -1);
	assert_ptr_equal(e.kind, &err_forbidden);
	assert_non_null(strstr(e.detail, "the workspace"));
	desk_do(
	    d, "workspace.entitle", "{\"entitlements\":[\"infrastructure\"]}");
	assert_int_equal(ask(d, &with, &e), 0);
	assert_int_equal(ask(d, &without, &e), -1);
}

static void
test_rebuild(void **state)
{
	struct desk *d = *state;
	struct str before;

	desk_do(d, "workspace.disentitle", "{\"entitlements\":[\"quant\"]}");
	desk_do(d, "workspace.entitle", "{\"entitlements\":[\"quant\"]}");
	desk_do(d, "workspace.disentitle", "{\"entitlements\":[\"agents\"]}");
	before = desk_dump(d);
	desk_rebuild(d);
	assert_true(str_eq(before, desk_dump(d)));
	assert_non_null(strstr(before.p, "INSERT INTO workspace_entitlement "));
}

static void
expect_state(struct desk *d, const char *part, const char *expected)
{
	const struct json *v =
	    json_get(desk_do(d, "infrastructure.posture", "{}"), part);

	assert_non_null(v);
	if (!str_is(json_get_str(v, "state"), expected))
		fail_msg("%s is %.*s, not %s", part,
		    STR_ARGS(json_get_str(v, "state")), expected);
	assert_non_null(json_get(v, "since"));
}

static void
test_posture_of_a_new_ledger(void **state)
{
	static const char *const parts[][2] = {
		{ "environment", "sandbox" },
		{ "production_access", "sandbox" },
		{ "key_storage", "file" },
		{ "witnesses", "none" },
		{ "time_stamping", "none" },
		{ "connectors", "none" },
		{ "loopback_allow_list", "empty" },
		{ "last_verification", "none" },
		{ "free_space", "enough" },
	};
	struct desk *d = *state;

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		expect_state(d, parts[i][0], parts[i][1]);
}

static void
test_connectors_by_kind(void **state)
{
	struct desk *d = *state;
	const struct json *v;
	int64_t n;

	desk_do(d, "connector.add",
	    "{\"name\":\"S\",\"kind\":\"sandbox\",\"modes\":[\"sandbox\"]}");
	for (int i = 0; i < 2; i++)
		desk_do(d, "connector.add",
		    "{\"name\":\"F\",\"kind\":\"file\",\"modes\":[\"live\"]}");
	expect_state(d, "connectors", "present");
	v = json_get(desk_do(d, "infrastructure.posture", "{}"), "connectors");
	assert_true(json_get_int(v, "sandbox", &n) && n == 1);
	assert_true(json_get_int(v, "file", &n) && n == 2);
	assert_true(json_get_int(v, "https", &n) && n == 0);
	assert_true(json_get_str(v, "since").p != NULL);
}

static void
test_posture_of_production(void **state)
{
	struct desk d;
	struct person ann;
	const struct json *v;

	(void)state;
	desk_open(&d, "production");
	expect_state(&d, "production_access", "closed");
	person_make(&d, 1, &ann);
	person_register(&d, &ann, "Ann", "[\"production\"]");
	person_decide(&d, &ann, "production.open");
	expect_state(&d, "environment", "production");
	expect_state(&d, "production_access", "open");
	v = json_get(
	    desk_do(&d, "infrastructure.posture", "{}"), "production_access");
	assert_true(str_eq(json_get_str(v, "approver_uid"), ann.uid));
	person_free(&ann);
	desk_close(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DESK(test_every_entitlement_is_listed),
		WITH_DESK(test_operations_are_those_of_the_catalog),
		WITH_DESK(test_pages),
		WITH_DESK(test_given_and_taken),
		WITH_DESK(test_the_workspace_bounds_its_applications),
		WITH_DESK(test_rebuild),
		WITH_DESK(test_posture_of_a_new_ledger),
		WITH_DESK(test_connectors_by_kind),
		cmocka_unit_test(test_posture_of_production),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
