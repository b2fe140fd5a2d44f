/* Statement entries, as reconciliation reads and settles them. */
#include "domain/source_records.h"

#define COLUMNS                                                       \
	"SELECT id, uid, debit, reversal, currency, amount_minor,"    \
	" reference, bank_reference, booked_on, value_on,"            \
	" counterparty_id, general_ledger_id, statement_uid, settles" \
	" FROM source_record WHERE kind = 'statement_entry' AND "

static struct statement_entry
entry_from(const struct rows *r, struct arena *a)
{
	return (struct statement_entry){
		.id = rows_int(r, 0),
		.uid = rows_uid(r, 1),
		.debit = rows_bool(r, 2),
		.reversal = rows_bool(r, 3),
		.currency = rows_str(r, 4, a),
		.amount_minor = rows_int(r, 5),
		.reference = rows_str(r, 6, a),
		.bank_reference = rows_str(r, 7, a),
		.booked_on = rows_str(r, 8, a),
		.value_on = rows_str(r, 9, a),
		.counterparty_id = rows_int(r, 10),
		.general_ledger_id = rows_int(r, 11),
		.statement = rows_uid(r, 12),
		.settles = rows_uid(r, 13),
	};
}

int
statement_entries_by_reference(struct context *c, struct str reference,
    size_t max, struct statement_entry **out, size_t *n, struct err *e)
{
	struct rows r;

	*out = arena_array(c->arena, max, sizeof **out);
	*n = 0;
	if (db_query(c->db, &r, e, COLUMNS "reference = ? ORDER BY id LIMIT ?",
		"si", reference, (int64_t)max))
		return -1;
	while (*n < max && rows_next(&r, e) == 1)
		(*out)[(*n)++] = entry_from(&r, c->arena);
	return rows_end(&r, e);
}

int
statement_entry_find(struct context *c, struct uid uid,
    struct statement_entry *out, struct err *e)
{
	struct rows r;
	int found;

	*out = (struct statement_entry){ 0 };
	if (db_query(c->db, &r, e, COLUMNS "uid = ?", "u", uid))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = entry_from(&r, c->arena);
	return rows_end(&r, e) ? -1 : found;
}

int
statement_entry_settle(
    struct db *db, struct uid entry, struct uid action, struct err *e)
{
	char text[UID_TEXT + 1];

	uid_format(entry, text);
	if (db_run(db, e,
		"UPDATE source_record SET settles = ? WHERE uid = ?"
		" AND kind = 'statement_entry' AND settles IS NULL",
		"uu", action, entry))
		return -1;
	if (db_changes(db) != 1)
		return err_set(e, &err_corrupt,
		    "%s is no statement entry that is free", text);
	return db_run(db, e,
	    "UPDATE bank_statement SET open_entries = open_entries - 1,"
	    " status = CASE WHEN open_entries = 1 THEN 'reconciled'"
	    " ELSE status END WHERE uid ="
	    " (SELECT statement_uid FROM source_record WHERE uid = ?)",
	    "u", entry);
}
