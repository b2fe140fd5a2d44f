#include "ledger/audit/show_signature.h"

#include "ledger/audit/progress.h"

/* What the keys of a ledger that holds say of the event. */
static int
judge(struct show_signature *s, const struct verify_report *r,
    const struct batch_line *line, const struct event *ev)
{
	const struct signers_key *k = signers_at(&r->keys, ev->seq);
	const struct pinned one = { k ? &k->key : NULL, k != NULL };
	struct public_key any;
	struct err why = { 0 };

	if (pinned_of_line(&one, line, ev->ledger, &any, &why) == 0) {
		s->verdict = "good";
		s->followed = true;
	} else if (why.kind == &err_not_found) {
		s->verdict = "missing";
		snprintf(s->reason, sizeof s->reason,
		    "the key that was in force did not sign it");
	} else {
		s->verdict = "bad";
	}
	return 0;
}

/* Without a good history before and after it, a key that came before or after
 * the one given is anybody's. */
static int
follow(struct show_signature *s, const char *repo, const struct pinned *keys,
    const struct batch_line *line, const struct event *ev, const char *why,
    struct err *e)
{
	struct verify_options o = { .key = keys->keys[0],
		.more = { keys->keys + 1, keys->n - 1 },
		.quick = true,
		.progress = progress_show };
	struct verify_report r;
	int rc = verify_ledger(repo, &o, &r, e);

	progress_end();
	if (rc)
		return -1;
	if (r.good)
		return judge(s, &r, line, ev);
	s->verdict = "missing";
	snprintf(s->reason, sizeof s->reason,
	    "%.150s; the ledger does not lead to it: event %llu: %s: %.200s",
	    why, (unsigned long long)r.failed_seq, r.check, r.reason);
	return 0;
}

int
show_signature(struct show_signature *s, const char *repo,
    const struct pinned *keys, const struct batch_line *line,
    const struct event *ev, struct err *e)
{
	struct public_key any;
	struct err why = { 0 };

	*s = (struct show_signature){ 0 };
	if (keys->n == 0)
		return 0;
	if (pinned_of_line(keys, line, ev->ledger, &any, &why) == 0)
		s->verdict = "good";
	else if (why.kind == &err_not_found)
		return follow(s, repo, keys, line, ev, why.detail, e);
	else
		s->verdict = "bad";
	return 0;
}
