/*
 * The frozen events of imports: decoded, encoded, projected; and entries
 * settled in what they project.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "domain/source_records.h"
#include "domain/source_records/events.h"
#include "ledger/base/io.h"
#include "tests/support/event_vector.h"

#define IMPORT_UID    "01980a3c-7c00-7abc-8def-0123456789ab"
#define STATEMENT_UID "01980a3c-7c00-7abd-8def-0123456789ac"
#define ENTRY_1       "01980a3c-7c00-7ac1-8def-0123456789ab"
#define ENTRY_2       "01980a3c-7c00-7ac2-8def-0123456789ab"

extern const char source_records_view_sql[];

/* An empty read model with this group's tables. */
struct fixture {
	struct arena *a;
	struct db *db;
	char dir[32];
	const char *path;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct err e = { 0 };

	f->a = arena_new();
	strncpy(f->dir, "/tmp/probity-view-XXXXXX", sizeof f->dir - 1);
	assert_non_null(mkdtemp(f->dir));
	f->path = arena_printf(f->a, "%s/view.db", f->dir);
	if (db_open(f->path, DB_WRITE, &f->db, &e) ||
	    db_script(f->db, source_records_view_sql, &e))
		fail_msg("%s", e.detail);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	db_close(f->db);
	unlink(f->path);
	unlink(arena_printf(f->a, "%s-wal", f->path));
	unlink(arena_printf(f->a, "%s-shm", f->path));
	assert_int_equal(rmdir(f->dir), 0);
	arena_free(f->a);
	free(f);
	return 0;
}

static void
test_vectors(void **state)
{
	(void)state;
	event_vector_check(&event_import_recorded);
	event_vector_check(&event_statement_imported);
	event_vector_check(&event_records_sealed);
}

static struct uid
uid_of(const char *text)
{
	struct uid uid;

	assert_true(uid_parse(str_from(text), &uid));
	return uid;
}

/* Projects a frozen event. */
static void
project(struct fixture *f, const struct event_type *type, const char *subject)
{
	const char *path =
	    arena_printf(f->a, "tests/vectors/events/%s.json", type->name);
	struct event ev = { .seq = 9, .at = { 1 }, .subject = uid_of(subject) };
	void *data = arena_alloc(f->a, type->data->size);
	struct err e = { 0 };
	struct str text;
	struct json *v;

	if (io_read_file(f->a, path, 65536, &text, &e) ||
	    json_parse(f->a, text, &json_limits_default, &v, &e) ||
	    shape_decode_json(type->data, v, f->a, data, &e) ||
	    type->project(f->db, &ev, data, &e))
		fail_msg("%s: %s", type->name, e.detail);
}

static void
project_all(struct fixture *f)
{
	project(f, &event_import_recorded, IMPORT_UID);
	project(f, &event_statement_imported, STATEMENT_UID);
	project(f, &event_records_sealed, IMPORT_UID);
}

static void
test_by_reference(void **state)
{
	struct fixture *f = *state;
	struct context c = { .arena = f->a, .db = f->db };
	struct statement_entry *found;
	struct err e = { 0 };
	size_t n;

	project_all(f);
	assert_int_equal(statement_entries_by_reference(
			     &c, STR("NWL-2026-0042"), 10, &found, &n, &e),
	    0);
	assert_int_equal(n, 1);
	assert_int_equal(found[0].id, 6);
	assert_true(uid_eq(found[0].uid, uid_of(ENTRY_2)));
	assert_true(found[0].debit);
	assert_false(found[0].reversal);
	assert_int_equal(found[0].amount_minor, 732055);
	assert_true(str_is(found[0].currency, "EUR"));
	assert_true(str_is(found[0].booked_on, "2026-07-01"));
	assert_int_equal(found[0].counterparty_id, 0);
	assert_int_equal(found[0].general_ledger_id, 1200);
	assert_true(uid_eq(found[0].statement, uid_of(STATEMENT_UID)));
	assert_true(uid_is_none(found[0].settles));
	assert_int_equal(statement_entries_by_reference(
			     &c, STR("NWL-2026-0043"), 10, &found, &n, &e),
	    0);
	assert_int_equal(n, 0);
}

static int64_t
count_reconciled(struct db *db)
{
	struct err e = { 0 };
	int64_t n = -1;

	assert_int_equal(db_get_int(db, &n, -1, &e,
			     "SELECT count(*) FROM bank_statement "
			     "WHERE status = 'reconciled'",
			     ""),
	    0);
	return n;
}

/* An entry settles one action; the last one turns the statement. */
static void
test_settle(void **state)
{
	struct fixture *f = *state;
	struct context c = { .arena = f->a, .db = f->db };
	struct uid action = uid_of(IMPORT_UID);
	struct statement_entry entry;
	struct err e = { 0 };

	project_all(f);
	assert_int_equal(
	    statement_entry_settle(f->db, uid_of(ENTRY_2), action, &e), 0);
	assert_int_equal(count_reconciled(f->db), 0);
	assert_int_equal(
	    statement_entry_settle(f->db, uid_of(ENTRY_2), action, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	err_clear(&e);
	assert_int_equal(
	    statement_entry_settle(f->db, uid_of(ENTRY_1), action, &e), 0);
	assert_int_equal(count_reconciled(f->db), 1);
	assert_int_equal(
	    statement_entry_find(&c, uid_of(ENTRY_2), &entry, &e), 1);
	assert_true(uid_eq(entry.settles, action));
	assert_int_equal(
	    statement_entry_find(&c, uid_of(IMPORT_UID), &entry, &e), 0);
}

/* A seal that is not that of its record is refused, whoever wrote it. */
static void
test_wrong_seal(void **state)
{
	struct fixture *f = *state;
	struct source_content content = { .kind = STR("invoice"),
		.amount = { STR("1.00") },
		.currency = STR("EUR"),
		.reference = STR("x"),
		.counterparty_id = { true, 1 } };
	struct sealed_record record = { .uid = uid_of(ENTRY_1),
		.line = 2,
		.sha256 = { STR("00000000000000000000000000000000"
				"00000000000000000000000000000000") },
		.record = &content };
	struct records_sealed data = { uid_of(IMPORT_UID), 1, { &record, 1 } };
	struct event ev = { .seq = 9 };
	struct err e = { 0 };

	assert_int_equal(
	    event_records_sealed.project(f->db, &ev, &data, &e), -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	assert_non_null(strstr(e.detail, "the seal of record 1"));
}

static void
test_masking(void **state)
{
	struct fixture *f = *state;

	assert_true(
	    str_is(bank_account_masked(f->a, STR("DE89370400440532013000")),
		"****3000"));
	assert_true(
	    str_is(bank_account_masked(f->a, STR("12345678")), "****5678"));
	assert_true(str_is(bank_account_masked(f->a, STR("1234567")), "****"));
	assert_true(str_is(bank_account_masked(f->a, STR("")), "****"));
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		TEST(test_by_reference),
		TEST(test_settle),
		TEST(test_wrong_seal),
		TEST(test_masking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
