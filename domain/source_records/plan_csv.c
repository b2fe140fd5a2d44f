#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "domain/source_records/csv.h"
#include "domain/source_records/mapping.h"
#include "domain/source_records/plan.h"
#include "ledger/codec/shape.h"

#define REFERENCE_MAX   140
#define DESCRIPTION_MAX 500
#define ID_MAX          9007199254740991

/* One row being read. */
struct row {
	struct arena *arena;
	const struct import_file *in;
	const struct mapping *map;
	const struct csv_reader *csv;
	struct faults *faults;
	struct draft *draft;
};

__attribute__((format(printf, 4, 5))) static void
fault(
    const struct row *r, enum member m, const char *code, const char *fmt, ...)
{
	va_list ap;
	char words[240];

	va_start(ap, fmt);
	vsnprintf(words, sizeof words, fmt, ap);
	va_end(ap);
	faults_add(r->faults, code, "line %zu, %s: %s", r->csv->line,
	    mapping_where(r->arena, r->map, m), words);
}

static struct str
get(const struct row *r, enum member m)
{
	return mapping_get(r->map, m, r->csv->fields);
}

static struct str
get_required(const struct row *r, enum member m)
{
	struct str text = get(r, m);

	if (!text.p)
		fault(r, m, "required", "%s is empty", member_name(m));
	return text;
}

/* For a fault's words: no longer than reads well. */
static struct str
shown(struct str text)
{
	size_t n = text.n < 60 ? text.n : 60;

	while (n > 0 && n < text.n && ((unsigned char)text.p[n] & 0xc0) == 0x80)
		n--;
	return str_slice(text, 0, n);
}

static void
read_text(const struct row *r, enum member m, struct str text, size_t max,
    struct str *out)
{
	if (!text.p)
		return;
	*out = arena_str(r->arena, text);
	if (str_code_points(text) > max)
		fault(r, m, "too_long", "has more than %zu characters", max);
	else if (!format_text.check(text))
		fault(r, m, "format", "holds control characters");
}

/* A description may run over several lines in its quotes. */
static void
read_description(const struct row *r)
{
	struct str text = get(r, MEMBER_DESCRIPTION);
	char *p;

	if (!text.p)
		return;
	p = arena_cstr(r->arena, text);
	for (size_t i = 0; i < text.n; i++)
		if (p[i] == '\n' || p[i] == '\r' || p[i] == '\t')
			p[i] = ' ';
	read_text(r, MEMBER_DESCRIPTION, (struct str){ p, text.n },
	    DESCRIPTION_MAX, &r->draft->content.description);
}

static void
read_currency(const struct row *r)
{
	struct str code = get_required(r, MEMBER_CURRENCY);
	const struct currency *currency;

	if (!code.p)
		return;
	currency = currency_find(code);
	if (!currency || !currency->payable) {
		fault(r, MEMBER_CURRENCY, "currency",
		    "\"%.*s\" is no currency of ISO 4217 that is paid in",
		    STR_ARGS(shown(code)));
		return;
	}
	r->draft->currency = currency;
	r->draft->content.currency = str_from(currency->code);
}

/* Digits and at most one decimal sign, brought to a point; false for anything
 * else, thousands separators included. */
static bool
plain_amount(const struct row *r, struct str text, struct str *out)
{
	char sign = str_is(r->in->decimal_sign, "comma") ? ',' : '.';
	char *p = arena_cstr(r->arena, text);
	size_t signs = 0;

	for (size_t i = 0; i < text.n; i++) {
		if (p[i] == sign) {
			p[i] = '.';
			signs++;
		} else if (p[i] < '0' || p[i] > '9') {
			return false;
		}
	}
	*out = (struct str){ p, text.n };
	return signs <= 1;
}

static void
read_amount(const struct row *r)
{
	struct str text = get_required(r, MEMBER_AMOUNT), plain;
	enum money_fault why = MONEY_NOT_A_NUMBER;
	struct money money = { 0 };

	if (!text.p || !r->draft->currency)
		return;
	if (plain_amount(r, text, &plain))
		why = money_parse(plain, r->draft->currency, &money);
	if (text.p[0] == '-' || (why == MONEY_OK && money.minor <= 0)) {
		fault(r, MEMBER_AMOUNT, "minimum", "must be above zero");
	} else if (why == MONEY_NOT_A_NUMBER) {
		fault(r, MEMBER_AMOUNT, "amount",
		    "\"%.*s\" is not digits with a decimal %s; thousands "
		    "separators are not accepted",
		    STR_ARGS(shown(text)),
		    str_is(r->in->decimal_sign, "comma") ? "comma" : "point");
	} else if (why != MONEY_OK) {
		fault(r, MEMBER_AMOUNT, "amount", "%s", money_fault_text(why));
	} else {
		r->draft->minor = money.minor;
		r->draft->content.amount.text = money_format(r->arena, money);
	}
}

static void
read_arrangement(const struct row *r)
{
	struct str text = get(r, MEMBER_ARRANGEMENT);

	if (text.p && !uid_parse(text, &r->draft->content.arrangement_uid))
		fault(r, MEMBER_ARRANGEMENT, "format", "\"%.*s\" is not a UUID",
		    STR_ARGS(shown(text)));
}

