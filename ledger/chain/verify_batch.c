#include "ledger/chain/verify_batch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/chain/event_scan.h"
#include "ledger/chain/signers.h"
#include "ledger/codec/canon.h"

#define PAYLOAD_MAX (UINT64_C(1) << 30)

/* A payload that an event of the batch names. */
struct named {
	struct digest sha256;
	uint64_t size;
	size_t index; /* of the event */
};

struct run {
	const struct verify_scope *scope;
	struct verify_bench *bench;
	struct arena *a; /* the result's */
	struct batch_result *out;
	struct batch batch;

	/* The event before, while going over the lines. */
	uint64_t seq;
	struct digest hash;
	struct instant at;

	/* The first and the last. */
	struct str type;
	struct uid subject;

	struct named *named;
	size_t n_named, room_named;
};

/* Notes the first fault. Returns -1. */
__attribute__((format(printf, 4, 5))) static int
fault(struct run *r, const char *check, size_t index, const char *fmt, ...)
{
	va_list ap;

	r->out->check = check;
	r->out->index = index;
	va_start(ap, fmt);
	vsnprintf(r->out->reason, sizeof r->out->reason, fmt, ap);
	va_end(ap);
	return -1;
}

static int
check_commit(struct run *r)
{
	const struct commit *c = &r->batch.commit;
	struct sshsig sig;

	if (sshsig_parse(c->gpgsig, &sig, NULL))
		return fault(
		    r, CHECK_COMMIT, 0, "the commit's signature is malformed");
	if (!public_key_eq(sig.key, r->scope->key))
		return fault(
		    r, CHECK_COMMIT, 0, "the commit is signed by another key");
	if (!sshsig_verify(&sig, STR("git"), c->signed_bytes))
		return fault(
		    r, CHECK_COMMIT, 0, "the commit's signature is bad");
	return 0;
}

static int
check_signers(struct run *r)
{
	struct str s = r->batch.allowed_signers;

	if (!str_eq(s, r->scope->allowed_signers))
		return fault(r, CHECK_SIGNERS, 0, "%s",
		    r->scope->key_fault
			? r->scope->key_fault
			: "allowed_signers is not what the key events give");
	if (!digest_eq(sha256(s), r->batch.trailers.signers))
		return fault(r, CHECK_COMMIT, 0,
		    "the trailer Ledger-Signers is not the hash of "
		    "allowed_signers");
	return 0;
}

static void
name_payloads(struct run *r, const struct event_scan *s, size_t index)
{
	if (s->n_payloads == 0)
		return;
	if (r->n_named + s->n_payloads > r->room_named) {
		struct named *more;

		r->room_named = 2 * (r->n_named + s->n_payloads);
		more =
		    arena_array(r->bench->batch, r->room_named, sizeof *more);
		if (r->n_named)
			memcpy(more, r->named, r->n_named * sizeof *more);
		r->named = more;
	}
	for (size_t i = 0; i < s->n_payloads; i++)
		r->named[r->n_named++] = (struct named){ s->payloads[i].sha256,
			s->payloads[i].size, index };
}

/* The event itself: its form and its signature. */
static int
check_event(struct run *r, const struct batch_line *line, size_t i,
    struct event_scan *s)
{
	struct err why = { 0 };
	struct signature sig;

	if (canon_check_event(line->event, &why))
		return fault(
		    r, CHECK_EVENT, i, "not canonical: %.200s", why.detail);
	if (event_scan(line->event, s, &why))
		return fault(r, CHECK_EVENT, i, "%.200s", why.detail);
	if (!batch_line_signature(line, r->scope->key_id, &sig))
		return fault(r, CHECK_EVENT, i,
		    "the signature by the ledger's key is missing");
	if (!r->scope->quick &&
	    !ed25519_verify(r->scope->key, line->event, sig))
		return fault(r, CHECK_EVENT, i, "the event's signature is bad");
	if (!str_eq(s->ledger, r->scope->origin))
		return fault(
		    r, CHECK_EVENT, i, "the event is of another ledger");
	return 0;
}

/* Its place after the one before in the batch. */
static int
check_chain(struct run *r, const struct event_scan *s, size_t i)
{
	if (r->out->closed)
		return fault(
		    r, CHECK_CHAIN, i, "an event follows ledger.closed");
	if (r->out->key_changed)
		return fault(r, CHECK_CHAIN, i,
		    "an event follows a change of keys in its batch");
	if (i == 0)
		return 0;
	if (s->seq != r->seq + 1)
		return fault(r, CHECK_CHAIN, i,
		    "seq is %llu where %llu belongs",
		    (unsigned long long)s->seq, (unsigned long long)r->seq + 1);
	if (!digest_eq(s->prev, r->hash))
		return fault(r, CHECK_CHAIN, i,
		    "prev is not the hash of the event before");
	if (s->at.us < r->at.us)
		return fault(r, CHECK_CHAIN, i,
		    "at is earlier than that of the event before");
	return 0;
}

static void
note_first(struct run *r, const struct event_scan *s)
{
	r->out->any = true;
	r->out->first_seq = s->seq;
	r->out->first_prev = s->prev;
	r->out->first_at = s->at;
	r->type = s->type;
	r->subject = s->subject;
}

