#include "tests/support/witness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "ledger/chain/verify.h"
#include "ledger/codec/json.h"
#include "ledger/codec/text.h"

_Noreturn void
witness_die(const struct toy *t, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "FAILED: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, " (ledger kept in %s)\n", t ? t->dir : "none");
	exit(1);
}

int
witness_shell(const char *fmt, ...)
{
	char command[2000];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof command, fmt, ap);
	va_end(ap);
	return system(command);
}

const char *
witness_fast_dir(void)
{
	struct statvfs fs;

	if (statvfs("/dev/shm", &fs) == 0 &&
	    (uint64_t)fs.f_bavail * fs.f_frsize > 512u << 20)
		return "/dev/shm";
	return "/tmp";
}

static void
told_unknown(struct claim *c, const struct err *e)
{
	int64_t seq = 0;

	c->kind = CLAIM_UNKNOWN;
	if (e->extension != NULL &&
	    hex_decode(json_get_str(e->extension, "event_hash"), c->hash.b,
		DIGEST_BYTES) &&
	    json_get_int(e->extension, "seq", &seq))
		c->seq = (uint64_t)seq;
}

struct claim
claim_note(struct ledger *l, const char *text)
{
	struct arena *a = arena_new();
	struct claim c;
	struct receipt r;
	struct err e = { 0 };

	memset(&c, 0, sizeof c);
	snprintf(c.text, sizeof c.text, "%s", text);
	if (toy_note(l, a, str_from(text), &r, &e) == 0) {
		c.kind = CLAIM_ACKED;
		c.seq = r.events[0].seq;
		c.hash = r.events[0].hash;
	} else {
		c.kind = CLAIM_REFUSED;
		if (e.kind == &err_outcome_unknown)
			told_unknown(&c, &e);
		snprintf(c.slug, sizeof c.slug, "%s",
		    e.kind ? e.kind->slug : "no kind");
		snprintf(c.detail, sizeof c.detail, "%.119s", e.detail);
	}
	arena_free(a);
	return c;
}

void
claims_add(struct claims *cs, const struct claim *c)
{
	if (cs->n == cs->room) {
		cs->room = cs->room ? 2 * cs->room : 256;
		cs->list = reallocarray(cs->list, cs->room, sizeof *cs->list);
		if (cs->list == NULL)
			abort();
	}
	cs->list[cs->n++] = *c;
	cs->acked += c->kind == CLAIM_ACKED;
	cs->refused += c->kind == CLAIM_REFUSED;
	cs->unknown += c->kind == CLAIM_UNKNOWN;
}

void
claims_clear(struct claims *cs)
{
	free(cs->list);
	*cs = (struct claims){ 0 };
}

/* How often the note is in the tables, and where. */
static int64_t
rows_of(const struct toy *t, struct reading *r, const char *text, int64_t *seq)
{
	struct err e = { 0 };
	int64_t n;

	if (db_get_int(r->db, &n, 0, &e,
		"SELECT count(*) FROM toy WHERE text = ?", "s",
		str_from(text)) ||
	    db_get_int(r->db, seq, -1, &e,
		"SELECT max(seq) FROM toy WHERE text = ?", "s", str_from(text)))
		witness_die(t, "cannot read: %s", e.detail);
	return n;
}

static void
check_event(
    const struct toy *t, struct reading *r, const struct claim *c, int64_t seq)
{
	struct arena *a = arena_new();
	struct stored_event ev;
	struct err e = { 0 };

	if (ledger_read_event(r, (uint64_t)seq, a, &ev, &e))
		witness_die(t, "event %lld of \"%s\" cannot be read: %s",
		    (long long)seq, c->text, e.detail);
	if ((c->kind == CLAIM_ACKED || c->seq != 0) &&
	    ((uint64_t)seq != c->seq || !digest_eq(ev.recorded.hash, c->hash)))
		witness_die(t, "event %llu is not the one told for \"%s\"",
		    (unsigned long long)c->seq, c->text);
	arena_free(a);
}

