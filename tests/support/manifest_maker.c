#include "tests/support/manifest_maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/chain/evidence.h"
#include "ledger/chain/manifest.h"
#include "ledger/chain/tlog_proof.h"
#include "ledger/codec/canon.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/dsse.h"

#define TEXT_MAX (64u << 20)
#define SCHEMA   "https://openlineage.io/spec/2-0-2/OpenLineage.json"

static void
must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "manifest_maker: %s\n", what);
	abort();
}

static struct str
base64_str(struct arena *a, const void *bytes, size_t n)
{
	char *text = arena_alloc(a, BASE64_LENGTH(n) + 1);

	base64_encode(bytes, n, text);
	return str_from(text);
}

/* The event that certifies the key. */
static void
certify(struct manifest_maker *m)
{
	struct small_ledger *l = m->ledger;
	struct parts p = small_ledger_draft(l, 1);
	struct json *data = json_object(l->a);
	char line[PUBLIC_KEY_SSH + 1];
	struct signature sig;
	struct str text;

	public_key_ssh(private_key_public(m->key), line);
	text = arena_strf(l->a, "probity-key/v1\n%s\n%s\n%s\n",
	    SMALL_LEDGER_ORIGIN, MANIFEST_KEY_PURPOSE, line);
	if (private_key_sign(m->key, text, &sig, NULL))
		abort();
	json_put_str(
	    l->a, data, "possession", base64_str(l->a, sig.b, sizeof sig.b));
	json_put_str(l->a, data, "public_key", arena_str(l->a, str_from(line)));
	json_put_str(l->a, data, "purpose", STR(MANIFEST_KEY_PURPOSE));
	p.events[0].type = STR(MANIFEST_KEY_TYPE);
	p.events[0].subject_kind = STR("ledger");
	p.events[0].data = data;
	m->key_seq = p.events[0].seq;
	small_ledger_seal_parts(l, &p);
	small_ledger_write(l, &p);
}

/* From the newest batch back. */
void
manifest_maker_read(struct manifest_maker *m)
{
	struct small_ledger *l = m->ledger;
	struct oid at = l->parent;
	struct batch_line line;
	struct batch b;
	uint64_t first = l->tree.size;

	m->n = first;
	m->lines = arena_array(l->a, first, sizeof *m->lines);
	m->leaves = arena_array(l->a, first, sizeof *m->leaves);
	while (first > 0) {
		uint64_t seq;

		must(!batch_read(l->repo, at, l->a, &b, NULL), "a batch");
		if (first == m->n)
			m->checkpoint = b.checkpoint;
		for (struct str rest = b.events; rest.n > 0; first--)
			must(batch_line_next(&rest, &line, NULL) > 0, "a line");
		seq = first;
		while (batch_line_next(&b.events, &line, NULL) > 0) {
			m->lines[seq] = line.whole;
			m->leaves[seq++] = merkle_leaf(line.event);
		}
		at = b.commit.parent;
	}
}

struct manifest_maker *
manifest_maker_new(size_t before)
{
	static const uint8_t seed[32] = "the manifest key of the tests";
	struct manifest_maker *m = calloc(1, sizeof *m);

	must(m != NULL, "memory");
	m->ledger = small_ledger_new();
	m->key = private_key_from_seed(seed);
	if (before > 0)
		small_ledger_add(m->ledger, before);
	certify(m);
	small_ledger_add(m->ledger, 3);
	manifest_maker_read(m);
	return m;
}

void
manifest_maker_free(struct manifest_maker *m)
{
	private_key_free(m->key);
	small_ledger_free(m->ledger);
	free(m);
}

static int
node_of(void *arg, unsigned level, uint64_t index, struct digest *out,
    struct err *e)
{
	struct manifest_maker *m = arg;
	struct digest left, right;

	if (level == 0) {
		*out = m->leaves[index];
		return 0;
	}
	if (node_of(arg, level - 1, 2 * index, &left, e) ||
	    node_of(arg, level - 1, 2 * index + 1, &right, e))
		return -1;
	*out = merkle_node(left, right);
	return 0;
}

static struct json *
path_json(struct manifest_maker *m, uint64_t seq)
{
	struct tree tree = { m->n, node_of, m };
	struct arena *a = m->ledger->a;
	struct json *list = json_array(a);
	struct merkle_proof p;

	must(!proof_inclusion(&tree, seq, &p, NULL), "a path");
	for (size_t i = 0; i < p.n; i++)
		json_push(list,
		    json_string(a, base64_str(a, p.hashes[i].b, DIGEST_BYTES)));
	return list;
}

static struct json *
evidence_json(struct manifest_maker *m, uint64_t seq, bool complete)
{
	struct arena *a = m->ledger->a;
	struct json *v = json_object(a);

	json_put_str(a, v, "line", m->lines[seq]);
	json_put(v, "path", complete ? json_array(a) : path_json(m, seq));
	json_put_int(a, v, "seq", (int64_t)seq);
	return v;
}

