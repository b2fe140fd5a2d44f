/*
 * Imports through the whole way of a request, and what Finance Core shows of
 * them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "domain/source_records/plan.h"
#include "ledger/base/io.h"
#include "tests/support/desk.h"

#define IMPORT "source_record.import"
#define MAPPING                                                     \
	"amount=Amount,currency=Currency,reference=\"Invoice No\"," \
	"counterparty=Supplier,date=\"Due date\","                  \
	"general_ledger=Ledger account,description=Text"
#define SIMPLE "amount=A,currency:=EUR,reference=R,counterparty=C"

static int
setup(void **state)
{
	static struct desk d;

	desk_open(&d, "sandbox");
	desk_do(&d, "counterparty.add",
	    "{\"name\":\"Nordwind Logistik AG\","
	    "\"account\":\"DE75512108001245126199\","
	    "\"lei\":\"529900T8BM49AURSDO55\"}");
	desk_do(&d, "counterparty.add",
	    "{\"name\":\"Alpine Components GmbH\","
	    "\"account\":\"NL91ABNA0417164300\"}");
	*state = &d;
	return 0;
}

static int
teardown(void **state)
{
	desk_close(*state);
	return 0;
}

static struct str
file(struct desk *d, const char *path)
{
	struct err e = { 0 };
	struct str text;

	if (io_read_file(d->a, path, 1 << 20, &text, &e))
		fail_msg("%s: %s", path, e.detail);
	return text;
}

static const char *
as_text(struct arena *a, const struct json *v)
{
	struct buf b;
	const char *text;

	buf_init(&b, 4 << 20);
	json_write(v, &b);
	text = arena_cstr(a, buf_str(&b));
	buf_fini(&b);
	return text;
}

static const char *
request(struct desk *d, struct str text, const char *format, const char *kind,
    const char *mapping)
{
	struct json *v = json_object(d->a);

	json_put_str(d->a, v, "file", text);
	json_put_str(d->a, v, "file_name", STR("name.txt"));
	json_put_str(d->a, v, "format", str_from(format));
	if (kind)
		json_put_str(d->a, v, "kind", str_from(kind));
	if (mapping)
		json_put_str(d->a, v, "mapping", str_from(mapping));
	return as_text(d->a, v);
}

static const char *
csv(struct desk *d, const char *text)
{
	return request(d, str_from(text), "csv", "invoice", SIMPLE);
}

static const char *
statement(struct desk *d, struct str text, int64_t gl)
{
	struct json *v = json_object(d->a);

	json_put_str(d->a, v, "file", text);
	json_put_str(d->a, v, "format", STR("camt.053"));
	json_put_int(d->a, v, "general_ledger_id", gl);
	return as_text(d->a, v);
}

/* Refused, with a fault of this code whose words hold these. */
static void
refused(struct desk *d, const char *input, const char *code, const char *words)
{
	struct reply reply;
	struct err e;

	assert_int_equal(
	    desk_call(d, &d->staff, IMPORT, input, &reply, &e), -1);
	for (const struct err_field *f = e.fields; f; f = f->next)
		if (strcmp(f->code, code) == 0 && strstr(f->detail, words))
			return;
	fail_msg("no %s with \"%s\" in %s", code, words, e.detail);
}

static int64_t
int_of(const struct json *v, const char *name)
{
	int64_t n = -1;

	if (!json_get_int(v, name, &n))
		fail_msg("%s is no integer", name);
	return n;
}

static bool
bool_of(const struct json *v, const char *name)
{
	const struct json *member = json_get(v, name);

	assert_non_null(member);
	return member->type == JSON_TRUE;
}

static void
expect_str(const struct json *v, const char *name, const char *text)
{
	struct str s = json_get_str(v, name);

	if (!str_is(s, text))
		fail_msg("%s is \"%.*s\", not \"%s\"", name, STR_ARGS(s), text);
}

/* The replies' first record of a list. */
static const struct json *
first(const struct json *page)
{
	const struct json *data = json_get(page, "data");

	assert_non_null(data);
	assert_non_null(data->first);
	return data->first;
}

