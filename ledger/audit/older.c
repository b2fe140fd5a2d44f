#include "ledger/audit/older.h"

#include "ledger/audit/audit.h"
#include "ledger/audit/progress.h"

typedef unsigned long long ull;

bool
older_add(struct older_ledgers *o, const char *repo)
{
	if (o->n == OLDER_MAX) {
		usage_error("--continues is taken at most %d times", OLDER_MAX);
		return false;
	}
	o->list[o->n++] = (struct older){ .repo = repo };
	return true;
}

bool
older_set_key(struct older_ledgers *o, const char *key)
{
	if (o->n == 0 || o->list[o->n - 1].key) {
		usage_error("--old-key follows the --continues that it is for");
		return false;
	}
	o->list[o->n - 1].key = key;
	return true;
}

static int
verify_one(struct older *old, struct arena *a,
    const struct verify_options *like, const struct verify_report *newer,
    struct err *e)
{
	struct verify_options o = { .own_key = old->key == NULL,
		.quick = like->quick,
		.threads = like->threads,
		.progress = progress_show };
	struct pinned keys;
	int rc;

	if (old->key) {
		if (keys_load(a, &old->key, 1, &keys, e))
			return -1;
		o.key = keys.keys[0];
		o.more = (struct pinned){ keys.keys + 1, keys.n - 1 };
	}
	rc = verify_continued(old->repo, &o, newer, &old->report, e);
	progress_end();
	old->checked = rc == 0;
	return rc;
}

int
older_verify(struct older_ledgers *o, struct arena *a,
    const struct verify_options *like, const struct verify_report *newest,
    struct err *e)
{
	const struct verify_report *newer = newest;

	for (size_t i = 0; i < o->n && newer->good; i++) {
		if (verify_one(&o->list[i], a, like, newer, e))
			return -1;
		newer = &o->list[i].report;
	}
	return 0;
}

const struct older *
older_bad(const struct older_ledgers *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->list[i].checked && !o->list[i].report.good)
			return &o->list[i];
	return NULL;
}

static void
write_one(FILE *f, const struct older *old)
{
	const struct verify_report *r = &old->report;
	struct revocations revocations;
	char root[DIGEST_HEX + 1];

	if (!r->good) {
		fprintf(f, "BAD: in the closed ledger %s: event %llu: %s: %s\n",
		    old->repo, (ull)r->failed_seq, r->check, r->reason);
		return;
	}
	digest_hex(r->root, root);
	fprintf(f,
	    "Good: it continues %s, which is closed:\n"
	    "  %llu events in %llu batches, %llu payloads, in %.1f s\n"
	    "  root    %s\n",
	    r->origin, (ull)r->size, (ull)r->batches, (ull)r->payloads,
	    r->seconds, root);
	revocations_of(&revocations, &r->keys);
	revocations_write(f, &revocations);
	if (!old->key)
		fputs("  Its key is the one of its event 0, for which the "
		      "newer ledger vouches.\n",
		    f);
}

static void
write_unchecked(FILE *f, const struct continued *c)
{
	char root[DIGEST_HEX + 1];

	digest_hex(c->root, root);
	fprintf(f,
	    "It continues %s, which is closed\n"
	    "and was not checked: give that repository with --continues.\n"
	    "  size    %llu\n  root    %s\n",
	    c->origin, (ull)c->size, root);
}

void
older_write(
    FILE *f, const struct older_ledgers *o, const struct verify_report *newest)
{
	const struct verify_report *oldest = newest;

	for (size_t i = 0; i < o->n && o->list[i].checked; i++) {
		oldest = &o->list[i].report;
		write_one(f, &o->list[i]);
	}
	if (oldest->good && oldest->continues.any)
		write_unchecked(f, &oldest->continues);
	if (newest->good && newest->closed)
		fputs(
		    "It is closed: ask for the ledger that continues it.\n", f);
}
