#include "domain/source_records/camt053_entry.h"

#include <stdio.h>

int
camt053_refuse(
    const struct camt053_statement *s, struct err *e, const char *fmt, ...)
{
	char words[320];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof words, fmt, ap);
	va_end(ap);
	return err_set(
	    e, &err_invalid, "statement \"%.*s\": %s", STR_ARGS(s->id), words);
}

/* The currency of an Amt element becomes the statement's, or is it already. */
static int
check_currency(struct camt053_statement *s, struct str code, const char *what,
    struct err *e)
{
	const struct currency *currency = currency_find(code);

	if (!currency)
		return camt053_refuse(s, e, "%s: \"%.*s\" is not a currency",
		    what, STR_ARGS(str_slice(code, 0, 12)));
	if (!s->currency)
		s->currency = currency;
	if (currency != s->currency)
		return camt053_refuse(s, e, "%s is in %s, the account in %s",
		    what, currency->code, s->currency->code);
	return 0;
}

static bool
is_plain_decimal(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((text.p[i] < '0' || text.p[i] > '9') && text.p[i] != '.')
			return false;
	return text.n > 0;
}

/* Amt beside CdtDbtInd: *minor is not below zero. */
static int
read_amount(const struct xml *x, const xmlNode *node,
    struct camt053_statement *s, const char *what, int64_t *minor, bool *debit,
    struct err *e)
{
	const xmlNode *amount = xml_find(x, node, "Amt");
	struct str text = xml_text(x, amount, 64);
	struct str side = xml_text_at(x, node, "CdtDbtInd", 8);
	enum money_fault fault;
	struct money money;

	if (!text.p)
		return camt053_refuse(s, e, "%s has no amount", what);
	if (check_currency(s, xml_attribute(x, amount, "Ccy"), what, e))
		return -1;
	fault = is_plain_decimal(text) ? money_parse(text, s->currency, &money)
				       : MONEY_NOT_A_NUMBER;
	if (fault != MONEY_OK)
		return camt053_refuse(s, e, "%s, amount \"%.*s\": %s", what,
		    STR_ARGS(text), money_fault_text(fault));
	if (!str_is(side, "CRDT") && !str_is(side, "DBIT"))
		return camt053_refuse(
		    s, e, "%s is neither CRDT nor DBIT", what);
	*minor = money.minor;
	*debit = str_is(side, "DBIT");
	return 0;
}

/* The day of a date or date-time element. */
static int
read_date(const struct xml *x, const xmlNode *node, const char *path,
    struct camt053_statement *s, struct str *out, struct err *e)
{
	const xmlNode *choice = xml_find(x, node, path);
	struct str text = xml_text_at(x, choice, "Dt", 64);

	if (!text.p)
		text = xml_text_at(x, choice, "DtTm", 64);
	*out = STR_NONE;
	if (!text.p)
		return 0;
	*out = str_slice(text, 0, 10);
	if (!date_is_valid(*out))
		return camt053_refuse(
		    s, e, "%s \"%.*s\" is not a date", path, STR_ARGS(text));
	return 0;
}

int
camt053_read_balance(const struct xml *x, const xmlNode *node,
    struct camt053_statement *s, struct err *e)
{
	struct str code = xml_text_at(x, node, "Tp/CdOrPrtry/Cd", 8);
	bool opens = str_is(code, "OPBD"), closes = str_is(code, "CLBD");
	bool preceding = str_is(code, "PRCD"), debit;
	const char *what =
	    closes ? "the closing balance" : "the opening balance";
	struct camt053_balance balance = { .set = true }, *place;

	if (!opens && !closes && !preceding)
		return 0;
	/* The closing balance of the day before stands in for an absent opening
	 * one. */
	if (preceding && s->opening.set)
		return 0;
	place = closes ? &s->closing : &s->opening;
	if (read_amount(x, node, s, what, &balance.minor, &debit, e) ||
	    read_date(x, node, "Dt", s, &balance.on, e))
		return -1;
	if (debit)
		balance.minor = -balance.minor;
	if (place->set && place->minor != balance.minor)
		return camt053_refuse(
		    s, e, "%s is given twice and differs", what);
	*place = balance;
	return 0;
}

static bool
is_true(struct str text)
{
	return str_is(text, "true") || str_is(text, "1");
}

/* Sts is a code in version 02 and holds Cd since 04. */
static bool
is_booked(const struct xml *x, const xmlNode *node)
{
	struct str status = xml_text_at(x, node, "Sts/Cd", 8);

	if (!status.p)
		status = xml_text_at(x, node, "Sts", 8);
	return str_is(status, "BOOK");
}

static struct str
account_id(const struct xml *x, const xmlNode *account)
{
	struct str id = xml_text_at(x, account, "Id/IBAN", CAMT053_ID_BYTES);

	if (!id.p)
		id = xml_text_at(x, account, "Id/Othr/Id", CAMT053_ID_BYTES);
	return id;
}

