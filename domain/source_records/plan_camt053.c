#include "domain/source_records/plan.h"

static void
draft_entry(struct arena *a, struct plan *plan,
    const struct camt053_statement *s, const struct camt053_entry *entry,
    struct draft *out)
{
	struct money money = { entry->minor, s->currency };

	out->minor = entry->minor;
	out->currency = s->currency;
	out->content = (struct source_content){
		.kind = plan->kind,
		.amount = { money_format(a, money) },
		.currency = str_from(s->currency->code),
		.reference = entry->end_to_end,
		.general_ledger_id = plan->in->general_ledger_id,
		.account = s->account,
		.statement = s->id,
		.direction = entry->debit ? STR("debit") : STR("credit"),
		.reversal = entry->reversal,
		.booked_on =
		    entry->booked_on.p ? entry->booked_on : entry->value_on,
		.value_on = entry->value_on,
		.bank_reference = entry->bank_reference,
		.entry_reference = entry->entry_reference,
		.counterparty_name = entry->counterparty_name,
		.counterparty_account = entry->counterparty_account,
		.remittance = entry->remittance,
		.transactions = { entry->transactions > 0,
		    entry->transactions },
	};
}

int
plan_camt053(struct arena *a, struct plan *plan, struct err *e)
{
	size_t statement = 0;

	if (camt053_parse(a, plan->in->file, &plan->bank, e))
		return -1;
	plan->drafts =
	    arena_array(a, plan->bank.n_entries + 1, sizeof *plan->drafts);
	for (const struct camt053_statement *s = plan->bank.statements; s;
	     s = s->next, statement++) {
		size_t line = 0;

		for (const struct camt053_entry *entry = s->entries; entry;
		     entry = entry->next) {
			struct draft *draft = &plan->drafts[plan->n++];

			draft->line = ++line;
			draft->statement = statement;
			draft_entry(a, plan, s, entry, draft);
		}
	}
	return 0;
}
