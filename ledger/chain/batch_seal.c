#include <stdlib.h>
#include <string.h>

#include "ledger/chain/batch_check.h"

#define MESSAGE_MAX 4096
#define COMMIT_MAX  (MESSAGE_MAX + SSHSIG_MAX + 2048)
#define TRACES_MAX  (BATCH_EVENTS * 128)
#define LINES_MAX   (BATCH_BYTES + BATCH_EVENTS * 128)

static int
check_draft(const struct batch_draft *d, struct err *e)
{
	size_t bytes = 0;

	for (size_t i = 0; i < d->n; i++)
		bytes += d->events[i].bytes.n;
	if (d->n == 0 || d->n > BATCH_EVENTS || bytes > BATCH_BYTES)
		return err_set(e, &err_internal,
		    "a batch has 1 to %d events, %u bytes at most",
		    BATCH_EVENTS, BATCH_BYTES);
	return 0;
}

static int
seal_object(struct arena *a, enum object_kind kind, const struct buf *b,
    struct object *o, struct err *e)
{
	if (buf_failed(b))
		return err_set(e, &err_internal, "no room for an object");
	*o = (struct object){ .kind = kind, .bytes = arena_str(a, buf_str(b)) };
	o->oid = repo_oid_plain(kind, o->bytes);
	return 0;
}

static int
seal_events(struct arena *a, const struct batch_draft *d, struct object *o,
    struct err *e)
{
	uint32_t key_id = signer_key_id(d->signer);
	struct buf b;
	int rc;

	buf_init(&b, LINES_MAX);
	for (size_t i = 0; i < d->n; i++)
		batch_line_add(
		    &b, key_id, d->signatures[i], d->events[i].bytes);
	rc = seal_object(a, OBJECT_BLOB, &b, o, e);
	buf_fini(&b);
	return rc;
}

static int
seal_checkpoint(struct arena *a, const struct batch_draft *d, struct object *o,
    struct err *e)
{
	struct checkpoint c = { signer_origin(d->signer), d->tree.size,
		merkle_root(&d->tree) };
	struct buf text, note;
	int rc;

	buf_init(&text, NOTE_MAX);
	buf_init(&note, NOTE_MAX);
	checkpoint_text(&text, &c);
	rc = note_sign(d->signer, buf_str(&text), &note, e);
	if (!rc)
		rc = seal_object(a, OBJECT_BLOB, &note, o, e);
	buf_fini(&text);
	buf_fini(&note);
	return rc;
}

static int
compare_payloads(const void *x, const void *y)
{
	const struct payload *p = *(const struct payload *const *)x,
			     *q = *(const struct payload *const *)y;

	return memcmp(p->sha256.b, q->sha256.b, DIGEST_BYTES);
}

/* All that the events name, sorted by hash, so the same content twice stands
 * side by side. */
static const struct payload **
collect_payloads(struct arena *a, const struct batch_draft *d, size_t *n)
{
	const struct payload **all;
	size_t at = 0;

	*n = 0;
	for (size_t i = 0; i < d->n; i++)
		*n += d->events[i].n_payloads;
	all = arena_array(a, *n, sizeof(const struct payload *));
	for (size_t i = 0; i < d->n; i++)
		for (size_t j = 0; j < d->events[i].n_payloads; j++)
			all[at++] = &d->events[i].payloads[j];
	qsort(all, *n, sizeof(const struct payload *), compare_payloads);
	return all;
}

static void
seal_tree(
    struct arena *a, struct tree_entry *entries, size_t n, struct object *o)
{
	*o = (struct object){ .kind = OBJECT_TREE,
		.bytes = tree_bytes(a, entries, n) };
	o->oid = repo_oid_plain(OBJECT_TREE, o->bytes);
}

