#include "domain/source_records/camt053.h"

#include <string.h>

#include "domain/source_records/camt053_entry.h"

#define NAMESPACE "urn:iso:std:iso:20022:tech:xsd:camt.053.001."

enum depth { DEPTH_DOCUMENT, DEPTH_MESSAGE, DEPTH_STATEMENT, DEPTH_PART };

/* ISO 13616: the first four moved to the end, letters as two digits, 1 modulo
 * 97. */
static bool
iban_is_valid(struct str iban)
{
	unsigned rest = 0;

	if (iban.n < 15 || iban.n > 34)
		return false;
	for (size_t i = 0; i < iban.n; i++) {
		char c = iban.p[(i + 4) % iban.n];

		if (c >= '0' && c <= '9')
			rest = (rest * 10 + (unsigned)(c - '0')) % 97;
		else if (c >= 'A' && c <= 'Z')
			rest = (rest * 100 + (unsigned)(c - 'A') + 10) % 97;
		else
			return false;
	}
	return rest == 1;
}

static int
read_account(const struct xml *x, const xmlNode *node,
    struct camt053_statement *s, struct err *e)
{
	struct str code = xml_text_at(x, node, "Ccy", 8);

	s->account = xml_text_at(x, node, "Id/IBAN", 64);
	if (s->account.p && !iban_is_valid(s->account))
		return camt053_refuse(
		    s, e, "the account's IBAN fails its check digits");
	if (!s->account.p)
		s->account = xml_text_at(x, node, "Id/Othr/Id", 64);
	s->servicer = xml_text_at(x, node, "Svcr/FinInstnId/BICFI", 16);
	if (!s->servicer.p)
		s->servicer = xml_text_at(x, node, "Svcr/FinInstnId/BIC", 16);
	if (code.p) {
		s->currency = currency_find(code);
		if (!s->currency || s->opening.set || s->closing.set)
			return camt053_refuse(s, e,
			    "the account's currency \"%.*s\" is unknown or "
			    "comes after a balance",
			    STR_ARGS(code));
	}
	return 0;
}

static int
read_sequence(const struct xml *x, const xmlNode *node,
    struct camt053_statement *s, struct err *e)
{
	struct str text = xml_text(x, node, 24);
	uint64_t number;

	while (text.n > 1 && text.p[0] == '0')
		text = str_slice(text, 1, text.n);
	if (!str_to_u64(text, &number) || number > 999999999999999999)
		return camt053_refuse(
		    s, e, "its sequence number is not a number");
	s->sequence = (int64_t)number;
	return 0;
}

static int
require_header(const struct camt053_statement *s, struct err *e)
{
	if (!s->id.p)
		return err_set(e, &err_invalid, "a statement has no Id");
	if (!s->account.p)
		return camt053_refuse(s, e, "it names no account");
	if (!s->opening.set)
		return camt053_refuse(
		    s, e, "it has no opening balance (OPBD or PRCD)");
	if (!s->closing.set)
		return camt053_refuse(s, e, "it has no closing balance (CLBD)");
	if (!s->opening.on.p || !s->closing.on.p)
		return camt053_refuse(s, e, "a balance has no date");
	return 0;
}

static int
read_part(struct xml *x, struct camt053_statement *s, struct err *e)
{
	struct str name = xml_name(x);
	const xmlNode *node;

	if (!str_is(name, "Id") && !str_is(name, "ElctrncSeqNb") &&
	    !str_is(name, "Acct") && !str_is(name, "Bal") &&
	    !str_is(name, "Ntry"))
		return 0;
	if (xml_expand(x, &node, e))
		return -1;
	if (str_is(name, "ElctrncSeqNb"))
		return read_sequence(x, node, s, e);
	if (str_is(name, "Acct"))
		return read_account(x, node, s, e);
	if (str_is(name, "Bal"))
		return camt053_read_balance(x, node, s, e);
	if (str_is(name, "Ntry"))
		return require_header(s, e) || camt053_read_entry(x, node, s, e)
			   ? -1
			   : 0;
	s->id = xml_text(x, node, CAMT053_ID_BYTES);
	return 0;
}