/* For the index. The kind is kept beyond the batch's own bytes. */
static void
note_record(struct run *r, const struct event_scan *s, size_t i)
{
	struct index_event *all = r->out->records;
	struct str kind = s->subject_kind;

	all[i] = (struct index_event){ .subject = s->subject, .hash = r->hash };
	all[i].kind = i > 0 && str_eq(all[i - 1].kind, kind)
			  ? all[i - 1].kind
			  : arena_str(r->a, kind);
	if (str_is(s->type, TYPE_INDEXED) && str_is(s->data, INDEX_DATA))
		r->out->indexed = true;
}

static int
check_line(struct run *r, const struct batch_line *line, size_t i)
{
	struct event_scan s;

	if (check_event(r, line, i, &s))
		return -1;
	if (i == 0)
		note_first(r, &s);
	if (check_chain(r, &s, i))
		return -1;
	if (!signers_know(s.type, s.seq == 0))
		return fault(r, CHECK_EVENT, i,
		    "an event of type %.*s cannot stand here",
		    STR_ARGS(s.type));
	r->seq = s.seq;
	r->at = s.at;
	r->hash = sha256(line->event);
	r->out->closed = str_is(s.type, TYPE_CLOSED);
	r->out->key_changed = signers_change(s.type);
	r->out->leaves[i] = merkle_leaf(line->event);
	note_record(r, &s, i);
	name_payloads(r, &s, i);
	return 0;
}

static int
check_events(struct run *r)
{
	struct str rest = r->batch.events;
	struct err why = { 0 };
	struct batch_line line;
	size_t bytes = 0, i;
	int more;

	r->out->leaves =
	    arena_array(r->a, BATCH_EVENTS, sizeof *r->out->leaves);
	r->out->records =
	    arena_array(r->a, BATCH_EVENTS, sizeof *r->out->records);
	for (i = 0; (more = batch_line_next(&rest, &line, &why)) > 0; i++) {
		bytes += line.event.n;
		if (i == BATCH_EVENTS || bytes > BATCH_BYTES)
			return fault(r, CHECK_COMMIT, i,
			    "the batch is larger than a batch can be");
		if (check_line(r, &line, i))
			return -1;
	}
	if (more < 0)
		return fault(r, CHECK_EVENT, i, "%.200s", why.detail);
	if (i == 0)
		return fault(r, CHECK_COMMIT, 0, "the batch has no events");
	r->out->n = i;
	r->out->last_at = r->at;
	r->out->head = r->hash;
	return 0;
}

/* The key event is the one that was announced, and the commit is of its key's
 * time. */
static int
check_keys(struct run *r)
{
	const struct verify_scope *s = r->scope;

	if (r->out->key_changed && !s->changes_keys)
		return fault(r, CHECK_EVENT, r->out->n - 1, "%s",
		    s->key_fault ? s->key_fault
				 : "a change of keys cannot stand here: "
				   "allowed_signers is as before");
	if (r->at.us < s->after.us)
		return fault(r, CHECK_COMMIT, 0,
		    "the commit is earlier than the time from which its key "
		    "signs");
	return 0;
}

static int
compare_named(const void *x, const void *y)
{
	const struct named *p = x, *q = y;
	int c = memcmp(p->sha256.b, q->sha256.b, DIGEST_BYTES);

	return c ? c : (p->index > q->index) - (p->index < q->index);
}

/* Sorted, each once; the same content has one size. */
static int
unite_named(struct run *r)
{
	size_t kept = 0;

	if (r->n_named == 0)
		return 0;
	qsort(r->named, r->n_named, sizeof *r->named, compare_named);
	for (size_t i = 1; i < r->n_named; i++) {
		struct named *p = &r->named[kept], *q = &r->named[i];

		if (!digest_eq(p->sha256, q->sha256))
			r->named[++kept] = *q;
		else if (p->size != q->size)
			return fault(r, CHECK_PAYLOAD, q->index,
			    "a payload is named with two sizes");
	}
	r->n_named = kept + 1;
	return 0;
}

static int
check_content(
    struct run *r, const struct named *p, struct oid oid, struct err *e)
{
	size_t max =
	    (size_t)(p->size < PAYLOAD_MAX ? p->size : PAYLOAD_MAX) + 1;
	struct err why = { 0 };
	const char *check;
	struct str content;
	char hex[DIGEST_HEX + 1];

	digest_hex(p->sha256, hex);
	arena_reset(r->bench->payload);
	if (payload_read_checked(r->bench->repo, oid, p->sha256, max,
		r->bench->payload, &content, &check, &why)) {
		if (why.kind == &err_too_large)
			check = CHECK_PAYLOAD;
		else if (why.kind != &err_corrupt)
			return err_set(e, why.kind, "%s", why.detail);
		return fault(
		    r, check, p->index, "payload %s: %.100s", hex, why.detail);
	}
	if (content.n != p->size)
		return fault(r, CHECK_PAYLOAD, p->index,
		    "payload %s has %zu bytes, not the %llu of its event", hex,
		    content.n, (unsigned long long)p->size);
	return 0;
}

