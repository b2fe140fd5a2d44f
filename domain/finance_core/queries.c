#include "domain/complete.h"
#include "domain/finance_core/group.h"
#include "domain/parties.h"
#include "domain/source_records.h"
#include "ledger/base/embed.h"

struct records_by_kind {
	int64_t obligation, entitlement, invoice, statement_entry;
};

struct inventory {
	int64_t bank_accounts, bank_statements, source_imports;
	const void *source_records; /* struct records_by_kind */
	int64_t connectors, counterparties, arrangements;
	struct str statement_to;
	struct instant imported_at;
};

struct authority {
	bool read_only, posts_journals, locks_periods, moves_cash,
	    executes_actions;
	struct str note;
};

struct finance_core {
	struct str workspace, environment;
	const void *inventory, *authority;
};

struct statement_query {
	int64_t limit, after_id;
	struct uid uid;
	struct str status;
	struct opt_int general_ledger_id;
	struct str proof;
};

struct statement_reply {
	int64_t id;
	struct uid uid;
	struct str status;
	struct opt_int general_ledger_id;
	struct str account, servicer, reference;
	struct opt_int sequence;
	struct str from_on, to_on, currency;
	struct decimal opening_balance, closing_balance, credits, debits;
	int64_t entries, open_entries;
	struct uid import_uid;
	struct digest_text sha256;
	struct instant imported_at, erased_at;
	struct opt_int erased_by_event;
};

/* clang-format off */
SHAPE(records_by_kind, "Sealed source records by kind",
	FIELD(records_by_kind, obligation, .doc = "Obligations"),
	FIELD(records_by_kind, entitlement, .doc = "Entitlements"),
	FIELD(records_by_kind, invoice, .doc = "Invoices"),
	FIELD(records_by_kind, statement_entry, .doc = "Bank statement entries"));
SHAPE(inventory, "What the workspace holds",
	FIELD(inventory, bank_accounts, .doc = "Bank accounts with a statement"),
	FIELD(inventory, bank_statements, .doc = "Bank statements"),
	FIELD(inventory, source_imports, .doc = "Imported files"),
	FIELD(inventory, source_records, .required = true, .of = &records_by_kind_shape, .doc = "Sealed source records by kind"),
	FIELD(inventory, connectors, .doc = "Connectors"),
	FIELD(inventory, counterparties, .doc = "Counterparties"),
	FIELD(inventory, arrangements, .doc = "Arrangements"),
	FIELD(inventory, statement_to, .doc = "Latest closing date of a bank statement"),
	FIELD(inventory, imported_at, .doc = "Latest import"));
SHAPE(authority, "What Finance Core may do: read",
	FIELD(authority, read_only, .doc = "Always true"),
	FIELD(authority, posts_journals, .doc = "Always false"),
	FIELD(authority, locks_periods, .doc = "Always false"),
	FIELD(authority, moves_cash, .doc = "Always false"),
	FIELD(authority, executes_actions, .doc = "Always false"),
	FIELD(authority, note, .required = true, .doc = "The same in words"));
SHAPE(finance_core, "Inventory and authority of Finance Core",
	FIELD(finance_core, workspace, .required = true, .doc = "Workspace"),
	FIELD(finance_core, environment, .required = true, .values = VALUES("sandbox", "production"), .doc = "sandbox or production"),
	FIELD(finance_core, inventory, .required = true, .of = &inventory_shape, .doc = "What the workspace holds"),
	FIELD(finance_core, authority, .required = true, .of = &authority_shape, .doc = "What this interface may do"));
SHAPE(statement_query, "Which bank statements",
	PAGE_QUERY(statement_query),
	FIELD(statement_query, uid, .place = IN_QUERY, .doc = "Only this statement"),
	FIELD(statement_query, status, .place = IN_QUERY, .values = VALUES("imported", "reconciled"), .doc = "Only those of this status"),
	FIELD(statement_query, general_ledger_id, .place = IN_QUERY, .min = 1, .max = 9007199254740991, .doc = "Only those of this general ledger account"),
	COMPLETE_QUERY(statement_query));