static struct json *
import_invoices(struct desk *d)
{
	return desk_do(d, IMPORT,
	    request(d, file(d, "conf/demo/invoices.csv"), "csv", "invoice",
		MAPPING));
}

static struct json *
import_statement(struct desk *d)
{
	return desk_do(
	    d, IMPORT, statement(d, file(d, "conf/demo/statement.xml"), 1200));
}

/* As an application sees it. */
static struct json *
ask(struct desk *d, const struct caller *caller, const char *id,
    const char *input)
{
	struct reply reply;
	struct err e;

	if (desk_call(d, caller, id, input, &reply, &e))
		fail_msg("%s: %s", id, e.detail);
	return reply.body;
}

static void
finance_reader(struct desk *d, struct caller *out)
{
	desk_application(
	    d, "Reader", "[\"finance-core:read\"]", "[\"finance-core\"]", out);
}

static void
test_invoices(void **state)
{
	struct desk *d = *state;
	struct json *v = import_invoices(d);
	const struct json *row, *total = json_get(v, "totals")->first;

	assert_int_equal(int_of(v, "records"), 4);
	assert_int_equal(int_of(v, "first_record_id"), 1);
	assert_false(bool_of(v, "already_imported"));
	assert_non_null(json_get(v, "evidence"));
	expect_str(total, "amount", "34880.95");
	row = first(desk_do(d, "source_record.list", "{}"));
	expect_str(row, "kind", "invoice");
	expect_str(row, "amount", "7320.55");
	expect_str(row, "reference", "NWL-2026-0042");
	assert_int_equal(int_of(row, "counterparty_id"), 1);
	assert_int_equal(int_of(row, "general_ledger_id"), 1600);
	row = first(desk_do(
	    d, "source_record.list", "{\"counterparty_id\":2,\"limit\":1}"));
	assert_int_equal(int_of(row, "id"), 3);
	row = first(desk_do(
	    d, "source_record.list", "{\"reference\":\"ALP-2026-0202\"}"));
	expect_str(row, "amount", "980.40");
}

/* The seal is the SHA-256 of the bytes shown. */
static void
test_seal(void **state)
{
	struct desk *d = *state;
	const struct json *row, *shown;
	char hex[DIGEST_HEX + 1];

	import_invoices(d);
	row = first(desk_do(d, "source_record.list", "{}"));
	shown = desk_do(d, "source_record.show",
	    arena_printf(d->a, "{\"uid\":\"%.*s\"}",
		STR_ARGS(json_get_str(row, "uid"))));
	digest_hex(sha256(json_get_str(shown, "canonical")), hex);
	expect_str(shown, "sha256", hex);
	expect_str(shown, "canonical",
	    "{\"amount\":\"7320.55\",\"counterparty_id\":1,"
	    "\"currency\":\"EUR\",\"description\":\"Freight Hamburg to Lyon, "
	    "June\",\"due_on\":\"2026-07-15\",\"general_ledger_id\":1600,"
	    "\"kind\":\"invoice\",\"reference\":\"NWL-2026-0042\","
	    "\"reversal\":false}");
}

static void
test_twice(void **state)
{
	struct desk *d = *state;
	struct json *one = import_invoices(d), *two;
	struct str before = desk_dump(d);

	two = import_invoices(d);
	assert_true(bool_of(two, "already_imported"));
	assert_true(str_eq(json_get_str(one, "uid"), json_get_str(two, "uid")));
	assert_int_equal(int_of(two, "records"), 4);
	assert_true(str_eq(before, desk_dump(d)));
	/* With another kind it is another import. */
	two = desk_do(d, IMPORT,
	    request(d, file(d, "conf/demo/invoices.csv"), "csv", "obligation",
		MAPPING));
	assert_false(bool_of(two, "already_imported"));
	assert_int_equal(int_of(two, "first_record_id"), 5);
}

