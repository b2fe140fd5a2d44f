#include "ledger/chain/evidence.h"

#include "ledger/chain/signers.h"
#include "ledger/codec/canon.h"

static const struct json_limits limits = { EVIDENCE_MAX, 4, 1024 };

static struct str
key_id_hex(struct arena *a, struct str origin, struct public_key key)
{
	return arena_strf(a, "%08x", note_key_id(origin, key));
}

struct json *
evidence_key_encode(
    struct arena *a, struct str origin, const struct evidence_key *k)
{
	struct json *v = json_object(a);
	char line[PUBLIC_KEY_SSH + 1];

	public_key_ssh(k->key, line);
	json_put_int(a, v, "from_seq", (int64_t)k->from_seq);
	json_put_str(a, v, "key_id", key_id_hex(a, origin, k->key));
	json_put_str(a, v, "public_key", arena_str(a, str_from(line)));
	if (k->ended)
		json_put_int(a, v, "until_seq", (int64_t)k->until_seq);
	else
		json_put(v, "until_seq", json_null(a));
	if (k->line.p) {
		json_put_str(a, v, "line", k->line);
		json_put_str(a, v, "proof", k->proof);
	}
	return v;
}

int
evidence_add(struct buf *b, const struct evidence *ev, struct err *e)
{
	struct arena *a = arena_new();
	struct json *v = json_object(a), *keys = json_array(a);
	struct str bytes;
	int rc;

	json_put_str(a, v, "format", STR(EVIDENCE_FORMAT));
	for (size_t i = 0; i < ev->n_keys; i++)
		json_push(
		    keys, evidence_key_encode(a, ev->origin, &ev->keys[i]));
	json_put(v, "keys", keys);
	json_put_str(a, v, "ledger", ev->origin);
	json_put_str(a, v, "line", ev->line);
	json_put_str(a, v, "proof", ev->proof);
	rc = canon_event(a, v, &bytes, e);
	if (rc == 0) {
		buf_add(b, bytes);
		if (buf_failed(b))
			rc = err_set(e, &err_too_large,
			    "an evidence file has at most %zu bytes", b->max);
	}
	arena_free(a);
	return rc;
}

static int
malformed(struct err *e, const char *what)
{
	return err_set(e, &err_malformed, "not an evidence file: %s", what);
}

/* A number of an event; a ledger never gets as far as 2^53. */
static bool
get_seq(const struct json *v, const char *name, uint64_t *out)
{
	int64_t n;

	if (!json_get_int(v, name, &n) || n < 0)
		return false;
	*out = (uint64_t)n;
	return true;
}

/* Only in the form in which it is written, so that text can be compared. */
static bool
get_key(const struct json *v, struct public_key *key)
{
	struct str text = json_get_str(v, "public_key");
	char line[PUBLIC_KEY_SSH + 1];

	if (!text.p || public_key_parse(text, key, NULL))
		return false;
	public_key_ssh(*key, line);
	return str_is(text, line);
}

static int
key_decode(struct arena *a, struct str origin, const struct json *v, bool first,
    struct evidence_key *k, struct err *e)
{
	const struct json *until = json_get(v, "until_seq");

	k->line = json_get_str(v, "line");
	k->proof = json_get_str(v, "proof");
	if (v->n != (first ? 4 : 6) || (!first && !k->line.p) ||
	    (!first && !k->proof.p) || !until || !get_key(v, &k->key) ||
	    !get_seq(v, "from_seq", &k->from_seq))
		return malformed(e, "a key is not one");
	if (!str_eq(json_get_str(v, "key_id"), key_id_hex(a, origin, k->key)))
		return malformed(e, "a key_id is not that of its public_key");
	k->ended = until->type != JSON_NULL;
	if (k->ended && (!get_seq(v, "until_seq", &k->until_seq) ||
			    k->until_seq < k->from_seq))
		return malformed(e, "a key's until_seq is not a number from "
				    "its from_seq on");
	return 0;
}

/* One key after the other from event 0 on; only the last may be in force. */
static int
keys_decode(struct arena *a, const struct json *array, struct evidence *ev,
    struct err *e)
{
	struct evidence_key *keys;
	uint64_t next = 0;
	size_t i = 0;

	if (!array || array->type != JSON_ARRAY || array->n == 0 ||
	    array->n > EVIDENCE_KEYS)
		return malformed(e, "keys is not a list of 1 to 64");
	keys = arena_array(a, array->n, sizeof *keys);
	for (const struct json *v = array->first; v; v = v->next, i++) {
		if (key_decode(a, ev->origin, v, i == 0, &keys[i], e))
			return -1;
		if (keys[i].from_seq != next || (!keys[i].ended && v->next))
			return malformed(
			    e, "the keys do not follow one on the other");
		next = keys[i].until_seq + 1;
	}
	ev->keys = keys;
	ev->n_keys = array->n;
	return 0;
}

static int
decode(
    struct arena *a, const struct json *v, struct evidence *ev, struct err *e)
{
	if (!str_is(json_get_str(v, "format"), EVIDENCE_FORMAT))
		return malformed(
		    e, "its format is not \"" EVIDENCE_FORMAT "\"");
	ev->origin = json_get_str(v, "ledger");
	ev->line = json_get_str(v, "line");
	ev->proof = json_get_str(v, "proof");
	if (v->n != 5 || !ev->line.p || !ev->proof.p)
		return malformed(e, "its members are not format, keys, ledger, "
				    "line and proof");
	if (!ev->origin.p || !origin_is_valid(ev->origin))
		return malformed(e, "its ledger is not an origin");
	return keys_decode(a, json_get(v, "keys"), ev, e);
}

int
evidence_parse(
    struct arena *a, struct str bytes, struct evidence *ev, struct err *e)
{
	struct json *v;
	struct err why = { 0 };

	*ev = (struct evidence){ 0 };
	if (bytes.n > EVIDENCE_MAX)
		return err_set(e, &err_too_large,
		    "an evidence file has at most %u bytes", EVIDENCE_MAX);
	if (canon_check_event(bytes, &why))
		return err_set(e, &err_malformed,
		    "not an evidence file, or not canonical JSON: %s",
		    why.detail);
	if (json_parse(a, bytes, &limits, &v, &why))
		return malformed(e, why.detail);
	return decode(a, v, ev, e);
}

size_t
evidence_keys_from(const struct signers *s, uint64_t size,
    struct evidence_key *keys, uint64_t *named_by)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n && s->keys[i].named_by < size; i++) {
		const struct signers_key *k = &s->keys[i];

		/* A later revocation may have ended it before it signed. */
		if (k->ended && k->until_seq < k->from_seq)
			continue;
		keys[n] = (struct evidence_key){ .key = k->key,
			.from_seq = k->from_seq,
			.ended = k->ended && k->until_seq < size,
			.until_seq = k->until_seq };
		named_by[n++] = k->named_by;
	}
	return n;
}
