#include "domain/source_records/resolve.h"

#include <stdlib.h>
#include <string.h>

#include "domain/context.h"
#include "domain/parties.h"

struct resolving {
	struct context *c;
	struct plan *plan;
	struct faults *faults;
	/* The last look-up: files name the same counterparty row after row. */
	struct str last;
	int64_t last_id;
};

#define WHERE(r, d) plan_where((r)->c->arena, (r)->plan, (d))

/* By integer id first, so a number is never taken for a name. */
static int
find_named(struct resolving *r, struct str text, int64_t *id, struct err *e)
{
	struct counterparty party;
	int found;

	if (r->last.p && str_eq(r->last, text)) {
		*id = r->last_id;
		return 1;
	}
	found =
	    str_to_i64(text, id) ? counterparty_find(r->c, *id, &party, e) : 0;
	if (found == 0)
		found = counterparty_match(
		    r->c, r->plan->parties, text, text, text, id, e);
	if (found == 1) {
		r->last = text;
		r->last_id = *id;
	}
	return found;
}

static int
resolve_named(struct resolving *r, struct draft *d, struct err *e)
{
	int64_t id;
	int found = find_named(r, d->counterparty, &id, e);

	if (found < 0)
		return -1;
	if (found == 1)
		d->content.counterparty_id = (struct opt_int){ true, id };
	else
		faults_add(r->faults, "unknown_counterparty",
		    "%s: no registered counterparty has the id, account, LEI "
		    "or, alone, the name \"%.*s\"",
		    WHERE(r, d), STR_ARGS(str_slice(d->counterparty, 0, 80)));
	return 0;
}

/* An entry's other end need not be registered. */
static int
resolve_entry(struct resolving *r, struct draft *d, struct err *e)
{
	int64_t id;
	int found;

	d->content.counterparty_id = (struct opt_int){ 0 };
	if (!d->content.counterparty_account.p &&
	    !d->content.counterparty_name.p)
		return 0;
	found = counterparty_match(r->c, r->plan->parties,
	    d->content.counterparty_account, STR_NONE,
	    d->content.counterparty_name, &id, e);
	if (found == 1)
		d->content.counterparty_id = (struct opt_int){ true, id };
	return found < 0 ? -1 : 0;
}

static int
resolve_arrangement(struct resolving *r, const struct draft *d, struct err *e)
{
	struct arrangement a;
	int found;

	if (uid_is_none(d->content.arrangement_uid))
		return 0;
	found = arrangement_find(r->c, d->content.arrangement_uid, &a, e);
	if (found < 0)
		return -1;
	if (found == 0)
		faults_add(r->faults, "unknown_arrangement",
		    "%s: no such arrangement is registered", WHERE(r, d));
	else if (d->content.counterparty_id.set &&
		 a.counterparty_id != d->content.counterparty_id.v)
		faults_add(r->faults, "arrangement_counterparty",
		    "%s: the arrangement is another counterparty's",
		    WHERE(r, d));
	else if (!str_eq(a.currency, d->content.currency))
		faults_add(r->faults, "arrangement_currency",
		    "%s: the arrangement is in %.*s", WHERE(r, d),
		    STR_ARGS(a.currency));
	return 0;
}

/* A record with the same key that an earlier import brought. */
static int
check_earlier(struct resolving *r, const struct draft *d, struct err *e)
{
	char text[UID_TEXT + 1];
	struct rows rows;
	struct uid uid;
	int found;

	if (!d->seal.has_key)
		return 0;
	if (db_query(r->c->db, &rows, e,
		"SELECT uid FROM source_record WHERE entry_key = ?", "b",
		seal_key_bytes(&d->seal)))
		return -1;
	found = rows_next(&rows, e);
	if (found == 1) {
		uid = rows_uid(&rows, 0);
		uid_format(uid, text);
		faults_add(r->faults, "duplicate",
		    "%s: the same record is sealed already, as %s", WHERE(r, d),
		    text);
	}
	return rows_end(&rows, e);
}

static int
resolve_draft(struct resolving *r, struct draft *d, struct err *e)
{
	if (r->plan->bank.n_statements > 0 ? resolve_entry(r, d, e)
					   : resolve_named(r, d, e))
		return -1;
	if (resolve_arrangement(r, d, e) ||
	    seal_make(r->c->arena, &d->content, &d->seal, e))
		return -1;
	d->uid = tx_uid(r->c->tx);
	return check_earlier(r, d, e);
}

static int
by_key(const void *a, const void *b)
{
	const struct draft *x = *(const struct draft *const *)a;
	const struct draft *y = *(const struct draft *const *)b;
	int order = memcmp(x->seal.key.b, y->seal.key.b, DIGEST_BYTES);

	if (order != 0)
		return order;
	return x < y ? -1 : x > y;
}

/* The same record twice in this file. */
static void
check_within(struct resolving *r)
{
	const struct draft **sorted =
	    arena_array(r->c->arena, r->plan->n, sizeof *sorted);
	size_t n = 0;

	for (size_t i = 0; i < r->plan->n; i++)
		if (r->plan->drafts[i].seal.has_key)
			sorted[n++] = &r->plan->drafts[i];
	if (n > 0)
		qsort(sorted, n, sizeof *sorted, by_key);
	for (size_t i = 1; i < n; i++)
		if (digest_eq(sorted[i - 1]->seal.key, sorted[i]->seal.key))
			faults_add(r->faults, "duplicate",
			    "%s is the same record as %s", WHERE(r, sorted[i]),
			    WHERE(r, sorted[i - 1]));
}

int
resolve_records(struct context *c, struct plan *plan, struct err *e)
{
	struct resolving r = { .c = c, .plan = plan };

	r.faults = ARENA_NEW(c->arena, struct faults);
	faults_init(r.faults, c->arena);
	for (size_t i = 0; i < plan->n; i++)
		if (resolve_draft(&r, &plan->drafts[i], e))
			return -1;
	/* Keys hold the counterparty, so only a file without faults has them
	 * all right. */
	if (r.faults->n == 0)
		check_within(&r);
	return faults_raise(r.faults, e);
}