/* Sets *any when there are payloads, then *o is their tree. */
static void
seal_payloads(
    struct arena *a, const struct batch_draft *d, bool *any, struct object *o)
{
	size_t n, kept = 0;
	const struct payload **all = collect_payloads(a, d, &n);
	struct tree_entry *entries = arena_array(a, n, sizeof *entries);

	for (size_t i = 0; i < n; i++) {
		char hex[DIGEST_HEX + 1];

		if (i > 0 && digest_eq(all[i]->sha256, all[i - 1]->sha256))
			continue;
		digest_hex(all[i]->sha256, hex);
		entries[kept].name = arena_str(a, str_from(hex));
		entries[kept++].oid = all[i]->oid;
	}
	*any = n > 0;
	if (*any)
		seal_tree(a, entries, kept, o);
}

static void
add_trailer(struct buf *b, const char *name, struct digest d)
{
	char hex[DIGEST_HEX + 1];

	digest_hex(d, hex);
	buf_addf(b, "%s: %s\n", name, hex);
}

void
batch_add_summary(struct buf *b, struct str type, struct uid subject,
    uint64_t first_seq, size_t n)
{
	char uid[UID_TEXT + 1];

	uid_format(subject, uid);
	if (n == 1)
		buf_addf(b, "%.*s %s", STR_ARGS(type), uid);
	else
		buf_addf(b, "events %llu-%llu (%zu)",
		    (unsigned long long)first_seq,
		    (unsigned long long)(first_seq + n - 1), n);
}

void
batch_add_identity(struct buf *b, struct str origin, struct instant at)
{
	buf_addf(b, "%.*s <%.*s> %lld +0000", STR_ARGS(origin),
	    STR_ARGS(origin), (long long)(at.us / 1000000));
}

static void
add_extra(struct buf *b, const char *entry, struct digest d)
{
	char hex[DIGEST_HEX + 1];

	digest_hex(d, hex);
	buf_addf(b, "Ledger-X: %s %s\n", entry, hex);
}

/* Sets *any when an event has a trace; then *o is the entry that lists them. */
static int
seal_traces(struct arena *a, const struct batch_draft *d, bool *any,
    struct object *o, struct err *e)
{
	struct buf b;
	int rc = 0;

	buf_init(&b, TRACES_MAX);
	for (size_t i = 0; i < d->n; i++)
		if (d->events[i].trace.p)
			buf_addf(&b, "%llu %.*s\n",
			    (unsigned long long)d->events[i].seq,
			    STR_ARGS(d->events[i].trace));
	*any = b.n > 0 || buf_failed(&b);
	if (*any)
		rc = seal_object(a, OBJECT_BLOB, &b, o, e);
	buf_fini(&b);
	return rc;
}

/* traces: content of the entry; no value: there is none. */
static void
add_message(struct buf *b, const struct batch_draft *d, struct str traces)
{
	const struct event *first = &d->events[0];

	batch_add_summary(b, first->type, first->subject, first->seq, d->n);
	buf_addf(
	    b, "\n\nLedger-Size: %llu\n", (unsigned long long)d->tree.size);
	add_trailer(b, "Ledger-Root", merkle_root(&d->tree));
	add_trailer(b, "Ledger-Head", d->events[d->n - 1].hash);
	add_trailer(b, "Ledger-Signers", sha256(d->allowed_signers));
	if (d->index)
		add_trailer(b, INDEX_TRAILER, *d->index);
	if (traces.p)
		add_extra(b, TRACES_ENTRY, sha256(traces));
}

static void
add_header(struct buf *b, const struct batch_draft *d, struct oid tree)
{
	static const char *const roles[] = { "author ", "committer " };
	struct str origin = signer_origin(d->signer);
	char hex[OID_HEX + 1];

	oid_hex(tree, hex);
	buf_addf(b, "tree %s\n", hex);
	if (d->has_parent) {
		oid_hex(d->parent, hex);
		buf_addf(b, "parent %s\n", hex);
	}
	for (int i = 0; i < 2; i++) {
		buf_add_cstr(b, roles[i]);
		batch_add_identity(b, origin, d->events[d->n - 1].at);
		buf_add_byte(b, '\n');
	}
}

