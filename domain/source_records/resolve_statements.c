#include "domain/context.h"
#include "domain/source_records.h"
#include "domain/source_records/resolve.h"

#define WARNINGS_MAX 64

/* How the statement before this one ended. */
struct before {
	struct str to_on;
	int64_t closing_minor;
	int64_t sequence; /* -1: none */
};

static int
check_new(struct context *c, const struct camt053_statement *s,
    struct faults *faults, struct err *e)
{
	char text[UID_TEXT + 1];
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT uid FROM bank_statement WHERE account = ? "
		"AND reference = ? AND to_on = ?",
		"sss", s->account, s->id, s->closing.on))
		return -1;
	found = rows_next(&r, e);
	if (found == 1) {
		uid_format(rows_uid(&r, 0), text);
		faults_add(faults, "duplicate",
		    "statement \"%.*s\" is imported already, as %s",
		    STR_ARGS(s->id), text);
	}
	return rows_end(&r, e);
}

/* The latest of the same account and currency earlier in this file. */
static bool
before_in_file(const struct plan *plan, const struct camt053_statement *s,
    struct before *out)
{
	bool found = false;

	for (const struct camt053_statement *o = plan->bank.statements; o != s;
	     o = o->next)
		if (str_eq(o->account, s->account) &&
		    o->currency == s->currency) {
			*out = (struct before){ o->closing.on, o->closing.minor,
				o->sequence };
			found = true;
		}
	return found;
}

/* 1, 0, -1. */
static int
before_in_ledger(struct context *c, const struct camt053_statement *s,
    struct before *out, struct err *e)
{
	struct opt_int sequence;
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT to_on, closing_minor, sequence FROM bank_statement "
		"WHERE account = ? AND to_on <= ? AND currency = ? "
		"ORDER BY to_on DESC, id DESC LIMIT 1",
		"sss", s->account, s->closing.on, str_from(s->currency->code)))
		return -1;
	found = rows_next(&r, e);
	if (found == 1) {
		sequence = rows_opt_int(&r, 2);
		*out = (struct before){ rows_str(&r, 0, c->arena),
			rows_int(&r, 1), sequence.set ? sequence.v : -1 };
	}
	return rows_end(&r, e) ? -1 : found;
}

static void
warn(struct str_list *warnings, struct str *items, struct str words)
{
	if (warnings->n < WARNINGS_MAX)
		items[warnings->n++] = words;
}

static void
compare(struct context *c, const struct camt053_statement *s,
    const struct before *before, struct str_list *warnings, struct str *items)
{
	struct arena *a = c->arena;
	struct money opens = { s->opening.minor, s->currency };
	struct money closed = { before->closing_minor, s->currency };

	if (opens.minor != closed.minor)
		warn(warnings, items,
		    arena_strf(a,
			"statement \"%.*s\" opens with %.*s %s; the one before "
			"it, to %.*s, closed with %.*s",
			STR_ARGS(s->id), STR_ARGS(money_format(a, opens)),
			s->currency->code, STR_ARGS(before->to_on),
			STR_ARGS(money_format(a, closed))));
	/* Banks begin again at 1, usually with the year. */
	if (before->sequence >= 0 && s->sequence > before->sequence + 1)
		warn(warnings, items,
		    arena_strf(a,
			"statement \"%.*s\" has the sequence number %lld; the "
			"one before it has %lld",
			STR_ARGS(s->id), (long long)s->sequence,
			(long long)before->sequence));
}

int
resolve_statements(struct context *c, const struct plan *plan,
    struct str_list *warnings, struct err *e)
{
	struct str *items = arena_array(c->arena, WARNINGS_MAX, sizeof *items);
	struct faults *faults = ARENA_NEW(c->arena, struct faults);

	faults_init(faults, c->arena);
	*warnings = (struct str_list){ items, 0 };
	for (const struct camt053_statement *s = plan->bank.statements; s;
	     s = s->next) {
		struct before before = { 0 };
		int found = before_in_file(plan, s, &before);

		if (check_new(c, s, faults, e))
			return -1;
		if (!found)
			found = before_in_ledger(c, s, &before, e);
		if (found < 0)
			return -1;
		if (found)
			compare(c, s, &before, warnings, items);
		if (s->skipped > 0)
			warn(warnings, items,
			    arena_strf(c->arena,
				"statement \"%.*s\": entries passed over, not "
				"booked or of zero: %zu",
				STR_ARGS(s->id), s->skipped));
	}
	return faults_raise(faults, e);
}
