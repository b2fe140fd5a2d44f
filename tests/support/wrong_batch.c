#include "tests/support/wrong_batch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

void
add_wrong(struct small_ledger *l, wrong_events *events, wrong_rest *rest)
{
	struct parts p = small_ledger_draft(l, 3);

	if (events)
		events(p.events);
	small_ledger_seal_parts(l, &p);
	if (rest)
		rest(l, &p);
	small_ledger_write(l, &p);
	if (p.commit_signer != l->signer)
		signer_free(p.commit_signer);
}

static void
gap_first(struct event *ev)
{
	for (int i = 0; i < 3; i++)
		ev[i].seq++;
}

static void
gap_inside(struct event *ev)
{
	ev[1].seq++;
	ev[2].seq++;
}

static void
wrong_prev_first(struct event *ev)
{
	ev[0].prev = sha256(STR("other"));
}

static void
wrong_prev_inside(struct event *ev)
{
	ev[2].prev = sha256(STR("other"));
}

static void
earlier_first(struct event *ev)
{
	for (int i = 0; i < 3; i++)
		ev[i].at.us -= 2000000;
}

static void
earlier_inside(struct event *ev)
{
	ev[1].at.us -= 1;
}

static void
other_ledger(struct event *ev)
{
	ev[1].ledger = STR("ledger.example.com/acme/production");
}

static void
opened_again(struct event *ev)
{
	ev[1].type = STR("ledger.opened");
}

static void
unknown_key_event(struct event *ev)
{
	ev[2].type = STR("key.rotated");
}

static void
goes_on_after_closing(struct event *ev)
{
	ev[1].type = STR("ledger.closed");
}

static void
names_payload(struct event *ev)
{
	static struct payload p = { .name = { "gone", 4 },
		.media_type = { "text/plain", 10 } };

	ev[1].payloads = &p;
	ev[1].n_payloads = 1;
}

/* The lines of the batch's blob. */
static void
split_lines(struct parts *p, struct str line[3])
{
	struct str rest = p->blob_events;

	for (int i = 0; i < 3; i++) {
		line[i] = str_take(&rest, '\n');
		line[i].n++;
	}
}

static void
join_lines(struct small_ledger *l, struct parts *p, struct str x, struct str y,
    struct str z)
{
	p->blob_events = arena_strf(
	    l->a, "%.*s%.*s%.*s", STR_ARGS(x), STR_ARGS(y), STR_ARGS(z));
}

static void
swap_lines(struct small_ledger *l, struct parts *p)
{
	struct str line[3];

	split_lines(p, line);
	join_lines(l, p, line[0], line[2], line[1]);
}

static void
duplicate_line(struct small_ledger *l, struct parts *p)
{
	struct str line[3];

	split_lines(p, line);
	join_lines(l, p, line[0], line[1], line[1]);
}

static void
drop_line(struct small_ledger *l, struct parts *p)
{
	struct str line[3];

	split_lines(p, line);
	join_lines(l, p, line[0], line[1], STR(""));
}

static void
drop_all_lines(struct small_ledger *l, struct parts *p)
{
	(void)l;
	p->blob_events = STR("");
}

static void
cut_line(struct small_ledger *l, struct parts *p)
{
	(void)l;
	p->blob_events.n--;
}

/* One byte of the second line, found by what stands before it. */
static void
change_byte(
    struct small_ledger *l, struct parts *p, const char *before, char to)
{
	struct str line[3];
	char *copy, *at;

	split_lines(p, line);
	copy = arena_cstr(l->a, p->blob_events);
	at = memmem(copy + line[0].n, p->blob_events.n - line[0].n, before,
	    strlen(before));
	assert_non_null(at);
	at[strlen(before)] = to;
	p->blob_events.p = copy;
}

void
wrong_event_changed(struct small_ledger *l, struct parts *p)
{
	change_byte(l, p, "\"amount\":\"", '9');
}

static void
change_form(struct small_ledger *l, struct parts *p)
{
	change_byte(l, p, "\"v\":", ' ');
}

static void
change_version(struct small_ledger *l, struct parts *p)
{
	change_byte(l, p, "\"v\":", '2');
}

static void
sign_by_stranger(struct small_ledger *l, struct parts *p)
{
	struct signer *other = small_ledger_stranger();
	struct batch_line line;
	struct err e = { 0 };
	struct str rest = p->blob_events;
	struct signature sig;
	struct buf b;

	buf_init(&b, 1 << 20);
	while (batch_line_next(&rest, &line, &e) > 0) {
		signer_sign(other, SIGNS_EVENT, line.event, &sig, &e);
		batch_line_add(&b, signer_key_id(other), sig, line.event);
	}
	p->blob_events = arena_str(l->a, buf_str(&b));
	buf_fini(&b);
	signer_free(other);
}

