/*
 * Bank statements: what is read, what must add up, and what is refused
 * unread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "domain/source_records/camt053.h"
#include "ledger/base/buf.h"
#include "ledger/base/io.h"

#define VECTORS "tests/vectors/camt053/"

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

static struct str
vector(struct arena *a, const char *name)
{
	struct err e = { 0 };
	struct str text;

	if (io_read_file(
		a, arena_printf(a, VECTORS "%s", name), 1 << 20, &text, &e))
		fail_msg("%s: %s", name, e.detail);
	return text;
}

/* The text with the first `from` replaced; it must be there. */
static struct str
changed(struct arena *a, struct str text, const char *from, const char *to)
{
	const char *at = memmem(text.p, text.n, from, strlen(from));
	size_t before;

	if (!at)
		fail_msg("no \"%s\"", from);
	before = (size_t)(at - text.p);
	return arena_strf(a, "%.*s%s%.*s", (int)before, text.p, to,
	    (int)(text.n - before - strlen(from)), at + strlen(from));
}

static struct camt053
parse(struct arena *a, struct str text)
{
	struct camt053 doc;
	struct err e = { 0 };

	if (camt053_parse(a, text, &doc, &e))
		fail_msg("%s", e.detail);
	return doc;
}

static void
refused(struct arena *a, struct str text, const struct err_kind *kind,
    const char *words)
{
	struct camt053 doc;
	struct err e = { 0 };

	assert_int_equal(camt053_parse(a, text, &doc, &e), -1);
	if (e.kind != kind || !strstr(e.detail, words))
		fail_msg(
		    "%s: \"%s\" lacks \"%s\"", e.kind->slug, e.detail, words);
}

/* good-08 with a change, refused. */
#define REFUSED(from, to, words)                                      \
	refused(*state,                                               \
	    changed(*state, vector(*state, "good-08.xml"), from, to), \
	    &err_invalid, words)

static void
test_version_08(void **state)
{
	struct camt053 doc = parse(*state, vector(*state, "good-08.xml"));
	const struct camt053_statement *s = doc.statements;
	const struct camt053_entry *entry = s->entries;

	assert_true(str_is(doc.version, "08"));
	assert_int_equal(doc.n_statements, 1);
	assert_int_equal(doc.n_entries, 4);
	assert_true(str_is(s->id, "2026-07-01/EUR/128"));
	assert_true(str_is(s->account, "DE89370400440532013000"));
	assert_true(str_is(s->servicer, "COBADEFFXXX"));
	assert_int_equal(s->sequence, 128);
	assert_string_equal(s->currency->code, "EUR");
	assert_int_equal(s->opening.minor, 12500000);
	assert_int_equal(s->closing.minor, 13211695);
	assert_true(str_is(s->closing.on, "2026-07-01"));
	assert_int_equal(s->credit_minor, 1845000);
	assert_int_equal(s->debit_minor, 1133305);
	assert_int_equal(s->skipped, 1);

	assert_int_equal(entry->minor, 1845000);
	assert_false(entry->debit);
	assert_true(str_is(entry->end_to_end, "ALP-2026-0117"));
	assert_true(str_is(entry->bank_reference, "2026070100000117"));
	assert_true(str_is(entry->entry_reference, "1"));
	assert_true(str_is(entry->counterparty_name, "Alpine Components GmbH"));
	assert_true(str_is(entry->counterparty_account, "NL91ABNA0417164300"));
	assert_true(
	    str_is(entry->remittance, "Rebate 2026 H1, credit note 0117"));
	entry = entry->next;
	assert_true(entry->debit);
	assert_true(str_is(entry->counterparty_name, "Nordwind Logistik AG"));
	entry = entry->next;
	assert_int_equal(entry->minor, 1250);
	assert_true(str_is(entry->value_on, "2026-06-30"));
	assert_null(entry->end_to_end.p);
	assert_int_equal(entry->transactions, 0);
	assert_true(str_is(entry->remittance, "Account fee June"));
	entry = entry->next;
	assert_int_equal(entry->transactions, 2);
	assert_null(entry->end_to_end.p);
	assert_null(entry->next);
}