/* A header's value of several lines: each but the first begins with a space. */
static void
add_gpgsig(struct buf *b, struct str armored)
{
	buf_add(b, STR("gpgsig"));
	while (armored.n > 0) {
		buf_add_byte(b, ' ');
		buf_add(b, str_take(&armored, '\n'));
		buf_add_byte(b, '\n');
	}
}

static int
seal_commit(struct arena *a, const struct batch_draft *d, struct oid tree,
    struct str traces, struct object *o, struct err *e)
{
	struct buf header, message, whole, armored;
	int rc = -1;

	buf_init(&header, COMMIT_MAX);
	buf_init(&message, MESSAGE_MAX);
	buf_init(&whole, COMMIT_MAX);
	buf_init(&armored, SSHSIG_MAX);
	add_header(&header, d, tree);
	add_message(&message, d, traces);
	buf_add(&whole, buf_str(&header));
	buf_add_byte(&whole, '\n');
	buf_add(&whole, buf_str(&message));
	if (sshsig_sign(d->signer, STR("git"), buf_str(&whole), &armored, e))
		goto out;
	buf_reset(&whole);
	buf_add(&whole, buf_str(&header));
	add_gpgsig(&whole, buf_str(&armored));
	buf_add_byte(&whole, '\n');
	buf_add(&whole, buf_str(&message));
	rc = seal_object(a, OBJECT_COMMIT, &whole, o, e);
out:
	buf_fini(&header);
	buf_fini(&message);
	buf_fini(&whole);
	buf_fini(&armored);
	return rc;
}

/* Blobs, then trees, then the commit: a reader never finds a name that leads
 * nowhere. */
enum { EVENTS, CHECKPOINT, SIGNERS, BLOBS };

int
batch_seal(struct arena *a, const struct batch_draft *d,
    struct batch_sealed *out, struct err *e)
{
	struct object *o = arena_array(a, BLOBS + 4, sizeof *o);
	size_t n = BLOBS, n_entries = BLOBS;
	struct tree_entry entries[BLOBS + 2] = { 0 };
	struct str trace_list = STR_NONE;
	bool payloads, traces;

	if (check_draft(d, e) || seal_events(a, d, &o[EVENTS], e) ||
	    seal_checkpoint(a, d, &o[CHECKPOINT], e))
		return -1;
	o[SIGNERS] =
	    (struct object){ .kind = OBJECT_BLOB, .bytes = d->allowed_signers };
	o[SIGNERS].oid = repo_oid_plain(OBJECT_BLOB, o[SIGNERS].bytes);
	entries[0] = (struct tree_entry){ STR("events"), false, o[EVENTS].oid };
	entries[1] =
	    (struct tree_entry){ STR("checkpoint"), false, o[CHECKPOINT].oid };
	entries[2] = (struct tree_entry){ STR("allowed_signers"), false,
		o[SIGNERS].oid };
	if (seal_traces(a, d, &traces, &o[n], e))
		return -1;
	if (traces) {
		trace_list = o[n].bytes;
		entries[n_entries++] =
		    (struct tree_entry){ STR(TRACES_ENTRY), false, o[n++].oid };
	}
	seal_payloads(a, d, &payloads, &o[n]);
	if (payloads)
		entries[n_entries++] =
		    (struct tree_entry){ STR("payloads"), true, o[n++].oid };
	seal_tree(a, entries, n_entries, &o[n]);
	if (seal_commit(a, d, o[n].oid, trace_list, &o[n + 1], e))
		return -1;
	out->record = (struct record){ d->has_parent, d->parent, o[n + 1].oid,
		d->events[0].seq, d->n, o, n + 2 };
	out->checkpoint = o[CHECKPOINT].bytes;
	return 0;
}