void
wrong_signature_forged(struct small_ledger *l, struct parts *p)
{
	struct batch_line line;
	struct err e = { 0 };
	struct str rest = p->blob_events;
	struct signature sig = { { 1 } };
	struct buf b;

	buf_init(&b, 1 << 20);
	while (batch_line_next(&rest, &line, &e) > 0)
		batch_line_add(&b, signer_key_id(l->signer), sig, line.event);
	p->blob_events = arena_str(l->a, buf_str(&b));
	buf_fini(&b);
}

static void
other_signers(struct small_ledger *l, struct parts *p)
{
	p->allowed_signers =
	    arena_strf(l->a, "%.*s# more\n", STR_ARGS(p->allowed_signers));
}

static void
add_payload_unnamed(struct small_ledger *l, struct parts *p)
{
	struct payload more = small_ledger_payload(l, "x", STR("more"));

	p->payloads = arena_array(l->a, 1, sizeof *p->payloads);
	p->payloads[0].sha256 = more.sha256;
	p->payloads[0].oid = more.oid;
	p->n_payloads = 1;
}

static void
no_payloads(struct small_ledger *l, struct parts *p)
{
	(void)l;
	p->n_payloads = 0;
}

static void
no_checkpoint(struct small_ledger *l, struct parts *p)
{
	(void)l;
	p->checkpoint = STR_NONE;
}

static void
no_signers(struct small_ledger *l, struct parts *p)
{
	(void)l;
	p->allowed_signers = STR_NONE;
}

static void
unknown_entry(struct small_ledger *l, struct parts *p)
{
	p->extra = (struct tree_entry){ STR("notes"), false,
		small_ledger_blob(l, STR("x")) };
}

void
wrong_extra_unlisted(struct small_ledger *l, struct parts *p)
{
	p->extra = (struct tree_entry){ STR("x-notes"), false,
		small_ledger_blob(l, STR("x")) };
}

static void
extra_with_other_hash(struct small_ledger *l, struct parts *p)
{
	wrong_extra_unlisted(l, p);
	p->message = arena_strf(
	    l->a, "%.*sLedger-X: x-notes %064d\n", STR_ARGS(p->message), 0);
}

void
wrong_two_parents(struct small_ledger *l, struct parts *p)
{
	(void)l;
	p->two_parents = true;
}

void
wrong_no_parent(struct small_ledger *l, struct parts *p)
{
	(void)l;
	p->has_parent = false;
}

static void
commit_by_stranger(struct small_ledger *l, struct parts *p)
{
	(void)l;
	p->commit_signer = small_ledger_stranger();
}

static void
other_author(struct small_ledger *l, struct parts *p)
{
	(void)l;
	p->author = STR("Mallory <m@example.com> 1767323050 +0000");
}

static void
other_time(struct small_ledger *l, struct parts *p)
{
	p->author = p->committer = arena_strf(l->a,
	    SMALL_LEDGER_ORIGIN " <" SMALL_LEDGER_ORIGIN "> %d +0000",
	    1767323000);
}

/* The message with the digit after `what` changed. */
static void
change_message(struct small_ledger *l, struct parts *p, const char *what)
{
	char *copy = arena_cstr(l->a, p->message);
	char *at = strstr(copy, what);

	assert_non_null(at);
	at += strlen(what);
	*at = *at == '0' ? '1' : '0';
	p->message.p = copy;
}

static void
other_summary(struct small_ledger *l, struct parts *p)
{
	change_message(l, p, "events ");
}

void
wrong_size_trailer(struct small_ledger *l, struct parts *p)
{
	change_message(l, p, "Ledger-Size: ");
}

static void
other_root(struct small_ledger *l, struct parts *p)
{
	change_message(l, p, "Ledger-Root: ");
}

static void
other_head(struct small_ledger *l, struct parts *p)
{
	change_message(l, p, "Ledger-Head: ");
}

static void
other_signers_trailer(struct small_ledger *l, struct parts *p)
{
	change_message(l, p, "Ledger-Signers: ");
}

static void
sign_checkpoint(struct small_ledger *l, struct parts *p, const struct signer *s,
    uint64_t size, struct digest root)
{
	struct checkpoint c = { signer_origin(s), size, root };
	struct buf text, note;
	struct err e = { 0 };

	buf_init(&text, 4096);
	buf_init(&note, 4096);
	checkpoint_text(&text, &c);
	assert_int_equal(note_sign(s, buf_str(&text), &note, &e), 0);
	p->checkpoint = arena_str(l->a, buf_str(&note));
	buf_fini(&text);
	buf_fini(&note);
}

static void
checkpoint_by_stranger(struct small_ledger *l, struct parts *p)
{
	struct signer *other = small_ledger_stranger();

	sign_checkpoint(l, p, other, l->tree.size, p->root);
	signer_free(other);
}