/* Opening balance and booked entries give the closing balance, exactly. */
static int
check_balances(
    const struct xml *x, const struct camt053_statement *s, struct err *e)
{
	struct money gives = { 0, s->currency }, off = { 0, s->currency };
	struct money closing = { s->closing.minor, s->currency };

	if (!money_add(s->opening.minor, s->credit_minor, &gives.minor) ||
	    !money_add(gives.minor, -s->debit_minor, &gives.minor) ||
	    !money_add(closing.minor, -gives.minor, &off.minor))
		return camt053_refuse(s, e, "its sums are too large");
	if (off.minor == 0)
		return 0;
	return camt053_refuse(s, e,
	    "opening balance and %zu booked entries give %.*s %s, its closing "
	    "balance is %.*s: the difference is %.*s",
	    s->n_entries, STR_ARGS(money_format(x->arena, gives)),
	    s->currency->code, STR_ARGS(money_format(x->arena, closing)),
	    STR_ARGS(money_format(x->arena, off)));
}

static int
check_limits(const struct camt053 *doc, size_t entries, struct err *e)
{
	if (doc->n_statements > CAMT053_STATEMENTS)
		return err_set(e, &err_too_large,
		    "the file has more than %d statements", CAMT053_STATEMENTS);
	if (entries > CAMT053_ENTRIES)
		return err_set(e, &err_too_large,
		    "the file has more than %d booked entries; split it by "
		    "statement",
		    CAMT053_ENTRIES);
	return 0;
}

static int
read_statement(struct xml *x, struct camt053 *doc, struct camt053_statement *s,
    struct err *e)
{
	int more;

	s->sequence = -1;
	while ((more = xml_next(x, DEPTH_PART, e)) == 1)
		if (read_part(x, s, e) ||
		    check_limits(doc, doc->n_entries + s->n_entries, e))
			return -1;
	if (more < 0 || require_header(s, e) || check_balances(x, s, e))
		return -1;
	doc->n_entries += s->n_entries;
	return 0;
}

/* The same statement twice in one file. */
static int
check_repeat(
    const struct camt053 *doc, const struct camt053_statement *s, struct err *e)
{
	for (const struct camt053_statement *o = doc->statements; o != s;
	     o = o->next)
		if (str_eq(o->account, s->account) && str_eq(o->id, s->id) &&
		    str_eq(o->closing.on, s->closing.on))
			return camt053_refuse(s, e, "the file holds it twice");
	return 0;
}

static int
read_message(struct xml *x, struct camt053 *doc, struct err *e)
{
	struct camt053_statement **slot = &doc->statements;
	int more;

	while ((more = xml_next(x, DEPTH_STATEMENT, e)) == 1) {
		if (!str_is(xml_name(x), "Stmt"))
			continue;
		*slot = ARENA_NEW(x->arena, struct camt053_statement);
		doc->n_statements++;
		if (check_limits(doc, doc->n_entries, e) ||
		    read_statement(x, doc, *slot, e) ||
		    check_repeat(doc, *slot, e))
			return -1;
		slot = &(*slot)->next;
	}
	return more;
}

/* The namespace carries the version; any of the family is read. */
static int
check_root(struct xml *x, struct camt053 *doc, struct err *e)
{
	struct str ns = xml_namespace(x), version;

	version = str_slice(ns, sizeof NAMESPACE - 1, ns.n);
	if (!str_is(xml_name(x), "Document") ||
	    !str_has_prefix(ns, STR(NAMESPACE)) || version.n != 2 ||
	    strspn(version.p, "0123456789") != 2 || str_is(version, "01"))
		return err_set(e, &err_malformed,
		    "not a bank statement of ISO 20022: expected a Document "
		    "in the namespace " NAMESPACE "02 or later");
	x->ns = arena_cstr(x->arena, ns);
	doc->version = arena_str(x->arena, version);
	return 0;
}

static int
read_document(struct xml *x, struct camt053 *doc, struct err *e)
{
	int more;

	if (check_root(x, doc, e))
		return -1;
	while ((more = xml_next(x, DEPTH_MESSAGE, e)) == 1)
		if (str_is(xml_name(x), "BkToCstmrStmt") &&
		    read_message(x, doc, e))
			return -1;
	if (more < 0 || xml_finish(x, e))
		return -1;
	if (doc->n_statements == 0)
		return err_set(
		    e, &err_invalid, "the file holds no statement (Stmt)");
	return 0;
}

int
camt053_parse(
    struct arena *a, struct str bytes, struct camt053 *out, struct err *e)
{
	struct xml x;
	int rc;

	*out = (struct camt053){ 0 };
	if (bytes.n > CAMT053_BYTES)
		return err_set(e, &err_too_large,
		    "the file has %zu bytes; at most %u are read", bytes.n,
		    CAMT053_BYTES);
	if (xml_open(&x, a, bytes, e))
		return -1;
	rc = read_document(&x, out, e);
	xml_close(&x);
	return rc;
}