static void
test_version_02(void **state)
{
	struct camt053 doc = parse(*state, vector(*state, "good-02.xml"));
	const struct camt053_statement *s = doc.statements;
	const struct camt053_entry *entry = s->entries->next;

	assert_true(str_is(doc.version, "02"));
	assert_int_equal(doc.n_statements, 2);
	assert_true(str_is(s->account, "0012345678"));
	assert_true(str_is(s->servicer, "BOTKJPJT"));
	assert_int_equal(s->sequence, 9);
	assert_int_equal(s->closing.minor, 750);
	assert_int_equal(entry->minor, 1000);
	assert_null(entry->end_to_end.p);
	assert_true(str_is(entry->bank_reference, "A-1"));
	assert_true(str_is(entry->counterparty_name, "Kitamura & Sons"));
	assert_true(str_is(entry->counterparty_account, "77-1"));
	assert_true(str_is(entry->remittance, "RF18539007547034"));
	assert_true(str_is(entry->booked_on, "2026-03-02"));

	s = s->next;
	assert_int_equal(s->sequence, -1);
	assert_int_equal(s->opening.minor, 10010);
	assert_int_equal(s->closing.minor, -29985);
	assert_true(s->entries->debit && s->entries->reversal);
	/* The returned credit came from the debtor. */
	assert_true(str_is(s->entries->counterparty_name, "Payer Ltd"));
	assert_true(str_is(s->entries->end_to_end, "OUT-5"));
}

static void
test_later_versions(void **state)
{
	struct str text = vector(*state, "good-08.xml");

	assert_true(str_is(
	    parse(*state, changed(*state, text, "053.001.08", "053.001.13"))
		.version,
	    "13"));
	refused(*state, changed(*state, text, "053.001.08", "053.001.01"),
	    &err_malformed, "not a bank statement");
	refused(*state, changed(*state, text, "053.001.08", "053.001.8"),
	    &err_malformed, "not a bank statement");
	refused(*state,
	    changed(*state, text, "camt.053.001.08", "camt.052.001.08"),
	    &err_malformed, "not a bank statement");
	refused(*state, vector(*state, "not-a-statement.xml"), &err_malformed,
	    "not a bank statement");
}

static void
test_sums(void **state)
{
	REFUSED("EUR\">132116.95", "EUR\">132116.96",
	    "give 132116.95 EUR, its closing balance is 132116.96: the "
	    "difference is 0.01");
	REFUSED(
	    "EUR\">132116.95", "EUR\">132116.94", "the difference is -0.01");
	REFUSED("EUR\">7320.55", "EUR\">7320.54", "the difference is -0.01");
	REFUSED("EUR\">18450.00</Amt>\n        <CdtDbtInd>CRDT",
	    "EUR\">18450.00</Amt>\n        <CdtDbtInd>DBIT",
	    "the difference is 36900.00");
	/* A pending entry booked would count. */
	REFUSED("PDNG", "BOOK", "the difference is 999.00");
}

static void
test_amounts(void **state)
{
	REFUSED("EUR\">18450.00", "EUR\">18450.001",
	    "entry 1, amount \"18450.001\"");
	REFUSED("EUR\">18450.00", "EUR\">-18450.00",
	    "entry 1, amount \"-18450.00\"");
	REFUSED("EUR\">18450.00", "EUR\">1845e1", "entry 1, amount");
	REFUSED("EUR\">18450.00", "EUR\">", "entry 1 has no amount");
	REFUSED(
	    "EUR\">18450.00", "EUR\">99999999999999999999", "entry 1, amount");
	REFUSED("EUR\">18450.00", "EUR\">18,450.00", "entry 1, amount");
	REFUSED("EUR\">18450", "USD\">18450",
	    "entry 1 is in USD, the account in EUR");
	REFUSED("EUR\">18450", "EURO\">18450", "is not a currency");
	REFUSED("EUR\">132116.95", "USD\">132116.95",
	    "the closing balance is in USD, the account in EUR");
	REFUSED("<Ccy>EUR", "<Ccy>USD",
	    "the opening balance is in EUR, the account in USD");
	REFUSED(
	    "<CdtDbtInd>CRDT", "<CdtDbtInd>CREDIT", "neither CRDT nor DBIT");
}

static void
test_header(void **state)
{
	REFUSED("<Id>2026-07-01/EUR/128</Id>", "", "a statement has no Id");
	REFUSED(
	    "<IBAN>DE89370400440532013000</IBAN>", "", "it names no account");
	REFUSED(
	    "DE89370400440532013000", "DE89370400440532013001", "check digits");
	REFUSED("OPBD", "ITBD", "it has no opening balance");
	REFUSED("CLBD", "CLAV", "it has no closing balance");
	REFUSED("<Dt>2026-07-01</Dt>", "<Dt>2026-02-29</Dt>",
	    "\"2026-02-29\" is not a date");
	REFUSED("<Dt><Dt>2026-07-01</Dt></Dt>", "", "a balance has no date");
	REFUSED(">128<", ">12a<", "its sequence number is not a number");
	REFUSED("CLAV", "CLBD", "the closing balance is given twice");
}

