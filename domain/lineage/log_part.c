#include "domain/lineage/log_part.h"

#include "ledger/codec/text.h"

int
covered_read(
    struct context *c, uint64_t size, struct signed_root *out, struct err *e)
{
	struct opt_int wanted = { size > 0, (int64_t)size };

	if (signed_root_read(c, wanted, out, e))
		return -1;
	if (size != 0 && size != out->size)
		return err_set(e, &err_corrupt, "no batch ends at size %llu",
		    (unsigned long long)size);
	return 0;
}

static void
push_path(struct arena *a, const struct merkle_proof *p, struct json *list)
{
	for (size_t i = 0; i < p->n; i++) {
		char *text = arena_alloc(a, BASE64_LENGTH(DIGEST_BYTES) + 1);

		base64_encode(p->hashes[i].b, DIGEST_BYTES, text);
		json_push(list, json_string(a, str_from(text)));
	}
}

int
evidence_item(struct context *c, const struct stored_event *stored,
    uint64_t size, bool with_path, struct json **out, struct err *e)
{
	struct json *v = json_object(c->arena), *path = json_array(c->arena);
	uint64_t seq = stored->recorded.seq;
	struct merkle_proof p;

	if (with_path) {
		if (ledger_prove_inclusion(
			c->reading, seq, size, c->arena, &p, e))
			return -1;
		push_path(c->arena, &p, path);
	}
	json_put_str(c->arena, v, "line", stored->line);
	json_put(v, "path", path);
	json_put_int(c->arena, v, "seq", (int64_t)seq);
	*out = v;
	return 0;
}

/* As evidence files have it. What the ledger's keys were when it had `size`
 * events, so that the manifest does not depend on when it is made. */
static int
keys_part(struct context *c, const struct signed_root *covered,
    struct json **out, struct err *e)
{
	struct json *list = json_array(c->arena);
	struct key_history history;

	if (key_history_prove(c, covered, &history, e))
		return -1;
	for (size_t i = 0; i < history.n; i++)
		json_push(
		    list, evidence_key_encode(c->arena,
			      ledger_origin(c->ledger), &history.keys[i]));
	*out = list;
	return 0;
}

static int
read_parts(struct context *c, const struct manifest *m, struct json *out,
    struct err *e)
{
	struct stored_event certified;
	struct json *key_event, *keys;

	if (ledger_read_event(
		c->reading, m->key_seq, c->arena, &certified, e) ||
	    evidence_item(
		c, &certified, m->covered.size, true, &key_event, e) ||
	    keys_part(c, &m->covered, &keys, e))
		return -1;
	json_put(out, "key_event", key_event);
	json_put(out, "keys", keys);
	return 0;
}

int
log_part(struct context *c, const struct manifest *m, struct json **out,
    struct err *e)
{
	struct json *v = json_object(c->arena);
	char *root = arena_alloc(c->arena, DIGEST_HEX + 1);
	struct context own = *c;
	struct reading reading;
	int rc;

	if (ledger_read_begin(c->ledger, &reading, e))
		return -1;
	own.reading = &reading;
	own.db = reading.db;
	rc = read_parts(&own, m, v, e);
	ledger_read_end(&reading);
	digest_hex(m->covered.root, root);
	json_put_str(c->arena, v, "checkpoint", m->covered.note);
	json_put(v, "complete", json_bool(c->arena, m->scope.complete));
	json_put_str(c->arena, v, "origin", ledger_origin(c->ledger));
	json_put_str(c->arena, v, "root_sha256", str_from(root));
	json_put_int(c->arena, v, "size", (int64_t)m->covered.size);
	*out = v;
	return rc;
}
