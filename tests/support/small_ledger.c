#include "tests/support/small_ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/chain/signers.h"

#define BUF_MAX (8u << 20)

/* 2026-01-02T03:04:05Z */
#define BIRTH_US INT64_C(1767323045000000)

static void
must(int rc, const struct err *e, const char *what)
{
	if (!rc)
		return;
	fprintf(stderr, "small_ledger: %s: %s\n", what, e->detail);
	abort();
}

static struct private_key *
key_from(uint8_t first)
{
	uint8_t seed[32];

	for (int i = 0; i < 32; i++)
		seed[i] = (uint8_t)(first + i);
	return private_key_from_seed(seed);
}

/* The same in every run: time and counter instead of randomness. */
static struct uid
uid_at(struct instant at, uint64_t counter)
{
	uint8_t bytes[10] = { 0 };

	for (int i = 0; i < 8; i++)
		bytes[9 - i] = (uint8_t)(counter >> (8 * i));
	return uid_from(at, bytes);
}

static void
write_objects(struct small_ledger *l, struct object *o, size_t n)
{
	struct err e = { 0 };

	for (size_t i = 0; i < n; i++)
		must(repo_oid(o[i].kind, o[i].bytes, &o[i].oid, &e), &e, "oid");
	must(repo_write(l->repo, o, n, &e), &e, "write");
}

struct oid
small_ledger_blob(struct small_ledger *l, struct str bytes)
{
	struct object o = { .kind = OBJECT_BLOB, .bytes = bytes };

	write_objects(l, &o, 1);
	return o.oid;
}

struct payload
small_ledger_payload(
    struct small_ledger *l, const char *name, struct str content)
{
	struct payload p = { .name = str_from(name),
		.sha256 = sha256(content),
		.size = content.n,
		.media_type = STR("text/plain") };
	char *stored = arena_alloc(l->a, 32 + content.n);

	memset(stored, 'r', 32);
	if (content.n)
		memcpy(stored + 32, content.p, content.n);
	p.oid = small_ledger_blob(l, (struct str){ stored, 32 + content.n });
	return p;
}

/* Event i of a batch that starts now, but for what the events before give. */
static struct event
event_at(struct small_ledger *l, size_t i)
{
	uint64_t seq = l->tree.size + i;
	struct json *data = json_object(l->a);

	json_put_str(l->a, data, "amount", STR("1250.00"));
	json_put_str(l->a, data, "note", STR("caf\xc3\xa9 \"x\" \\ \x01"));
	json_put_int(l->a, data, "number", (int64_t)seq);
	return (struct event){
		.ledger = STR(SMALL_LEDGER_ORIGIN),
		.seq = seq,
		.uid = uid_at(l->at, seq),
		.at = l->at,
		.type = STR("entry.posted"),
		.subject_kind = STR("entry"),
		.subject = uid_at(l->at, seq + 1000000),
		.actor = { .kind = STR("application"),
		    .id = STR("0197a000-0000-7000-8000-000000000001"),
		    .credential = STR("cred_1") },
		.request = uid_at(l->at, seq + 2000000),
		.idempotency = { true, sha256(STR("key")),
		    sha256(STR("request")) },
		.data = data,
	};
}

struct parts
small_ledger_draft(struct small_ledger *l, size_t n)
{
	struct parts p = { .n = n };

	l->at.us += 1000000;
	p.events = arena_array(l->a, n, sizeof *p.events);
	for (size_t i = 0; i < n; i++)
		p.events[i] = event_at(l, i);
	return p;
}

/* Seals the events where prev is not given, chains and signs them. */
static void
seal_events(struct small_ledger *l, struct parts *p, struct signature *sigs)
{
	static const struct digest zero;
	struct err e = { 0 };

	for (size_t i = 0; i < p->n; i++) {
		struct event *ev = &p->events[i];

		if (digest_eq(ev->prev, zero))
			ev->prev = l->head;
		must(event_seal(l->a, ev, &e), &e, "seal");
		must(signer_sign(
			 l->signer, SIGNS_EVENT, ev->bytes, &sigs[i], &e),
		    &e, "sign");
		l->head = ev->hash;
		merkle_append(&l->tree, merkle_leaf(ev->bytes));
	}
}

static void
read_back(
    struct small_ledger *l, struct parts *p, const struct batch_sealed *sealed)
{
	const struct object *o = sealed->record.objects;
	struct commit c;
	struct err e = { 0 };
	struct tree_entry *entries;