/* Who is at the other end. Roles are those of the original transaction, so a
 * reversal turns them round. */
static void
read_counterparty(
    const struct xml *x, const xmlNode *parties, struct camt053_entry *entry)
{
	bool creditor = entry->debit != entry->reversal;
	const xmlNode *party = xml_find(x, parties, creditor ? "Cdtr" : "Dbtr");

	entry->counterparty_name =
	    xml_text_at(x, party, "Pty/Nm", CAMT053_ID_BYTES);
	if (!entry->counterparty_name.p)
		entry->counterparty_name =
		    xml_text_at(x, party, "Nm", CAMT053_ID_BYTES);
	entry->counterparty_account = account_id(
	    x, xml_find(x, parties, creditor ? "CdtrAcct" : "DbtrAcct"));
}

static void
read_remittance(
    const struct xml *x, const xmlNode *info, struct camt053_entry *entry)
{
	const xmlNode *line = xml_find(x, info, "Ustrd");
	struct str text = STR_NONE;

	for (; line && text.n < CAMT053_TEXT_BYTES; line = xml_again(x, line)) {
		struct str more =
		    xml_text(x, line, CAMT053_TEXT_BYTES - text.n);

		if (text.p && more.p)
			text = arena_strf(x->arena, "%.*s %.*s", STR_ARGS(text),
			    STR_ARGS(more));
		else if (more.p)
			text = more;
	}
	if (!text.p)
		text = xml_text_at(
		    x, info, "Strd/CdtrRefInf/Ref", CAMT053_ID_BYTES);
	entry->remittance = text;
}

/* NtryDtls, any number of times, each with any number of TxDtls. Gives the only
 * one, or NULL, and how many there are. */
static const xmlNode *
only_transaction(const struct xml *x, const xmlNode *node, int64_t *n)
{
	const xmlNode *details = xml_find(x, node, "NtryDtls"), *only = NULL;

	for (*n = 0; details; details = xml_again(x, details)) {
		const xmlNode *tx = xml_find(x, details, "TxDtls");

		for (; tx; tx = xml_again(x, tx)) {
			only = tx;
			++*n;
		}
	}
	return *n == 1 ? only : NULL;
}

static void
read_details(
    const struct xml *x, const xmlNode *node, struct camt053_entry *entry)
{
	const xmlNode *tx = only_transaction(x, node, &entry->transactions);

	entry->entry_reference =
	    xml_text_at(x, node, "NtryRef", CAMT053_ID_BYTES);
	entry->bank_reference =
	    xml_text_at(x, node, "AcctSvcrRef", CAMT053_ID_BYTES);
	if (!entry->bank_reference.p)
		entry->bank_reference =
		    xml_text_at(x, tx, "Refs/AcctSvcrRef", CAMT053_ID_BYTES);
	entry->end_to_end =
	    xml_text_at(x, tx, "Refs/EndToEndId", CAMT053_ID_BYTES);
	if (str_is(entry->end_to_end, "NOTPROVIDED"))
		entry->end_to_end = STR_NONE;
	read_counterparty(x, xml_find(x, tx, "RltdPties"), entry);
	read_remittance(x, xml_find(x, tx, "RmtInf"), entry);
	if (!entry->remittance.p)
		entry->remittance =
		    xml_text_at(x, node, "AddtlNtryInf", CAMT053_TEXT_BYTES);
}

static int
add_entry(struct camt053_statement *s, struct camt053_entry *entry,
    const char *what, struct err *e)
{
	int64_t *sum = entry->debit ? &s->debit_minor : &s->credit_minor;

	if (!money_add(*sum, entry->minor, sum))
		return camt053_refuse(s, e, "%s: the sum is too large", what);
	if (s->last)
		s->last->next = entry;
	else
		s->entries = entry;
	s->last = entry;
	s->n_entries++;
	return 0;
}

int
camt053_read_entry(const struct xml *x, const xmlNode *node,
    struct camt053_statement *s, struct err *e)
{
	struct camt053_entry *entry = ARENA_NEW(x->arena, struct camt053_entry);
	char what[40];

	snprintf(what, sizeof what, "entry %zu", s->n_entries + s->skipped + 1);
	if (!is_booked(x, node)) {
		s->skipped++;
		return 0;
	}
	if (read_amount(x, node, s, what, &entry->minor, &entry->debit, e) ||
	    read_date(x, node, "BookgDt", s, &entry->booked_on, e) ||
	    read_date(x, node, "ValDt", s, &entry->value_on, e))
		return -1;
	/* A booking of nothing moves no balance and can be no source. */
	if (entry->minor == 0) {
		s->skipped++;
		return 0;
	}
	entry->reversal = is_true(xml_text_at(x, node, "RvslInd", 8));
	read_details(x, node, entry);
	return add_entry(s, entry, what, e);
}
