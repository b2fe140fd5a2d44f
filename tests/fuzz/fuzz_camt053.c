/*
 * Whatever camt053_parse accepts adds up: entries above zero, in the account's
 * currency, whose sums bring the opening balance to the closing one; and the
 * texts are UTF-8 within their bounds.
 */
#include <stdlib.h>

#include "domain/source_records/camt053.h"
#include "domain/source_records/camt053_entry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_text(struct str s, size_t max)
{
	if (s.n > max || (s.p && (s.n == 0 || !str_is_utf8(s))))
		abort();
}

static void
check_date(struct str s)
{
	if (s.p && !date_is_valid(s))
		abort();
}

static void
check_entry(const struct camt053_entry *entry)
{
	if (entry->minor <= 0)
		abort();
	check_date(entry->booked_on);
	check_date(entry->value_on);
	check_text(entry->end_to_end, CAMT053_ID_BYTES);
	check_text(entry->bank_reference, CAMT053_ID_BYTES);
	check_text(entry->entry_reference, CAMT053_ID_BYTES);
	check_text(entry->counterparty_name, CAMT053_ID_BYTES);
	check_text(entry->counterparty_account, CAMT053_ID_BYTES);
	check_text(entry->remittance, CAMT053_TEXT_BYTES);
}

static void
check_statement(const struct camt053_statement *s)
{
	__int128 balance = s->opening.minor, credits = 0, debits = 0;
	size_t n = 0;

	if (!s->currency || !s->account.p || !s->id.p)
		abort();
	for (const struct camt053_entry *entry = s->entries; entry;
	     entry = entry->next, n++) {
		check_entry(entry);
		*(entry->debit ? &debits : &credits) += entry->minor;
	}
	if (n != s->n_entries || credits != s->credit_minor ||
	    debits != s->debit_minor ||
	    balance + credits - debits != s->closing.minor)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct err e = { 0 };
	struct camt053 doc;

	if (camt053_parse(
		a, (struct str){ (const char *)data, size }, &doc, &e)) {
		if (!e.kind)
			abort();
	} else {
		for (const struct camt053_statement *s = doc.statements; s;
		     s = s->next)
			check_statement(s);
	}
	arena_free(a);
	return 0;
}
