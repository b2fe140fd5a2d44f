#include "domain/source_records/plan.h"

#define TOTALS_MAX 400

struct sum {
	const struct currency *currency;
	struct str direction;
	int64_t records, minor;
};

/* The sum of this currency and direction, a new one at the end. */
static struct sum *
find_sum(struct sum *sums, size_t *n, const struct draft *d)
{
	size_t i = 0;

	while (i < *n && (sums[i].currency != d->currency ||
			     !str_eq(sums[i].direction, d->content.direction)))
		i++;
	if (i == *n) {
		sums[i].currency = d->currency;
		sums[i].direction = d->content.direction;
		++*n;
	}
	return &sums[i];
}

int
plan_totals(
    struct arena *a, const struct plan *plan, struct list *out, struct err *e)
{
	struct sum *sums = arena_array(a, TOTALS_MAX, sizeof *sums);
	struct import_total *totals;
	size_t n = 0;

	for (size_t i = 0; i < plan->n; i++) {
		struct sum *sum = find_sum(sums, &n, &plan->drafts[i]);

		if (!money_add(sum->minor, plan->drafts[i].minor, &sum->minor))
			return err_set(e, &err_invalid,
			    "the file's sum in %s is too large",
			    sum->currency->code);
		sum->records++;
	}
	totals = arena_array(a, n, sizeof *totals);
	for (size_t i = 0; i < n; i++)
		totals[i] = (struct import_total){
			.currency = str_from(sums[i].currency->code),
			.direction = sums[i].direction,
			.records = sums[i].records,
			.amount = { money_format(
			    a, (struct money){ sums[i].minor,
				   sums[i].currency }) },
		};
	*out = (struct list){ totals, n };
	return 0;
}

const char *
plan_where(struct arena *a, const struct plan *plan, const struct draft *d)
{
	if (plan->bank.n_statements == 0)
		return arena_printf(a, "line %zu", d->line);
	return arena_printf(a, "statement \"%.*s\", entry %zu",
	    STR_ARGS(d->content.statement), d->line);
}
