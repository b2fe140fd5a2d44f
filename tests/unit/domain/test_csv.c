/*
 * CSV: the reader, the mapping, and what rows become.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "domain/source_records/csv.h"
#include "domain/source_records/mapping.h"
#include "domain/source_records/plan.h"
#include "ledger/base/io.h"

static int
setup(void **state)
{
	*state = arena_new();
	return 0;
}

static int
teardown(void **state)
{
	arena_free(*state);
	return 0;
}

/* The text's rows as "a|b\nc|d\n", or "! <detail>". */
static const char *
read_all(struct arena *a, struct str text, char delimiter)
{
	struct csv_reader *r = ARENA_NEW(a, struct csv_reader);
	struct err e = { 0 };
	const char *out = "";
	int more;

	csv_init(r, a, text, delimiter);
	while ((more = csv_next(r, &e)) == 1) {
		for (size_t i = 0; i < r->n; i++)
			out = arena_printf(a, "%s%s%.*s", out, i ? "|" : "",
			    STR_ARGS(r->fields[i]));
		out = arena_printf(a, "%s\n", out);
	}
	return more == 0 ? out : arena_printf(a, "! %s", e.detail);
}

#define ROWS(text, expected) \
	assert_string_equal(read_all(*state, STR(text), ','), expected)

static void
test_rows(void **state)
{
	ROWS("", "");
	ROWS("a,b\nc,d\n", "a|b\nc|d\n");
	ROWS("a,b\r\nc,d", "a|b\nc|d\n");
	ROWS("\xef\xbb\xbf"
	     "a,b\n",
	    "a|b\n");
	ROWS("\n\r\na\n\n", "a\n");
	ROWS(",\n", "|\n");
	ROWS("a,\n", "a|\n");
	ROWS("\"a,b\",\"c\"\"d\"\n", "a,b|c\"d\n");
	ROWS("\"\"\n", "\n");
	ROWS("\"\"\"\"\"\"\n", "\"\"\n");
	ROWS("\"a\nb\",c\n", "a\nb|c\n");
	ROWS("\"a\r\nb\",c", "a\r\nb|c\n");
	assert_string_equal(
	    read_all(*state, STR("a;\"b;c\";,\n"), ';'), "a|b;c|,\n");
}

static void
test_rows_refused(void **state)
{
	struct str nul = { "a,\0b\n", 5 }, quoted_nul = { "\"\0\"", 3 };

	ROWS("a\n\"b\nc", "! line 2: a quoted field is never closed");
	ROWS("a\"b\n",
	    "! line 1: a quotation mark within a field that does not begin "
	    "with one");
	ROWS("\n\"a\"b\n", "! line 2: text after a closing quotation mark");
	ROWS("a\rb\n", "! line 1: a carriage return stands alone");
	ROWS("a\r", "! line 1: a carriage return stands alone");
	assert_string_equal(read_all(*state, nul, ','), "! line 1: a NUL byte");
	assert_string_equal(
	    read_all(*state, quoted_nul, ','), "! line 1: a NUL byte");
}

static void
test_line_numbers(void **state)
{
	struct csv_reader *r =
	    ARENA_NEW((struct arena *)*state, struct csv_reader);
	struct err e = { 0 };

	csv_init(r, *state, STR("h\n\n\"x\n\ny\"\nz\n"), ',');
	assert_int_equal(csv_next(r, &e), 1);
	assert_int_equal(r->line, 1);
	assert_int_equal(csv_next(r, &e), 1);
	assert_int_equal(r->line, 3);
	assert_int_equal(csv_next(r, &e), 1);
	assert_int_equal(r->line, 6);
	assert_int_equal(csv_next(r, &e), 0);
}

static void
test_limits(void **state)
{
	static char text[CSV_FIELD_BYTES + 8];
	struct arena *a = *state;
	const char *got;

	memset(text, ',', CSV_COLUMNS - 1);
	got = read_all(a, (struct str){ text, CSV_COLUMNS - 1 }, ',');
	assert_int_equal(strlen(got), CSV_COLUMNS); /* bars and a line end */
	text[CSV_COLUMNS - 1] = ',';
	got = read_all(a, (struct str){ text, CSV_COLUMNS }, ',');
	assert_non_null(strstr(got, "more than 128 fields"));
	memset(text, 'x', sizeof text);
	got = read_all(a, (struct str){ text, CSV_FIELD_BYTES }, ',');
	assert_int_equal(strlen(got), CSV_FIELD_BYTES + 1);
	got = read_all(a, (struct str){ text, CSV_FIELD_BYTES + 1 }, ',');
	assert_non_null(strstr(got, "a field has 4097 bytes"));
}

static struct str
read_vector(struct arena *a, const char *path)
{
	struct err e = { 0 };
	struct str text;

	if (io_read_file(a, path, 1 << 20, &text, &e))
		fail_msg("%s: %s", path, e.detail);
	return text;
}