	must(commit_parse(l->a, o[sealed->record.n_objects - 1].bytes, &c, &e),
	    &e, "commit");
	p->blob_events = o[0].bytes;
	p->checkpoint = o[1].bytes;
	p->allowed_signers = o[2].bytes;
	if (sealed->record.n_objects > 5) {
		must(tree_parse(l->a, o[3].bytes, &entries, &p->n_payloads, &e),
		    &e, "payloads");
		p->payloads =
		    arena_array(l->a, p->n_payloads + 1, sizeof *p->payloads);
		for (size_t i = 0; i < p->n_payloads; i++) {
			digest_from_hex(
			    entries[i].name, &p->payloads[i].sha256);
			p->payloads[i].oid = entries[i].oid;
		}
	}
	p->has_parent = c.has_parent;
	p->parent = c.parent;
	p->author = c.author;
	p->committer = c.committer;
	p->message = c.message;
}

void
small_ledger_seal_parts(struct small_ledger *l, struct parts *p)
{
	struct signature *sigs = arena_array(l->a, p->n, sizeof *sigs);
	struct batch_draft d = { .signer = l->signer,
		.has_parent = l->has_parent,
		.parent = l->parent,
		.events = p->events,
		.signatures = sigs,
		.n = p->n,
		.allowed_signers = buf_str(&l->signers) };
	struct batch_sealed sealed;
	struct err e = { 0 };

	seal_events(l, p, sigs);
	d.tree = l->tree;
	must(batch_seal(l->a, &d, &sealed, &e), &e, "batch");
	p->root = merkle_root(&l->tree);
	p->commit_signer = l->signer;
	read_back(l, p, &sealed);
}

static struct oid
write_payload_tree(struct small_ledger *l, const struct parts *p)
{
	struct tree_entry *t = arena_array(l->a, p->n_payloads, sizeof *t);
	struct object o = { .kind = OBJECT_TREE };

	for (size_t i = 0; i < p->n_payloads; i++) {
		char *hex = arena_alloc(l->a, DIGEST_HEX + 1);

		digest_hex(p->payloads[i].sha256, hex);
		t[i] = (struct tree_entry){ str_from(hex), false,
			p->payloads[i].oid };
	}
	o.bytes = tree_bytes(l->a, t, p->n_payloads);
	write_objects(l, &o, 1);
	return o.oid;
}

static struct oid
write_tree(struct small_ledger *l, const struct parts *p)
{
	struct tree_entry t[5];
	struct object o = { .kind = OBJECT_TREE };
	size_t n = 0;

	if (p->blob_events.p)
		t[n++] = (struct tree_entry){ STR("events"), false,
			small_ledger_blob(l, p->blob_events) };
	if (p->checkpoint.p)
		t[n++] = (struct tree_entry){ STR("checkpoint"), false,
			small_ledger_blob(l, p->checkpoint) };
	if (p->allowed_signers.p)
		t[n++] = (struct tree_entry){ STR("allowed_signers"), false,
			small_ledger_blob(l, p->allowed_signers) };
	if (p->n_payloads)
		t[n++] = (struct tree_entry){ STR("payloads"), true,
			write_payload_tree(l, p) };
	if (p->extra.name.p)
		t[n++] = p->extra;
	o.bytes = tree_bytes(l->a, t, n);
	write_objects(l, &o, 1);
	return o.oid;
}

static void
add_header(struct small_ledger *l, const struct parts *p, struct buf *b)
{
	char hex[OID_HEX + 1];

	oid_hex(write_tree(l, p), hex);
	buf_addf(b, "tree %s\n", hex);
	oid_hex(p->parent, hex);
	for (int i = 0; i < p->has_parent + p->two_parents; i++)
		buf_addf(b, "parent %s\n", hex);
	buf_addf(b, "author %.*s\ncommitter %.*s\n", STR_ARGS(p->author),
	    STR_ARGS(p->committer));
}

static struct object
make_commit(struct small_ledger *l, const struct parts *p)
{
	struct buf header, body, armor, whole;
	struct object o = { .kind = OBJECT_COMMIT };
	struct err e = { 0 };
	struct str rest;

	buf_init(&header, BUF_MAX);
	buf_init(&body, BUF_MAX);
	buf_init(&armor, BUF_MAX);
	buf_init(&whole, BUF_MAX);
	add_header(l, p, &header);
	buf_add(&body, buf_str(&header));
	buf_addf(&body, "\n%.*s", STR_ARGS(p->message));
	must(sshsig_sign(
		 p->commit_signer, STR("git"), buf_str(&body), &armor, &e),
	    &e, "sign");
	buf_add(&whole, buf_str(&header));
	buf_add(&whole, STR("gpgsig"));
	for (rest = buf_str(&armor); rest.n > 0;) {
		struct str line = str_take(&rest, '\n');

		buf_addf(&whole, " %.*s\n", STR_ARGS(line));
	}
	buf_addf(&whole, "\n%.*s", STR_ARGS(p->message));
	o.bytes = arena_str(l->a, buf_str(&whole));
	buf_fini(&header);
	buf_fini(&body);
	buf_fini(&armor);
	buf_fini(&whole);
	return o;
}