static void
test_counterparty_names(void **state)
{
	struct desk *d = *state;
	const struct json *v;

	desk_do(d, IMPORT,
	    csv(d, "A,R,C\n1.00,a,1\n2.00,b,DE75512108001245126199\n"
		   "3.00,c,529900T8BM49AURSDO55\n4.00,d,"
		   "Nordwind Logistik AG\n"));
	v = desk_do(d, "source_record.list", "{\"counterparty_id\":1}");
	assert_int_equal(json_get(v, "data")->n, 4);
	refused(d, csv(d, "A,R,C\n1.00,x,3\n"), "unknown_counterparty",
	    "line 2: no registered counterparty");
	refused(d, csv(d, "A,R,C\n1.00,x,1\n1.00,y,Nord\n"),
	    "unknown_counterparty", "line 3");
}

static void
test_duplicates(void **state)
{
	struct desk *d = *state;
	struct json *v;

	refused(d, csv(d, "A,R,C\n1.00,x,1\n2.00,y,1\n9.00,x,1\n"), "duplicate",
	    "line 4 is the same record as line 2");
	/* A counterparty's numbers are its own. */
	v = desk_do(d, IMPORT, csv(d, "A,R,C\n1.00,x,1\n1.00,x,2\n"));
	assert_int_equal(int_of(v, "records"), 2);
	refused(d, csv(d, "A,R,C\n1.00,z,1\n5.00,x,2\n"), "duplicate",
	    "line 3: the same record is sealed already");
	v = desk_do(d, "source_record.list", "{}");
	assert_int_equal(json_get(v, "data")->n, 2);
}

static void
arrangement_refused(
    struct desk *d, const char *uid, const char *party, const char *code)
{
	refused(d,
	    request(d, arena_strf(d->a, "A,R,C,X\n1.00,r,%s,%s\n", party, uid),
		"csv", "obligation", SIMPLE ",arrangement=X"),
	    code, "line 2");
}

static void
test_arrangements(void **state)
{
	struct desk *d = *state;
	const char *usd, *eur;
	struct json *v;

	eur = arena_cstr(d->a,
	    json_get_str(desk_do(d, "arrangement.add",
			     "{\"counterparty_id\":1,\"kind\":\"facility\","
			     "\"currency\":\"EUR\"}"),
		"uid"));
	usd = arena_cstr(d->a,
	    json_get_str(desk_do(d, "arrangement.add",
			     "{\"counterparty_id\":1,\"kind\":\"facility\","
			     "\"currency\":\"USD\"}"),
		"uid"));
	arrangement_refused(d, usd, "1", "arrangement_currency");
	arrangement_refused(d, eur, "2", "arrangement_counterparty");
	arrangement_refused(d, "01980a3c-7c00-7abc-8def-0123456789ab", "1",
	    "unknown_arrangement");
	v = desk_do(d, IMPORT,
	    request(d, arena_strf(d->a, "A,R,C,X\n1.00,r,1,%s\n", eur), "csv",
		"obligation", SIMPLE ",arrangement=X"));
	assert_int_equal(int_of(v, "records"), 1);
	expect_str(first(desk_do(d, "source_record.list", "{}")),
	    "arrangement_uid", eur);
}

static void
test_options(void **state)
{
	struct desk *d = *state;
	struct str text = file(d, "conf/demo/statement.xml");

	refused(d, request(d, STR("A\n1\n"), "csv", NULL, NULL), "enum",
	    "must be obligation");
	refused(d, request(d, STR("A\n1\n"), "csv", "statement_entry", NULL),
	    "enum", "must be obligation");
	refused(d, request(d, text, "camt.053", "invoice", NULL), "enum",
	    "must be statement_entry");
	refused(d, request(d, text, "camt.053", NULL, "a=b"), "unknown",
	    "is for CSV");
	refused(d, request(d, text, "mt940", NULL, NULL), "enum", "must be");
}