static void
test_duplicate_statement(void **state)
{
	struct arena *a = *state;
	struct str text = vector(a, "good-08.xml");
	const char *from = memmem(text.p, text.n, "<Stmt>", 6);
	const char *to = memmem(text.p, text.n, "</Stmt>", 7);
	struct str statement = { from, (size_t)(to - from) + 7 };
	const char *twice =
	    arena_printf(a, "%.*s</BkToCstmrStmt>", STR_ARGS(statement));

	refused(a, changed(a, text, "</BkToCstmrStmt>", twice), &err_invalid,
	    "the file holds it twice");
}

static void
test_doctypes(void **state)
{
	static const char *const names[] = { "billion-laughs.xml",
		"external-entity.xml", "doctype.xml" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		refused(*state, vector(*state, names[i]), &err_malformed,
		    "document types and entities are not accepted");
	refused(*state, vector(*state, "undefined-entity.xml"), &err_malformed,
	    "not well-formed");
}

static void
test_not_xml(void **state)
{
	struct arena *a = *state;
	struct str text = vector(a, "good-08.xml");

	refused(a, STR(""), &err_malformed, "");
	refused(a, STR("hello"), &err_malformed, "");
	refused(a, STR("\xff\xfe<\0D\0"), &err_malformed, "not in UTF-8");
	refused(a, STR("<a/>"), &err_malformed, "not a bank statement");
	/* Every truncation, in steps: none is taken for a whole file. */
	for (size_t n = 0; n < text.n - 2; n += 97)
		refused(a, str_slice(text, 0, n), &err_malformed, "");
	refused(a, str_slice(text, 0, text.n - 3), &err_malformed, "");
	refused(a, changed(a, text, "</Document>", "</Document><more/>"),
	    &err_malformed, "not well-formed");
	refused(a, changed(a, text, "</Ntry>", "</Entry>"), &err_malformed,
	    "not well-formed");
}

static void
test_without_statement(void **state)
{
	refused(*state,
	    STR("<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:"
		"camt.053.001.08\"><BkToCstmrStmt/></Document>"),
	    &err_invalid, "no statement");
	/* Elements of another namespace are not the bank's. */
	refused(*state,
	    STR("<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:"
		"camt.053.001.08\"><BkToCstmrStmt><Stmt xmlns=\"urn:x\"/>"
		"</BkToCstmrStmt></Document>"),
	    &err_invalid, "no statement");
}

/* The declared encoding is not believed. */
static void
test_encoding(void **state)
{
	struct str text = vector(*state, "good-08.xml");

	parse(*state, changed(*state, text, "encoding=\"UTF-8\"",
			  "encoding=\"ISO-8859-1\""));
}

static void
test_sizes(void **state)
{
	struct arena *a = *state;
	char *big = calloc(1, CAMT053_BYTES + 1);
	struct camt053 doc;
	struct err e = { 0 };
	struct buf deep;

	memset(big, ' ', CAMT053_BYTES + 1);
	assert_int_equal(
	    camt053_parse(a, (struct str){ big, CAMT053_BYTES + 1 }, &doc, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_too_large);
	free(big);
	buf_init(&deep, 1 << 20);
	buf_add_cstr(&deep, "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:"
			    "camt.053.001.08\">");
	for (int i = 0; i < 5000; i++)
		buf_add_cstr(&deep, "<a>");
	refused(a, buf_str(&deep), &err_malformed, "not well-formed");
	buf_fini(&deep);
}

static void
test_many_entries(void **state)
{
	struct arena *a = *state;
	struct str text = vector(a, "good-08.xml");
	struct camt053 doc;
	struct err e = { 0 };
	struct buf b;

	buf_init(&b, CAMT053_BYTES);
	for (int i = 0; i < CAMT053_ENTRIES; i++)
		buf_add_cstr(&b,
		    "<Ntry><Amt Ccy=\"EUR\">1.00</Amt><CdtDbtInd>CRDT"
		    "</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts></Ntry>");
	buf_add_cstr(&b, "</Stmt>");
	buf_add_byte(&b, '\0');
	assert_int_equal(
	    camt053_parse(
		a, changed(a, text, "</Stmt>", buf_str(&b).p), &doc, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_too_large);
	buf_fini(&b);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_version_08),
		TEST(test_version_02),
		TEST(test_later_versions),
		TEST(test_sums),
		TEST(test_amounts),
		TEST(test_header),
		TEST(test_duplicate_statement),
		TEST(test_doctypes),
		TEST(test_not_xml),
		TEST(test_without_statement),
		TEST(test_encoding),
		TEST(test_sizes),
		TEST(test_many_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