static void
read_general_ledger(const struct row *r)
{
	struct str text = get(r, MEMBER_GENERAL_LEDGER);
	struct opt_int *id = &r->draft->content.general_ledger_id;

	*id = r->in->general_ledger_id;
	if (!text.p)
		return;
	id->set = str_to_i64(text, &id->v) && id->v > 0 && id->v <= ID_MAX;
	if (!id->set)
		fault(r, MEMBER_GENERAL_LEDGER, "format",
		    "\"%.*s\" is not a general ledger id, a whole number above "
		    "zero",
		    STR_ARGS(shown(text)));
}

/* 3.7.2026, 03/07/2026 or 3-7-2026 as three numbers. */
static bool
split_date(struct str text, uint64_t part[3])
{
	struct str rest = text;
	char separator = '.';

	if (str_find(text, '/') < text.n)
		separator = '/';
	else if (str_find(text, '-') < text.n)
		separator = '-';
	for (int i = 0; i < 3; i++) {
		struct str digits = str_take(&rest, separator);

		if (digits.n == 2 && digits.p[0] == '0' && i < 2)
			digits = str_slice(digits, 1, 2);
		if (!str_to_u64(digits, &part[i]) || digits.n > 4)
			return false;
	}
	return !rest.p;
}

static void
read_date(const struct row *r)
{
	struct str text = get(r, MEMBER_DATE), date = text;
	int month = str_is(r->in->dates, "mdy") ? 0 : 1;
	uint64_t part[3];

	if (!text.p)
		return;
	if (!str_is(r->in->dates, "iso")) {
		date =
		    split_date(text, part)
			? arena_strf(r->arena, "%04d-%02d-%02d", (int)part[2],
			      (int)part[month], (int)part[1 - month])
			: STR_NONE;
	}
	if (date_is_valid(date))
		r->draft->content.due_on = arena_str(r->arena, date);
	else
		fault(r, MEMBER_DATE, "date", "\"%.*s\" is not a date (%s)",
		    STR_ARGS(shown(text)),
		    str_is(r->in->dates, "iso")   ? "YYYY-MM-DD"
		    : str_is(r->in->dates, "dmy") ? "DD.MM.YYYY"
						  : "MM/DD/YYYY");
}

static void
read_row(const struct row *r, size_t columns)
{
	if (r->csv->n != columns) {
		faults_add(r->faults, "columns",
		    "line %zu has %zu fields, the header has %zu", r->csv->line,
		    r->csv->n, columns);
		return;
	}
	r->draft->line = r->csv->line;
	r->draft->content.kind = r->in->kind;
	read_currency(r);
	read_amount(r);
	read_text(r, MEMBER_REFERENCE, get_required(r, MEMBER_REFERENCE),
	    REFERENCE_MAX, &r->draft->content.reference);
	read_text(r, MEMBER_COUNTERPARTY, get_required(r, MEMBER_COUNTERPARTY),
	    REFERENCE_MAX, &r->draft->counterparty);
	read_arrangement(r);
	read_date(r);
	read_general_ledger(r);
	read_description(r);
}

static char
delimiter_of(const struct import_file *in)
{
	if (str_is(in->delimiter, "semicolon"))
		return ';';
	return str_is(in->delimiter, "tab") ? '\t' : ',';
}

/* The header row: names the columns. */
static int
read_header(struct csv_reader *csv, struct mapping *map, struct faults *faults,
    struct err *e)
{
	int more = csv_next(csv, e);

	if (more < 0)
		return -1;
	if (more == 0)
		return err_set(
		    e, &err_invalid, "the file is empty; a header is needed");
	mapping_bind(map, csv->fields, csv->n, faults);
	return faults_raise(faults, e);
}

static int
read_rows(struct arena *a, struct plan *plan, struct csv_reader *csv,
    const struct mapping *map, struct faults *faults, struct err *e)
{
	struct row r = { a, plan->in, map, csv, faults, NULL };
	size_t columns = csv->n;
	int more;

	plan->drafts = arena_array(a, IMPORT_RECORDS, sizeof *plan->drafts);
	while ((more = csv_next(csv, e)) == 1) {
		if (plan->n == IMPORT_RECORDS)
			return err_set(e, &err_too_large,
			    "line %zu: an import takes at most %d records; "
			    "split the file",
			    csv->line, IMPORT_RECORDS);
		r.draft = &plan->drafts[plan->n++];
		read_row(&r, columns);
	}
	if (more == 0 && plan->n == 0)
		return err_set(
		    e, &err_invalid, "the file has a header and no rows");
	return more == 0 ? faults_raise(faults, e) : -1;
}

int
plan_csv(struct arena *a, struct plan *plan, struct err *e)
{
	struct csv_reader *csv = ARENA_NEW(a, struct csv_reader);
	struct mapping *map = ARENA_NEW(a, struct mapping);
	struct faults *faults = ARENA_NEW(a, struct faults);

	faults_init(faults, a);
	if (!str_is_utf8(plan->in->file))
		return err_set(e, &err_malformed, "the file is not in UTF-8");
	mapping_parse(a, plan->in->mapping, map, faults);
	if (faults_raise(faults, e))
		return -1;
	csv_init(csv, a, plan->in->file, delimiter_of(plan->in));
	if (read_header(csv, map, faults, e))
		return -1;
	return read_rows(a, plan, csv, map, faults, e);
}