static void
test_statement(void **state)
{
	struct desk *d = *state;
	struct json *v = import_statement(d);
	const struct json *row;
	struct caller reader;

	assert_int_equal(int_of(v, "records"), 4);
	expect_str(v, "kind", "statement_entry");
	assert_int_equal(json_get(v, "statement_uids")->n, 1);
	assert_int_equal(json_get(v, "warnings")->n, 1); /* the pending one */
	finance_reader(d, &reader);
	row = first(ask(d, &reader, "finance_core.bank_statements", "{}"));
	expect_str(row, "account", "****3000");
	expect_str(row, "opening_balance", "125000.00");
	expect_str(row, "closing_balance", "132116.95");
	expect_str(row, "credits", "18450.00");
	expect_str(row, "debits", "11333.05");
	expect_str(row, "currency", "EUR");
	expect_str(row, "status", "imported");
	assert_int_equal(int_of(row, "general_ledger_id"), 1200);
	assert_int_equal(int_of(row, "sequence"), 128);
	assert_int_equal(int_of(row, "open_entries"), 4);
	/* Known by account, and by name; fee and batch by neither. */
	v = desk_do(d, "source_record.list", "{\"kind\":\"statement_entry\"}");
	row = json_get(v, "data")->first;
	assert_int_equal(int_of(row, "counterparty_id"), 2);
	assert_int_equal(int_of(row->next, "counterparty_id"), 1);
	assert_int_equal(
	    json_get(row->next->next, "counterparty_id")->type, JSON_NULL);
	assert_true(
	    bool_of(desk_do(d, IMPORT,
			statement(d, file(d, "conf/demo/statement.xml"), 1200)),
		"already_imported"));
}

/* The demo's statement with something replaced. */
static struct str
other_statement(
    struct desk *d, const char *from, const char *to, struct str text)
{
	const char *at = memmem(text.p, text.n, from, strlen(from));

	assert_non_null(at);
	return arena_strf(d->a, "%.*s%s%.*s", (int)(at - text.p), text.p, to,
	    (int)(text.n - (size_t)(at - text.p) - strlen(from)),
	    at + strlen(from));
}

static void
test_statement_again(void **state)
{
	struct desk *d = *state;
	struct str text = file(d, "conf/demo/statement.xml");

	import_statement(d);
	refused(d,
	    statement(d, other_statement(d, "DEMO-", "AGAIN-", text), 1200),
	    "duplicate", "is imported already, as ");
	/* Another statement that holds the same bookings. */
	refused(d,
	    statement(d, other_statement(d, "EUR/128", "EUR/129", text), 1200),
	    "duplicate", "entry 1: the same record is sealed already");
	refused(d, statement(d, STR("<a/>"), 0), "minimum", "at least 1");
}

/* The next day's statement, with one booking. */
static struct str
next_day(struct desk *d, const char *opening, const char *closing, int sequence)
{
	return arena_strf(d->a,
	    "<Document xmlns='urn:iso:std:iso:20022:tech:xsd:camt.053.001.08'>"
	    "<BkToCstmrStmt><Stmt><Id>S%d</Id><ElctrncSeqNb>%d</ElctrncSeqNb>"
	    "<Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct>"
	    "<Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp>"
	    "<Amt Ccy='EUR'>%s</Amt><CdtDbtInd>CRDT</CdtDbtInd>"
	    "<Dt><Dt>2026-07-02</Dt></Dt></Bal>"
	    "<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp>"
	    "<Amt Ccy='EUR'>%s</Amt><CdtDbtInd>CRDT</CdtDbtInd>"
	    "<Dt><Dt>2026-07-02</Dt></Dt></Bal>"
	    "<Ntry><Amt Ccy='EUR'>1.00</Amt><CdtDbtInd>DBIT</CdtDbtInd>"
	    "<Sts><Cd>BOOK</Cd></Sts></Ntry></Stmt></BkToCstmrStmt>"
	    "</Document>",
	    sequence, sequence, opening, closing);
}