SHAPE(statement_reply, "A bank statement",
	FIELD(statement_reply, id, .doc = "Number"),
	FIELD(statement_reply, uid, .required = true, .doc = "Identifier"),
	FIELD(statement_reply, status, .required = true, .values = VALUES("imported", "reconciled"), .doc = "imported; reconciled once every entry settles an action"),
	FIELD(statement_reply, general_ledger_id, .doc = "General ledger account"),
	FIELD(statement_reply, account, .doc = "Account, its last four characters"),
	FIELD(statement_reply, servicer, .doc = "BIC of the bank"),
	FIELD(statement_reply, reference, .doc = "The bank's statement identification"),
	FIELD(statement_reply, sequence, .doc = "Electronic sequence number"),
	FIELD(statement_reply, from_on, .doc = "Date of the opening balance"),
	FIELD(statement_reply, to_on, .doc = "Date of the closing balance"),
	FIELD(statement_reply, currency, .required = true, .doc = "ISO 4217"),
	FIELD(statement_reply, opening_balance, .required = true, .doc = "Opening balance; below zero: a debit balance"),
	FIELD(statement_reply, closing_balance, .required = true, .doc = "Closing balance; opening and entries give it exactly"),
	FIELD(statement_reply, credits, .required = true, .doc = "Sum of booked credits"),
	FIELD(statement_reply, debits, .required = true, .doc = "Sum of booked debits"),
	FIELD(statement_reply, entries, .doc = "Booked entries"),
	FIELD(statement_reply, open_entries, .doc = "Entries that settle no action yet"),
	FIELD(statement_reply, import_uid, .required = true, .doc = "The import that brought it"),
	FIELD(statement_reply, sha256, .doc = "SHA-256 of the imported file; null once the file is erased"),
	FIELD(statement_reply, imported_at, .required = true, .doc = "When it was imported"),
	FIELD(statement_reply, erased_at, .omit_null = true, .doc = "When the imported file was erased"),
	FIELD(statement_reply, erased_by_event, .omit_null = true, .doc = "The event that erased it"));
COMPLETE_PAGE_SHAPE(statement_page, "Bank statements", statement_reply_shape);
/* clang-format on */

EMBED(finance_core_show_examples,
    "domain/finance_core/examples/finance_core.show.json");
READ_OPERATION(finance_core_show, nothing, finance_core,
    .id = "finance_core.show", .method = "GET", .path = "/api/v2/finance-core",
    .examples = finance_core_show_examples, .scope = "finance-core:read",
    .entitlement = "finance-core", .product = "Core Platform",
    .summary = "Read the inventory and authority of Finance Core");
EMBED(finance_core_bank_statements_examples,
    "domain/finance_core/examples/finance_core.bank_statements.json");
COMPLETE_LIST_OPERATION(finance_core_bank_statements, statement_query,
    statement_page, .id = "finance_core.bank_statements", .method = "GET",
    .path = "/api/v2/finance-core/bank-statements",
    .examples = finance_core_bank_statements_examples,
    .scope = "finance-core:read", .entitlement = "finance-core",
    .product = "Core Platform", .refusals = REFUSES(&err_conflict),
    .summary = "List imported bank statements");

static int
read_inventory(struct context *c, struct inventory *out, struct err *e)
{
	struct records_by_kind *kinds =
	    ARENA_NEW(c->arena, struct records_by_kind);
	struct source_record_counts n;

	if (source_records_count(c, &n, e) ||
	    parties_count(c, &out->connectors, &out->counterparties,
		&out->arrangements, e))
		return -1;
	*kinds = (struct records_by_kind){ n.obligations, n.entitlements,
		n.invoices, n.statement_entries };
	out->bank_accounts = n.bank_accounts;
	out->bank_statements = n.bank_statements;
	out->source_imports = n.imports;
	out->source_records = kinds;
	out->statement_to = n.statement_to;
	out->imported_at = n.imported_at;
	return 0;
}