static struct import_file
file_of(struct str text, const char *mapping)
{
	return (struct import_file){ .file = text,
		.format = STR("csv"),
		.kind = STR("invoice"),
		.mapping = str_from(mapping),
		.delimiter = STR("comma"),
		.decimal_sign = STR("point"),
		.dates = STR("iso") };
}

static const char DEMO_MAPPING[] =
    "amount=Amount, currency=Currency,reference=\"Invoice No\","
    "counterparty=Supplier,date=\"Due date\",general_ledger=Ledger account,"
    "description=Text";

static void
test_invoices(void **state)
{
	struct import_file in = file_of(
	    read_vector(*state, "conf/demo/invoices.csv"), DEMO_MAPPING);
	struct plan plan = { .in = &in };
	struct err e = { 0 };
	const struct draft *d;

	assert_int_equal(plan_csv(*state, &plan, &e), 0);
	assert_int_equal(plan.n, 4);
	d = &plan.drafts[1];
	assert_int_equal(d->line, 3);
	assert_int_equal(d->minor, 118000);
	assert_true(str_is(d->content.amount.text, "1180.00"));
	assert_true(str_is(d->content.kind, "invoice"));
	assert_true(str_is(d->content.currency, "EUR"));
	assert_true(str_is(d->content.reference, "NWL-2026-0043"));
	assert_true(str_is(d->counterparty, "Nordwind Logistik AG"));
	assert_true(str_is(d->content.due_on, "2026-07-31"));
	assert_true(str_is(d->content.description, "Storage, \"B\" hall"));
	assert_int_equal(d->content.general_ledger_id.v, 1600);
	assert_true(str_is(plan.drafts[3].content.amount.text, "980.40"));
	assert_null(plan.drafts[3].content.description.p);
}

static void
test_demo_files_are_the_vectors(void **state)
{
	assert_true(str_eq(read_vector(*state, "conf/demo/invoices.csv"),
	    read_vector(*state, "tests/vectors/csv/invoices.csv")));
	assert_true(str_eq(read_vector(*state, "conf/demo/statement.xml"),
	    read_vector(*state, "tests/vectors/camt053/good-08.xml")));
}

static void
test_german(void **state)
{
	struct import_file in =
	    file_of(read_vector(*state, "tests/vectors/csv/german.csv"),
		"amount=Betrag,currency:=EUR,reference=Beleg,"
		"counterparty=Lieferant,date=F\xc3\xa4llig,general_ledger:=70");
	struct plan plan = { .in = &in };
	struct err e = { 0 };

	in.delimiter = STR("semicolon");
	in.decimal_sign = STR("comma");
	in.dates = STR("dmy");
	if (plan_csv(*state, &plan, &e))
		fail_msg("%s", e.detail);
	assert_int_equal(plan.n, 2);
	assert_int_equal(plan.drafts[0].minor, 123450);
	assert_int_equal(plan.drafts[1].minor, 7);
	assert_true(str_is(plan.drafts[0].content.due_on, "2026-07-03"));
	assert_true(str_is(plan.drafts[1].content.due_on, "2026-12-31"));
	assert_int_equal(plan.drafts[1].content.general_ledger_id.v, 70);
}

static const struct err_field *
next_fault(const struct err_field *f, const char *code, const char *words)
{
	assert_non_null(f);
	assert_string_equal(f->code, code);
	if (!strstr(f->detail, words))
		fail_msg("\"%s\" lacks \"%s\"", f->detail, words);
	return f->next;
}

static void
test_every_fault(void **state)
{
	struct import_file in = file_of(
	    read_vector(*state, "tests/vectors/csv/every-fault.csv"), NULL);
	struct plan plan = { .in = &in };
	struct err e = { 0 };
	const struct err_field *f;

	assert_int_equal(plan_csv(*state, &plan, &e), -1);
	assert_ptr_equal(e.kind, &err_invalid);
	assert_non_null(strstr(e.detail, "nothing was imported"));
	f = next_fault(e.fields, "minimum", "line 2, column \"amount\"");
	f = next_fault(f, "amount", "line 3, column \"amount\"");
	f = next_fault(f, "amount", "line 4, column \"amount\": \"1e3\"");
	f = next_fault(f, "amount", "line 5, column \"amount\": \"1,000.00\"");
	f = next_fault(f, "currency", "line 6, column \"currency\": \"XAU\"");
	f = next_fault(f, "currency", "line 7");
	f = next_fault(f, "required", "line 8, column \"reference\"");
	f = next_fault(f, "required", "line 9, column \"counterparty\"");
	f = next_fault(f, "format", "line 10, column \"arrangement\"");
	f = next_fault(f, "date", "line 11, column \"date\": \"2026-02-30\"");
	f = next_fault(f, "format", "line 12, column \"general_ledger\"");
	f = next_fault(f, "columns", "line 13 has 2 fields, the header has 7");
	assert_null(f);
}