void
small_ledger_move(struct small_ledger *l, struct oid to)
{
	struct err e = { 0 };
	struct oid from;
	bool exists;

	must(repo_branch(l->repo, &from, &exists, &e), &e, "branch");
	must(repo_move_branch(l->repo, exists ? &from : NULL, to, false, &e),
	    &e, "move");
	l->has_parent = true;
	l->parent = to;
}

void
small_ledger_write(struct small_ledger *l, const struct parts *p)
{
	struct object o = make_commit(l, p);

	write_objects(l, &o, 1);
	small_ledger_move(l, o.oid);
}

void
small_ledger_add(struct small_ledger *l, size_t n)
{
	struct parts p = small_ledger_draft(l, n);

	small_ledger_seal_parts(l, &p);
	small_ledger_write(l, &p);
}

void
small_ledger_add_payloads(struct small_ledger *l, struct str content)
{
	struct parts p = small_ledger_draft(l, 2);
	struct payload *two = arena_array(l->a, 2, sizeof *two);

	two[0] = small_ledger_payload(l, "statement \"A\"", content);
	two[1] = small_ledger_payload(l, "empty", STR(""));
	p.events[0].payloads = two;
	p.events[0].n_payloads = 2;
	p.events[1].payloads = two;
	p.events[1].n_payloads = 1;
	small_ledger_seal_parts(l, &p);
	small_ledger_write(l, &p);
}

static void
open_ledger(struct small_ledger *l)
{
	struct opened opened = { .key = l->key, .recovery = l->recovery };
	struct parts p = small_ledger_draft(l, 1);
	struct event *ev = &p.events[0];

	ev->type = STR(TYPE_OPENED);
	ev->subject_kind = STR("ledger");
	ev->actor =
	    (struct actor){ .kind = STR("operator"), .id = STR("root") };
	ev->request = (struct uid){ 0 };
	ev->idempotency = (struct idempotency){ 0 };
	ev->data = opened_encode(l->a, &opened);
	small_ledger_seal_parts(l, &p);
	small_ledger_write(l, &p);
}

struct signer *
small_ledger_stranger(void)
{
	return signer_new(key_from(100), STR(SMALL_LEDGER_ORIGIN));
}

struct signer *
small_ledger_recovery(void)
{
	return signer_new(key_from(200), STR(SMALL_LEDGER_ORIGIN));
}

struct small_ledger *
small_ledger_new(void)
{
	struct small_ledger *l = calloc(1, sizeof *l);
	struct private_key *recovery = key_from(200);
	struct err e = { 0 };

	if (!l)
		abort();
	snprintf(l->dir, sizeof l->dir, "/tmp/small-ledger-XXXXXX");
	if (!mkdtemp(l->dir))
		abort();
	snprintf(l->repo_path, sizeof l->repo_path, "%s/ledger.git", l->dir);
	l->a = arena_new();
	l->signer = signer_new(key_from(1), STR(SMALL_LEDGER_ORIGIN));
	l->key = signer_public(l->signer);
	l->recovery = private_key_public(recovery);
	private_key_free(recovery);
	l->at.us = BIRTH_US;
	buf_init(&l->signers, SIGNERS_MAX);
	signers_open(&l->keys, STR(SMALL_LEDGER_ORIGIN),
	    &(struct opened){ .key = l->key, .recovery = l->recovery });
	signers_text(&l->keys, &l->signers);
	must(repo_create(l->repo_path, &e), &e, "create");
	must(repo_open(l->repo_path, &l->repo, &e), &e, "open");
	open_ledger(l);
	return l;
}

void
small_ledger_free(struct small_ledger *l)
{
	repo_close(l->repo);
	signer_free(l->signer);
	buf_fini(&l->signers);
	arena_free(l->a);
	io_remove_tree(l->dir);
	free(l);
}

char *
small_ledger_object_path(struct small_ledger *l, struct oid oid)
{
	char hex[OID_HEX + 1];

	oid_hex(oid, hex);
	return arena_printf(
	    l->a, "%s/objects/%.2s/%s", l->repo_path, hex, hex + 2);
}