static void
checkpoint_of_other_size(struct small_ledger *l, struct parts *p)
{
	sign_checkpoint(l, p, l->signer, l->tree.size - 1, p->root);
}

/* Signed trailer and checkpoint agree, the events do not. */
void
wrong_root(struct small_ledger *l, struct parts *p)
{
	struct digest root = sha256(STR("other"));
	char was[DIGEST_HEX + 1], is[DIGEST_HEX + 1];
	char *copy = arena_cstr(l->a, p->message);

	digest_hex(p->root, was);
	digest_hex(root, is);
	memcpy(strstr(copy, was), is, DIGEST_HEX);
	p->message.p = copy;
	sign_checkpoint(l, p, l->signer, l->tree.size, root);
}

static void
checkpoint_malformed(struct small_ledger *l, struct parts *p)
{
	(void)l;
	p->checkpoint.n -= 2;
}

const struct wrong wrongs[] = {
	{ "gap before", gap_first, NULL, "chain", 10, "seq is 11 where 10" },
	{ "gap inside", gap_inside, NULL, "chain", 11, "seq is 12 where 11" },
	{ "prev, first", wrong_prev_first, NULL, "chain", 10, "prev" },
	{ "prev, last", wrong_prev_inside, NULL, "chain", 12, "prev" },
	{ "time, first", earlier_first, NULL, "chain", 10, "earlier" },
	{ "time, inside", earlier_inside, NULL, "chain", 11, "earlier" },
	{ "other ledger", other_ledger, NULL, "event", 11, "another ledger" },
	{ "opened again", opened_again, NULL, "event", 11, "cannot stand" },
	{ "key event", unknown_key_event, NULL, "event", 12, "cannot stand" },
	{ "closed", goes_on_after_closing, NULL, "chain", 12, "closed" },
	{ "reordered", NULL, swap_lines, "chain", 11, "seq is 12 where 11" },
	{ "duplicated", NULL, duplicate_line, "chain", 12,
	    "seq is 11 where 12" },
	{ "dropped", NULL, drop_line, "commit", 10, "Ledger-Size" },
	{ "no events", NULL, drop_all_lines, "commit", 10, "no events" },
	{ "line cut", NULL, cut_line, "event", 12, "line without its end" },
	{ "event changed", NULL, wrong_event_changed, "event", 11,
	    "signature is bad" },
	{ "not canonical", NULL, change_form, "event", 11, "not canonical" },
	{ "version", NULL, change_version, "event", 11, "v missing" },
	{ "stranger's events", NULL, sign_by_stranger, "event", 10,
	    "key is missing" },
	{ "forged", NULL, wrong_signature_forged, "event", 10,
	    "signature is bad" },
	{ "signers", NULL, other_signers, "signers", 10, "allowed_signers" },
	{ "payload more", NULL, add_payload_unnamed, "payload", 10,
	    "no event names it" },
	{ "payload gone", names_payload, no_payloads, "payload", 11,
	    "not there" },
	{ "no checkpoint", NULL, no_checkpoint, "commit", 10,
	    "checkpoint is missing" },
	{ "no signers", NULL, no_signers, "commit", 10,
	    "allowed_signers is missing" },
	{ "entry", NULL, unknown_entry, "commit", 10, "notes is not known" },
	{ "x- entry", NULL, wrong_extra_unlisted, "commit", 10, "not listed" },
	{ "x- hash", NULL, extra_with_other_hash, "commit", 10, "not listed" },
	{ "stranger's commit", NULL, commit_by_stranger, "commit", 10,
	    "another key" },
	{ "author", NULL, other_author, "commit", 10, "author" },
	{ "commit time", NULL, other_time, "commit", 10, "time" },
	{ "summary", NULL, other_summary, "commit", 10, "first line" },
	{ "size", NULL, wrong_size_trailer, "commit", 10, "Ledger-Size" },
	{ "root", NULL, other_root, "commit", 10, "Ledger-Root" },
	{ "head", NULL, other_head, "commit", 10, "Ledger-Head" },
	{ "signers' hash", NULL, other_signers_trailer, "commit", 10,
	    "Ledger-Signers" },
	{ "checkpoint's key", NULL, checkpoint_by_stranger, "checkpoint", 10,
	    "signature is bad" },
	{ "checkpoint's size", NULL, checkpoint_of_other_size, "checkpoint", 10,
	    "size is 12" },
	{ "checkpoint's root", NULL, wrong_root, "checkpoint", 10,
	    "not that of the events" },
	{ "checkpoint's form", NULL, checkpoint_malformed, "checkpoint", 10,
	    "malformed" },
};
const size_t n_wrongs = sizeof wrongs / sizeof wrongs[0];