/* What the mapping or the header lacks. */
static void
mapping_refused(struct arena *a, const char *mapping, const char *code)
{
	struct import_file in = file_of(STR("A,B,B,C\n1,2,3,4\n"), mapping);
	struct plan plan = { .in = &in };
	struct err e = { 0 };

	assert_int_equal(plan_csv(a, &plan, &e), -1);
	assert_non_null(e.fields);
	assert_string_equal(e.fields->code, code);
}

static void
test_mapping(void **state)
{
	struct faults faults;
	struct mapping m;

	faults_init(&faults, *state);
	mapping_parse(*state,
	    STR("amount = A ,currency:= \"a,\"\"b\" ,reference=\"R, No\","
		"counterparty=C D"),
	    &m, &faults);
	assert_int_equal(faults.n, 0);
	assert_true(str_is(m.members[MEMBER_AMOUNT].text, "A"));
	assert_true(m.members[MEMBER_CURRENCY].constant);
	assert_true(str_is(m.members[MEMBER_CURRENCY].text, "a,\"b"));
	assert_true(str_is(m.members[MEMBER_REFERENCE].text, "R, No"));
	assert_true(str_is(m.members[MEMBER_COUNTERPARTY].text, "C D"));
	assert_false(m.members[MEMBER_DATE].set);

#define BASE "currency:=EUR,reference=C,counterparty:=1,"
	mapping_refused(*state, "amount", "format");
	mapping_refused(*state, "amount=\"A", "format");
	mapping_refused(*state, "amount=\"A\"x", "format");
	mapping_refused(*state, BASE "amount=", "too_short");
	mapping_refused(*state, BASE "amount=A,amount=C", "twice");
	mapping_refused(*state, BASE "amount=A,colour=C", "unknown");
	mapping_refused(*state, "amount=A", "required");
	mapping_refused(*state, BASE "amount=Nowhere", "required");
	mapping_refused(*state, BASE "amount=B", "twice");
	mapping_refused(*state, NULL, "required");
}

static void
refused(struct arena *a, struct str text, const struct err_kind *kind)
{
	struct import_file in =
	    file_of(text, "amount=A,currency:=EUR,reference=A,counterparty=A");
	struct plan plan = { .in = &in };
	struct err e = { 0 };

	assert_int_equal(plan_csv(a, &plan, &e), -1);
	assert_ptr_equal(e.kind, kind);
}

static void
test_files_refused(void **state)
{
	struct arena *a = *state;
	struct buf rows;

	refused(a, STR(""), &err_invalid);
	refused(a, STR("A\n"), &err_invalid);
	refused(a, STR("A\n\xff\n"), &err_malformed);
	refused(a, STR("A\n\"1\n"), &err_malformed);
	buf_init(&rows, 1 << 20);
	buf_add_cstr(&rows, "A\n");
	for (int i = 0; i < IMPORT_RECORDS + 1; i++)
		buf_addf(&rows, "%d\n", i + 1);
	refused(a, buf_str(&rows), &err_too_large);
	buf_fini(&rows);
}

/* 100 wrong rows: 64 told, all counted. */
static void
test_faults_are_capped(void **state)
{
	struct import_file in;
	struct plan plan = { .in = &in };
	struct err e = { 0 };
	struct buf rows;
	size_t n = 0;

	buf_init(&rows, 1 << 20);
	buf_add_cstr(&rows, "A\n");
	for (int i = 0; i < 100; i++)
		buf_add_cstr(&rows, "-1\n");
	in = file_of(buf_str(&rows),
	    "amount=A,currency:=EUR,reference=A,counterparty=A");
	assert_int_equal(plan_csv(*state, &plan, &e), -1);
	for (const struct err_field *f = e.fields; f; f = f->next)
		n++;
	assert_int_equal(n, 64);
	assert_non_null(strstr(e.detail, "of 100 faults"));
	buf_fini(&rows);
}

static void
test_totals(void **state)
{
	struct import_file in = file_of(
	    read_vector(*state, "conf/demo/invoices.csv"), DEMO_MAPPING);
	struct plan plan = { .in = &in };
	struct err e = { 0 };
	const struct import_total *t;
	struct list totals;

	assert_int_equal(plan_csv(*state, &plan, &e), 0);
	assert_int_equal(plan_totals(*state, &plan, &totals, &e), 0);
	assert_int_equal(totals.n, 1);
	t = totals.items;
	assert_int_equal(t->records, 4);
	/* 7320.55 + 1180.00 + 25400.00 + 980.40 */
	assert_true(str_is(t->amount.text, "34880.95"));
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_rows),
		TEST(test_rows_refused),
		TEST(test_line_numbers),
		TEST(test_limits),
		TEST(test_invoices),
		TEST(test_demo_files_are_the_vectors),
		TEST(test_german),
		TEST(test_every_fault),
		TEST(test_mapping),
		TEST(test_files_refused),
		TEST(test_faults_are_capped),
		TEST(test_totals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
