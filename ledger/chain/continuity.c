#include "ledger/chain/continuity.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Notes what is wrong between the two. Returns 1. */
__attribute__((format(printf, 3, 4))) static int
fail(struct verify_report *old, uint64_t seq, const char *fmt, ...)
{
	va_list ap;

	old->good = false;
	old->failed_seq = seq;
	snprintf(old->check, sizeof old->check, "%s", CHECK_SUCCESSION);
	va_start(ap, fmt);
	vsnprintf(old->reason, sizeof old->reason, fmt, ap);
	va_end(ap);
	return 1;
}

/* The last event, whose batch was found good. */
static int
read_last(const char *path, const struct verify_report *r, struct arena *a,
    struct event *out, struct err *e)
{
	struct batch_line line = { 0 };
	struct batch b;
	struct repo *repo;
	int rc;

	if (repo_open_for_reading(path, &repo, e))
		return -1;
	rc = batch_read(repo, r->commit, a, &b, e);
	while (rc == 0 && batch_line_next(&b.events, &line, NULL) > 0)
		;
	repo_close(repo);
	return rc ? rc : event_parse(a, line.event, out, e);
}

/* That the closed ledger names the newer one. */
static int
check_closing(const char *path, const struct verify_report *newer,
    struct verify_report *old, struct err *e)
{
	uint64_t last = old->size - 1;
	struct arena *a;
	struct event ev;
	struct str successor;
	int rc = 0;

	if (!old->closed)
		return fail(old, last,
		    "the ledger is not closed: its last event is not "
		    "ledger.closed");
	a = arena_new();
	if (read_last(path, old, a, &ev, e)) {
		rc = -1;
	} else {
		successor = json_get_str(ev.data, "successor");
		if (!successor.p || !str_is(successor, newer->origin))
			rc = fail(old, last,
			    "ledger.closed does not name %s as the successor",
			    newer->origin);
	}
	arena_free(a);
	return rc;
}

/* That event 0 of the newer ledger names this one, to its last event. */
static int
check_opening(const struct verify_report *newer, struct verify_report *old)
{
	const struct continued *c = &newer->continues;

	if (!c->any)
		return fail(
		    old, 0, "%s continues no other ledger", newer->origin);
	if (strcmp(c->origin, old->origin) != 0)
		return fail(old, 0, "%s continues %s, not %s", newer->origin,
		    c->origin, old->origin);
	if (c->size != old->size)
		return fail(old, 0,
		    "%s continues it at %llu events, but it has %llu",
		    newer->origin, (unsigned long long)c->size,
		    (unsigned long long)old->size);
	if (!digest_eq(c->root, old->root))
		return fail(old, 0, "%s continues a ledger with another root",
		    newer->origin);
	if (!digest_eq(c->head, old->head))
		return fail(old, old->size - 1,
		    "%s continues a ledger with another last event",
		    newer->origin);
	return 0;
}

int
verify_continued(const char *path, const struct verify_options *options,
    const struct verify_report *newer, struct verify_report *old, struct err *e)
{
	if (verify_ledger(path, options, old, e))
		return -1;
	if (!old->good)
		return 0;
	if (old->empty) {
		fail(old, 0, "the ledger is empty");
		return 0;
	}
	if (check_opening(newer, old))
		return 0;
	return check_closing(path, newer, old, e) < 0 ? -1 : 0;
}