void
claims_check(const struct claims *cs, const struct toy *t, struct ledger *l)
{
	struct reading r;
	struct err e = { 0 };

	if (ledger_read_begin(l, &r, &e))
		witness_die(t, "cannot read: %s", e.detail);
	for (size_t i = 0; i < cs->n; i++) {
		const struct claim *c = &cs->list[i];
		int64_t seq, n = rows_of(t, &r, c->text, &seq);

		if (n > 1)
			witness_die(t, "\"%s\" is there %lld times", c->text,
			    (long long)n);
		if (c->kind == CLAIM_ACKED && n == 0)
			witness_die(t,
			    "event %llu, \"%s\", was acknowledged and is lost",
			    (unsigned long long)c->seq, c->text);
		if (c->kind == CLAIM_REFUSED && n > 0)
			witness_die(t, "\"%s\" was refused (%s) and is there",
			    c->text, c->detail);
		if (n == 1)
			check_event(t, &r, c, seq);
	}
	ledger_read_end(&r);
}

void
witness_verify(const struct toy *t, struct ledger *l)
{
	struct verify_options o = { .key = ledger_public_key(l) };
	struct verify_report report;
	struct err e = { 0 };
	char path[400];

	snprintf(path, sizeof path, "%s/ledger.git", t->ledger_dir);
	if (verify_ledger(path, &o, &report, &e))
		witness_die(t, "verify: %s", e.detail);
	if (!report.good)
		witness_die(t, "event %llu: %s: %s",
		    (unsigned long long)report.failed_seq, report.check,
		    report.reason);
}

/* Checkpoints as they stand in raw bytes: origin, size, root, each on a line.
 * Loose objects are stored uncompressed, temporary ones too. */
static const char scan[] =
    "cd '%s/ledger.git' && git --git-dir=. cat-file --batch-all-objects"
    " --batch --buffer 2>/dev/null > '%s/scan' && cat journal >> '%s/scan' &&"
    " find objects -name 'tmp_*' -exec cat {} + >> '%s/scan';"
    " grep -a -A2 -E '^ledger.example.com/toy/sandbox$' '%s/scan' |"
    " grep -a -v -E '^(--|ledger)' | paste - - | sort -u |"
    " awk '{ if ($1 == last) { print; bad = 1 } last = $1 }"
    " END { exit bad || NR == 0 }'";

void
witness_checkpoints(const struct toy *t)
{
	if (witness_shell(
		scan, t->ledger_dir, t->dir, t->dir, t->dir, t->dir) != 0)
		witness_die(t, "two checkpoints of one size, or none");
}

void
witness_rebuild(const struct toy *t)
{
	struct digest before = toy_hash_view(t->ledger_dir);
	struct err e = { 0 };
	uint64_t events;

	if (ledger_rebuild(&t->options, NULL, NULL, &events, &e))
		witness_die(t, "rebuild: %s", e.detail);
	if (!digest_eq(before, toy_hash_view(t->ledger_dir)))
		witness_die(t, "the read model, made anew, is another one");
}

struct ledger *
witness_open(const struct toy *t)
{
	struct ledger *l;
	struct err e = { 0 };

	if (ledger_open(&t->options, &l, &e))
		witness_die(t, "cannot be opened: %s: %s",
		    e.kind ? e.kind->slug : "?", e.detail);
	return l;
}

void
witness_all(const struct claims *cs, const struct toy *t)
{
	struct ledger *l = witness_open(t);
	struct claim c;

	claims_check(cs, t, l);
	c = claim_note(l, "one more");
	if (c.kind != CLAIM_ACKED)
		witness_die(
		    t, "the service does not go on: %s: %s", c.slug, c.detail);
	witness_verify(t, l);
	witness_checkpoints(t);
	ledger_close(l);
	witness_rebuild(t);
}