static struct json *
run_event_json(struct manifest_maker *m, uint64_t seq)
{
	struct arena *a = m->ledger->a;
	struct json *v = json_object(a), *job = json_object(a),
		    *run = json_object(a), *output = json_object(a),
		    *outputs = json_array(a);
	struct batch_line line;
	struct event ev;
	char uid[UID_TEXT + 1], at[INSTANT_TEXT + 1];

	must(!batch_line_parse(a, m->lines[seq], &line, NULL) &&
		 !event_parse(a, line.event, &ev, NULL),
	    "an event");
	uid_format(ev.uid, uid);
	instant_format(ev.at, at);
	json_put_str(a, job, "name", ev.type);
	json_put_str(a, job, "namespace", ev.ledger);
	json_put_str(a, run, "runId", arena_str(a, str_from(uid)));
	json_put_str(a, v, "eventTime", arena_str(a, str_from(at)));
	json_put_str(a, v, "eventType", STR("COMPLETE"));
	json_put(v, "job", job);
	uid_format(ev.subject, uid);
	json_put_str(a, output, "name",
	    arena_strf(a, "%.*s/%s", STR_ARGS(ev.subject_kind), uid));
	json_put_str(a, output, "namespace", ev.ledger);
	json_push(outputs, output);
	json_put(v, "outputs", outputs);
	json_put_str(a, v, "producer", STR("https://probity.dev"));
	json_put(v, "run", run);
	json_put_str(a, v, "schemaURL", STR(SCHEMA));
	return v;
}

/* The event that names the key, and its proof. */
static void
prove_key(struct manifest_maker *m, uint64_t named_by, struct evidence_key *k)
{
	struct tlog_proof proof = { .index = named_by,
		.checkpoint = m->checkpoint };
	struct tree tree = { m->n, node_of, m };
	struct buf b;

	must(!proof_inclusion(&tree, named_by, &proof.path, NULL), "a path");
	buf_init(&b, TEXT_MAX);
	tlog_proof_add(&b, &proof);
	k->line = m->lines[named_by];
	k->proof = arena_str(m->ledger->a, buf_str(&b));
	buf_fini(&b);
}

static struct json *
keys_json(struct manifest_maker *m)
{
	struct json *list = json_array(m->ledger->a);
	struct evidence_key keys[EVIDENCE_KEYS];
	uint64_t named_by[EVIDENCE_KEYS];
	size_t n = evidence_keys_from(&m->ledger->keys, m->n, keys, named_by);

	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			prove_key(m, named_by[i], &keys[i]);
		json_push(list, evidence_key_encode(m->ledger->a,
				    STR(SMALL_LEDGER_ORIGIN), &keys[i]));
	}
	return list;
}

static struct json *
log_json(struct manifest_maker *m, bool complete)
{
	struct arena *a = m->ledger->a;
	struct json *v = json_object(a);
	char root[DIGEST_HEX + 1];

	digest_hex(merkle_root(&m->ledger->tree), root);
	json_put_str(a, v, "checkpoint", m->checkpoint);
	json_put(v, "complete", json_bool(a, complete));
	json_put(v, "key_event", evidence_json(m, m->key_seq, false));
	json_put(v, "keys", keys_json(m));
	json_put_str(a, v, "origin", STR(SMALL_LEDGER_ORIGIN));
	json_put_str(a, v, "root_sha256", arena_str(a, str_from(root)));
	json_put_int(a, v, "size", (int64_t)m->n);
	return v;
}

static struct json *
reference_json(struct arena *a, const char *name, struct str text)
{
	struct json *v = json_object(a), *digest = json_object(a);
	char hex[DIGEST_HEX + 1];

	digest_hex(sha256(text), hex);
	json_put_str(a, digest, "sha256", arena_str(a, str_from(hex)));
	json_put(v, "digest", digest);
	json_put_str(a, v, name, text);
	return v;
}

static struct json *
predicate_json(
    struct manifest_maker *m, const uint64_t *seqs, size_t n, bool complete)
{
	struct arena *a = m->ledger->a;
	struct json *v = json_object(a), *events = json_array(a),
		    *evidence = json_array(a), *materials = json_array(a),
		    *scope = json_object(a);

	for (size_t i = 0; i < n; i++) {
		uint64_t seq = seqs ? seqs[i] : i;

		json_push(events, run_event_json(m, seq));
		json_push(evidence, evidence_json(m, seq, complete));
	}
	json_push(materials,
	    reference_json(a, "uri",
		STR("urn:uuid:0197a000-0000-7000-8000-000000000009")));
	json_put_str(a, scope, "id", STR("acme"));
	json_put_str(a, scope, "type", STR("workspace"));
	json_put(v, "events", events);
	json_put(v, "evidence", evidence);
	json_put_str(a, v, "generated_at", STR("2026-01-02T03:05:00.000000Z"));
	json_put(v, "log", log_json(m, complete));
	json_put(v, "materials", materials);
	json_put(v, "scope", scope);
	return v;
}