static int
check_payloads(struct run *r, struct err *e)
{
	const struct payload_entry *entries = r->batch.payloads;
	size_t n = r->batch.n_payloads;
	char hex[DIGEST_HEX + 1];

	if (unite_named(r))
		return -1;
	for (size_t i = 0; i < r->n_named; i++) {
		const struct named *p = &r->named[i];

		digest_hex(p->sha256, hex);
		if (i >= n ||
		    memcmp(p->sha256.b, entries[i].sha256.b, DIGEST_BYTES) < 0)
			return fault(r, CHECK_PAYLOAD, p->index,
			    "payload %s is named but not there", hex);
		if (!digest_eq(p->sha256, entries[i].sha256))
			break;
		if (!r->scope->quick && check_content(r, p, entries[i].oid, e))
			return -1;
		r->out->payloads++;
	}
	if (r->out->payloads < n) {
		digest_hex(entries[r->out->payloads].sha256, hex);
		return fault(r, CHECK_PAYLOAD, 0,
		    "payload %s is there but no event names it", hex);
	}
	return 0;
}

/* The parts of the commit that repeat what the events say. */
static int
check_said(struct run *r)
{
	const struct commit *c = &r->batch.commit;
	const struct trailers *t = &r->batch.trailers;
	struct buf who, first;
	bool same_who, same_first;

	r->out->has_index = t->has_index;
	r->out->index_root = t->index;
	buf_init(&who, 1024);
	buf_init(&first, 1024);
	batch_add_identity(&who, r->scope->origin, r->at);
	batch_add_summary(
	    &first, r->type, r->subject, r->out->first_seq, r->out->n);
	buf_add(&first, STR("\n\n"));
	same_who = str_eq(c->author, buf_str(&who)) &&
		   str_eq(c->committer, buf_str(&who));
	same_first = str_has_prefix(c->message, buf_str(&first));
	buf_fini(&who);
	buf_fini(&first);
	if (t->size != r->out->first_seq + r->out->n)
		return fault(r, CHECK_COMMIT, 0,
		    "the trailer Ledger-Size is %llu, the events end at %llu",
		    (unsigned long long)t->size,
		    (unsigned long long)(r->out->first_seq + r->out->n));
	if (!digest_eq(t->head, r->out->head))
		return fault(r, CHECK_COMMIT, 0,
		    "the trailer Ledger-Head is not the last event's hash");
	if (!same_who)
		return fault(r, CHECK_COMMIT, 0,
		    "author, committer or time is not the ledger's");
	if (!same_first)
		return fault(r, CHECK_COMMIT, 0,
		    "the message's first line is not what happened");
	return 0;
}

static int
check_checkpoint(struct run *r)
{
	struct checkpoint c;
	struct note note;

	if (note_parse(r->bench->batch, r->batch.checkpoint, &note, NULL) ||
	    checkpoint_parse(note.text, &c, NULL) || note.n != 1)
		return fault(
		    r, CHECK_CHECKPOINT, 0, "the checkpoint is malformed");
	if (!str_eq(c.origin, r->scope->origin))
		return fault(r, CHECK_CHECKPOINT, 0,
		    "the checkpoint is of another ledger");
	if (c.size != r->batch.trailers.size)
		return fault(r, CHECK_CHECKPOINT, 0,
		    "the checkpoint's size is %llu, the events end at %llu",
		    (unsigned long long)c.size,
		    (unsigned long long)r->batch.trailers.size);
	if (!note_verify(&note, r->scope->origin, r->scope->key))
		return fault(r, CHECK_CHECKPOINT, 0,
		    "the checkpoint's signature is bad");
	if (!digest_eq(c.root, r->batch.trailers.root))
		return fault(r, CHECK_COMMIT, 0,
		    "the trailer Ledger-Root is not the checkpoint's root");
	r->out->root = c.root;
	r->out->checkpoint = arena_str(r->a, r->batch.checkpoint);
	return 0;
}

const struct verify_scope *
verify_scope_of(const struct verify_scopes *scopes, size_t batch)
{
	size_t i = scopes->n - 1;

	while (scopes->items[i].first > batch)
		i--;
	return &scopes->items[i];
}

int
verify_batch(const struct verify_scope *scope, struct verify_bench *bench,
    struct oid commit, struct arena *a, struct batch_result *out, struct err *e)
{
	struct run r = { .scope = scope, .bench = bench, .a = a, .out = out };
	const char *check;
	struct err why = { 0 };

	*out = (struct batch_result){ .commit = commit };
	arena_reset(bench->batch);
	if (batch_read_checked(bench->repo, commit, bench->batch,
		&bench->signers, &r.batch, &check, &why)) {
		if (why.kind != &err_corrupt)
			return err_set(e, why.kind, "%s", why.detail);
		fault(&r, check, 0, "%.250s", why.detail);
		return 0;
	}
	if (check_commit(&r) || check_signers(&r) || check_events(&r) ||
	    check_keys(&r) || check_payloads(&r, e) || check_said(&r) ||
	    check_checkpoint(&r))
		return out->check ? 0 : -1;
	return 0;
}