static void
test_gaps(void **state)
{
	struct desk *d = *state;
	struct json *v;

	import_statement(d);
	v = desk_do(d, IMPORT,
	    statement(d, next_day(d, "132116.95", "132115.95", 129), 1200));
	assert_int_equal(json_get(v, "warnings")->n, 0);
	v = desk_do(d, IMPORT,
	    statement(d, next_day(d, "132000.00", "131999.00", 132), 1200));
	assert_int_equal(json_get(v, "warnings")->n, 2);
	assert_non_null(strstr(as_text(d->a, json_get(v, "warnings")),
	    "opens with 132000.00 EUR; the one before it, to 2026-07-02, "
	    "closed with 132115.95"));
	assert_non_null(strstr(as_text(d->a, json_get(v, "warnings")),
	    "has the sequence number 132; the one before it has 129"));
}

static size_t
matches(struct desk *d, const struct caller *reader, const char *query)
{
	return json_get(
	    ask(d, reader, "finance_core.bank_statements", query), "data")
	    ->n;
}

static void
test_filters(void **state)
{
	struct desk *d = *state;
	struct caller reader, stranger;
	const char *uid;
	struct json *v;

	import_statement(d);
	desk_do(d, IMPORT,
	    statement(d, next_day(d, "132116.95", "132115.95", 129), 77));
	finance_reader(d, &reader);
	v = ask(d, &reader, "finance_core.bank_statements", "{\"limit\":1}");
	assert_int_equal(int_of(v, "next_after_id"), 1);
	assert_true(bool_of(v, "has_more"));
	uid = arena_printf(d->a, "{\"uid\":\"%.*s\"}",
	    STR_ARGS(json_get_str(first(v), "uid")));
	assert_int_equal(matches(d, &reader, "{}"), 2);
	assert_int_equal(matches(d, &reader, "{\"after_id\":1}"), 1);
	assert_int_equal(matches(d, &reader, uid), 1);
	assert_int_equal(matches(d, &reader, "{\"general_ledger_id\":77}"), 1);
	assert_int_equal(matches(d, &reader, "{\"general_ledger_id\":78}"), 0);
	assert_int_equal(matches(d, &reader, "{\"status\":\"imported\"}"), 2);
	assert_int_equal(matches(d, &reader, "{\"status\":\"reconciled\"}"), 0);
	assert_int_equal(matches(d, &reader,
			     "{\"status\":\"imported\","
			     "\"general_ledger_id\":1200}"),
	    1);
	/* Of another workspace: as if it were not there. */
	desk_move(d, "other");
	finance_reader(d, &stranger);
	assert_int_equal(matches(d, &stranger, uid), 0);
	assert_int_equal(matches(d, &stranger, "{}"), 0);
}

static void
test_inventory(void **state)
{
	struct desk *d = *state;
	struct caller reader;
	const struct json *v, *authority, *kinds;

	import_invoices(d);
	import_statement(d);
	finance_reader(d, &reader);
	v = ask(d, &reader, "finance_core.show", "{}");
	expect_str(v, "workspace", "acme");
	expect_str(v, "environment", "sandbox");
	authority = json_get(v, "authority");
	assert_true(bool_of(authority, "read_only"));
	assert_false(bool_of(authority, "posts_journals"));
	assert_false(bool_of(authority, "locks_periods"));
	assert_false(bool_of(authority, "moves_cash"));
	assert_false(bool_of(authority, "executes_actions"));
	v = json_get(v, "inventory");
	assert_int_equal(int_of(v, "bank_accounts"), 1);
	assert_int_equal(int_of(v, "bank_statements"), 1);
	assert_int_equal(int_of(v, "source_imports"), 2);
	assert_int_equal(int_of(v, "counterparties"), 2);
	assert_int_equal(int_of(v, "arrangements"), 0);
	expect_str(v, "statement_to", "2026-07-01");
	kinds = json_get(v, "source_records");
	assert_int_equal(int_of(kinds, "invoice"), 4);
	assert_int_equal(int_of(kinds, "statement_entry"), 4);
	assert_int_equal(int_of(kinds, "obligation"), 0);
}

