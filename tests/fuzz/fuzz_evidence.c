/*
 * What a stranger hands in as evidence: the evidence file, and the tlog-proof
 * by itself. What is accepted has one form only: made anew, it is the input.
 * An event's number is bound by the proof, so what passes the whole check
 * agrees with itself.
 */
#include <stdlib.h>

#include "ledger/chain/evidence.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
must(bool holds)
{
	if (!holds)
		abort();
}

static void
check_whole(struct arena *a, const struct evidence *ev)
{
	struct evidence_shown shown;
	struct err e = { 0 };

	if (evidence_check(a, ev, NULL, &shown, &e)) {
		must(shown.check != NULL);
		must(e.kind == &err_corrupt || e.kind == &err_malformed);
		return;
	}
	must(shown.event.seq == shown.proof.index);
	must(shown.proof.index < shown.checkpoint.size);
	must(str_eq(shown.event.ledger, shown.checkpoint.origin));
	must(str_eq(shown.line.whole, ev->line));
}

static void
fuzz_evidence(struct arena *a, struct str s)
{
	struct evidence ev;
	struct err e = { 0 };
	struct buf b;

	if (evidence_parse(a, s, &ev, &e)) {
		must(e.kind == &err_malformed || e.kind == &err_too_large);
		return;
	}
	must(evidence_key_at(&ev, 0) == &ev.keys[0]);
	buf_init(&b, EVIDENCE_MAX);
	must(evidence_add(&b, &ev, &e) == 0);
	must(str_eq(buf_str(&b), s));
	buf_fini(&b);
	check_whole(a, &ev);
}

static void
fuzz_proof(struct arena *a, struct str s)
{
	struct tlog_proof p;
	struct err e = { 0 };
	struct buf b;

	if (tlog_proof_parse(a, s, &p, &e)) {
		must(e.kind == &err_malformed);
		return;
	}
	buf_init(&b, EVIDENCE_MAX);
	tlog_proof_add(&b, &p);
	must(str_eq(buf_str(&b), s));
	buf_fini(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct str s = { (const char *)bytes, n };
	struct arena *a = arena_new();

	fuzz_evidence(a, s);
	fuzz_proof(a, s);
	arena_free(a);
	return 0;
}