static int
finance_core_show_read(struct context *c, const struct nothing *in,
    struct finance_core *out, struct err *e)
{
	struct inventory *inventory = ARENA_NEW(c->arena, struct inventory);
	struct authority *authority = ARENA_NEW(c->arena, struct authority);

	(void)in;
	*authority = (struct authority){
		.read_only = true,
		.note = STR("Finance Core reads. It never posts journals, "
			    "locks periods, moves cash or executes Financial "
			    "Actions."),
	};
	out->workspace = c->place->workspace;
	out->environment = c->place->environment;
	out->inventory = inventory;
	out->authority = authority;
	return read_inventory(c, inventory, e);
}

static struct decimal
decimal_of(struct arena *a, int64_t minor, struct str code)
{
	return (struct decimal){ money_format(
	    a, (struct money){ minor, currency_find(code) }) };
}

static struct statement_reply
reply_from(const struct bank_statement *s, struct arena *a)
{
	return (struct statement_reply){
		.id = s->id,
		.uid = s->uid,
		.status = s->status,
		.general_ledger_id = s->general_ledger_id,
		.account = bank_account_masked(a, s->account),
		.servicer = s->servicer,
		.reference = s->reference,
		.sequence = s->sequence,
		.from_on = s->from_on,
		.to_on = s->to_on,
		.currency = s->currency,
		.opening_balance = decimal_of(a, s->opening_minor, s->currency),
		.closing_balance = decimal_of(a, s->closing_minor, s->currency),
		.credits = decimal_of(a, s->credit_minor, s->currency),
		.debits = decimal_of(a, s->debit_minor, s->currency),
		.entries = s->entries,
		.open_entries = s->open_entries,
		.import_uid = s->import,
		.sha256 = s->sha256,
		.imported_at = s->imported_at,
		.erased_at = s->erased_at,
		.erased_by_event = s->erased_by_event,
	};
}

/* A complete list goes by identifiers, as the index does. */
static int
set_by_uid(struct context *c, const struct statement_query *in,
    struct bank_statement_filter *filter, struct err *e)
{
	int found = 1;

	if (complete_refuse_filter(c, !uid_is_none(in->uid), "uid", e) ||
	    complete_refuse_filter(c, in->status.p != NULL, "status", e) ||
	    complete_refuse_filter(
		c, in->general_ledger_id.set, "general_ledger_id", e))
		return -1;
	if (in->after_id > 0)
		found =
		    bank_statement_uid(c, in->after_id, &filter->after_uid, e);
	if (found == 0)
		return err_add_field(e, c->arena, "parameter", "after_id",
		    "unknown", "there is no bank statement of this number");
	filter->by_uid = true;
	return found < 0 ? -1 : 0;
}

static int
prove_complete(struct context *c, const struct bank_statement_filter *filter,
    struct complete_page *out, struct err *e)
{
	const struct statement_reply *items = out->data.items;
	struct uid to = { { 0 } };

	if (out->has_more)
		to = items[out->data.n - 1].uid;
	return complete_prove_kind(
	    c, STR("bank_statement"), filter->after_uid, to, &out->complete, e);
}

static int
finance_core_bank_statements_read(struct context *c,
    const struct statement_query *in, struct complete_page *out, struct err *e)
{
	struct bank_statement_filter filter = { in->limit, in->after_id,
		in->uid, in->status, in->general_ledger_id, false, { { 0 } } };
	struct bank_statement *found;
	struct statement_reply *items;
	size_t n;

	if (in->proof.p && set_by_uid(c, in, &filter, e))
		return -1;
	if (bank_statements_list(c, &filter, &found, &n, &out->has_more, e))
		return -1;
	items = arena_array(c->arena, n, sizeof *items);
	for (size_t i = 0; i < n; i++)
		items[i] = reply_from(&found[i], c->arena);
	out->data = (struct list){ items, n };
	if (out->has_more)
		out->next_after_id = (struct opt_int){ true, items[n - 1].id };
	return in->proof.p ? prove_complete(c, &filter, out, e) : 0;
}