static void
forbidden(struct desk *d, const struct caller *caller)
{
	struct reply reply;
	struct err e;

	assert_int_equal(
	    desk_call(d, caller, "finance_core.show", "{}", &reply, &e), -1);
	assert_ptr_equal(e.kind, &err_forbidden);
	assert_int_equal(desk_call(d, caller, "finance_core.bank_statements",
			     "{}", &reply, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_forbidden);
}

static void
test_forbidden(void **state)
{
	struct desk *d = *state;
	struct caller caller;

	desk_application(
	    d, "One", "[\"actions:read\"]", "[\"finance-core\"]", &caller);
	forbidden(d, &caller);
	desk_application(
	    d, "Two", "[\"finance-core:read\"]", "[\"knowledge\"]", &caller);
	forbidden(d, &caller);
}

static void
test_rebuild(void **state)
{
	struct desk *d = *state;
	struct str before;

	import_invoices(d);
	import_statement(d);
	desk_do(d, IMPORT,
	    statement(d, file(d, "tests/vectors/camt053/good-02.xml"), 9));
	before = desk_dump(d);
	assert_non_null(strstr(arena_cstr(d->a, before), "NWL-2026-0042"));
	desk_rebuild(d);
	assert_true(str_eq(before, desk_dump(d)));
}

/* As many records as an import takes, nearly as many bytes: one batch; with the
 * last row wrong, nothing. */
static void
test_many(void **state)
{
	static const char mapping[] = SIMPLE ",description:=abcd";
	struct desk *d = *state;
	const struct json *v;
	struct buf b;

	buf_init(&b, 1 << 20);
	buf_add_cstr(&b, "A,R,C\n");
	for (int i = 1; i < IMPORT_RECORDS; i++)
		buf_addf(&b, "%d.%02d,INV-%05d,%d\n", i, i % 100, i, 1 + i % 2);
	refused(d,
	    request(d, arena_strf(d->a, "%.*s1,NEW,3\n", STR_ARGS(buf_str(&b))),
		"csv", "entitlement", mapping),
	    "unknown_counterparty", "line 10001");
	v = desk_do(d, "source_record.list", "{}");
	assert_int_equal(json_get(v, "data")->n, 0);

	buf_add_cstr(&b, "10000.00,INV-10000,1\n");
	v = desk_do(
	    d, IMPORT, request(d, buf_str(&b), "csv", "entitlement", mapping));
	assert_int_equal(int_of(v, "records"), IMPORT_RECORDS);
	assert_int_equal(json_get(v, "events")->n, 1 + IMPORT_RECORDS / 100);
	v = desk_do(d, "source_record.list", "{\"after_id\":9999}");
	assert_int_equal(json_get(v, "data")->n, 1);
	expect_str(first(v), "reference", "INV-10000");
	expect_str(first(v), "amount", "10000.00");
	buf_fini(&b);
}

static void
test_too_many_bytes(void **state)
{
	struct desk *d = *state;
	struct reply reply;
	struct err e;
	struct buf b;

	buf_init(&b, 1 << 20);
	buf_add_cstr(&b, "A,R,C\n");
	for (int i = 1; i <= IMPORT_RECORDS; i++)
		buf_addf(&b, "1,INV-%d,1\n", i);
	assert_int_equal(
	    desk_call(d, &d->staff, IMPORT,
		request(d, buf_str(&b), "csv", "invoice",
		    SIMPLE ",description:=\"" /* 100 bytes for each row */
			   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
			   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
			   "\""),
		&reply, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_too_large);
	assert_non_null(strstr(e.detail, "split the file"));
	buf_fini(&b);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_invoices),
		TEST(test_seal),
		TEST(test_twice),
		TEST(test_counterparty_names),
		TEST(test_duplicates),
		TEST(test_arrangements),
		TEST(test_options),
		TEST(test_statement),
		TEST(test_statement_again),
		TEST(test_gaps),
		TEST(test_filters),
		TEST(test_inventory),
		TEST(test_forbidden),
		TEST(test_rebuild),
		TEST(test_many),
		TEST(test_too_many_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
