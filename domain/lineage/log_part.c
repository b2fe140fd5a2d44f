#include "domain/lineage/log_part.h"

#include "ledger/chain/signers.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/note.h"

int
covered_read(
    struct context *c, uint64_t size, struct covered *out, struct err *e)
{
	struct checkpoint says;
	struct note note;

	*out = (struct covered){ .size = size };
	if (ledger_read_checkpoint(
		c->reading, &out->size, c->arena, &out->note, e))
		return -1;
	if (note_parse(c->arena, out->note, &note, NULL) ||
	    checkpoint_parse(note.text, &says, NULL) ||
	    says.size != out->size || (size != 0 && size != out->size))
		return err_set(e, &err_corrupt,
		    "the checkpoint of size %llu cannot be read",
		    (unsigned long long)size);
	out->root = says.root;
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
keys_part(struct context *c, struct json **out, struct err *e)
{
	struct json *list = json_array(c->arena), *v = json_object(c->arena);
	struct str origin = ledger_origin(c->ledger);
	char line[PUBLIC_KEY_SSH + 1];
	struct stored_event first;
	struct opened opened;

	if (ledger_read_event(c->reading, 0, c->arena, &first, e) ||
	    opened_decode(first.recorded.event.data, &opened, e))
		return -1;
	public_key_ssh(opened.key, line);
	json_put_int(c->arena, v, "from_seq", 0);
	json_put_str(c->arena, v, "key_id",
	    arena_strf(c->arena, "%08x", note_key_id(origin, opened.key)));
	json_put_str(
	    c->arena, v, "public_key", arena_str(c->arena, str_from(line)));
	json_put(v, "until_seq", json_null(c->arena));
	json_push(list, v);
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
	    keys_part(c, &keys, e))
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