struct str
manifest_maker_statement(
    struct manifest_maker *m, const uint64_t *seqs, size_t n, bool complete)
{
	struct arena *a = m->ledger->a;
	struct json *v = json_object(a), *subject = json_array(a);
	struct str text;

	json_push(subject, reference_json(a, "name", STR("workspace/acme")));
	json_put_str(a, v, "_type", STR(MANIFEST_STATEMENT));
	json_put(v, "predicate",
	    predicate_json(m, seqs, seqs ? n : (size_t)m->n, complete));
	json_put_str(a, v, "predicateType", STR(MANIFEST_PREDICATE));
	json_put(v, "subject", subject);
	must(!canon_str(a, v, &text, NULL), "the Statement");
	return text;
}

struct str
manifest_maker_whole(struct manifest_maker *m)
{
	return manifest_maker_statement(m, NULL, 0, true);
}

struct str
manifest_maker_envelope(struct manifest_maker *m, struct str text)
{
	struct str out;
	struct signature sig;
	struct buf b;

	buf_init(&b, TEXT_MAX);
	dsse_pae_head(&b, STR(DSSE_IN_TOTO), text.n);
	buf_add(&b, text);
	if (private_key_sign(m->key, buf_str(&b), &sig, NULL))
		abort();
	buf_reset(&b);
	dsse_head(&b);
	base64_add(&b, text);
	dsse_tail(&b, STR(DSSE_IN_TOTO), private_key_public(m->key), sig);
	must(!buf_failed(&b), "the envelope");
	out = arena_str(m->ledger->a, buf_str(&b));
	buf_fini(&b);
	return out;
}

/* One more event, and the proof that it is in the ledger then. */
static struct json *
seal_proof(struct manifest_maker *m)
{
	struct arena *a = m->ledger->a;
	struct tree tree = { 0, node_of, m };
	struct tlog_proof p = { 0 };
	struct json *v;
	struct buf b;

	small_ledger_add(m->ledger, 1);
	manifest_maker_read(m);
	tree.size = m->n;
	p.index = m->n - 1;
	p.checkpoint = m->checkpoint;
	must(!proof_inclusion(&tree, p.index, &p.path, NULL), "a proof");
	buf_init(&b, TEXT_MAX);
	tlog_proof_add(&b, &p);
	v = json_string(a, arena_str(a, buf_str(&b)));
	buf_fini(&b);
	return v;
}

struct str
manifest_maker_reply(struct manifest_maker *m, struct str text, bool sealed)
{
	struct arena *a = m->ledger->a;
	struct str envelope = manifest_maker_envelope(m, text), out;
	unsigned long long n = m->n;
	struct json *proof = sealed ? seal_proof(m) : json_null(a);
	char hex[DIGEST_HEX + 1];
	struct buf b;

	digest_hex(sha256(text), hex);
	buf_init(&b, TEXT_MAX);
	buf_addf(&b,
	    "{\"uid\": \"0197a000-0000-7000-8000-00000000000a\",\n"
	    "\"status\": \"sealed\", \"scope\": {\"type\": "
	    "\"workspace\", \"id\": \"acme\"}, \"size\": %llu, "
	    "\"event_count\": %llu, \"generated_at\": "
	    "\"2026-01-02T03:05:00.000000Z\", \"bytes\": %zu, "
	    "\"manifest\": ",
	    n, n, text.n);
	buf_add(&b, text);
	buf_addf(&b, ",\n\"manifest_sha256\": \"%s\", \"envelope\": ", hex);
	buf_add(&b, envelope);
	buf_addf(&b, ", \"proof\": ");
	json_write(proof, &b);
	buf_addf(&b, "}\n");
	must(!buf_failed(&b), "the reply");
	out = arena_str(a, buf_str(&b));
	buf_fini(&b);
	return out;
}

struct str
manifest_maker_replace(
    struct manifest_maker *m, struct str text, const char *from, const char *to)
{
	const char *at = memmem(text.p, text.n, from, strlen(from));
	struct str before, after;

	must(at != NULL, from);
	before = (struct str){ text.p, (size_t)(at - text.p) };
	after = str_slice(text, before.n + strlen(from), text.n);
	return arena_strf(
	    m->ledger->a, "%.*s%s%.*s", STR_ARGS(before), to, STR_ARGS(after));
}

int
manifest_maker_file(struct str bytes)
{
	int fd = memfd_create("manifest", MFD_CLOEXEC);

	must(fd >= 0 && !io_write_all(fd, bytes.p, bytes.n), "a file");
	return fd;
}
