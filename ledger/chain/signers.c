#include "ledger/chain/signers.h"

#include <string.h>

#include "ledger/chain/key_event.h"
#include "ledger/crypto/hash.h"
#include "ledger/crypto/note.h"

static struct json *
digest_json(struct arena *a, struct digest d)
{
	char hex[DIGEST_HEX + 1];

	digest_hex(d, hex);
	return json_string(a, arena_str(a, str_from(hex)));
}

static struct json *
continued_encode(struct arena *a, const struct continued *c)
{
	struct json *v;

	if (!c->any)
		return json_null(a);
	v = json_object(a);
	json_put(v, "head", digest_json(a, c->head));
	json_put_str(a, v, "origin", arena_str(a, str_from(c->origin)));
	json_put(v, "root", digest_json(a, c->root));
	json_put_int(a, v, "size", (int64_t)c->size);
	return v;
}

struct json *
opened_encode(struct arena *a, const struct opened *o)
{
	struct json *algorithms = json_object(a), *data = json_object(a);

	json_put_str(a, algorithms, "hash", STR(ALGORITHM_HASH));
	json_put_str(a, algorithms, "signature", STR(ALGORITHM_SIGNATURE));
	json_put_str(a, algorithms, "tree", STR(ALGORITHM_TREE));
	json_put(data, "algorithms", algorithms);
	json_put(data, "continues", continued_encode(a, &o->continues));
	json_put(data, "public_key", key_line_encode(a, o->key));
	json_put(data, "recovery_key", key_line_encode(a, o->recovery));
	return data;
}

static bool
is_algorithms(const struct json *v)
{
	return v && v->n == 3 &&
	       str_is(json_get_str(v, "hash"), ALGORITHM_HASH) &&
	       str_is(json_get_str(v, "tree"), ALGORITHM_TREE) &&
	       str_is(json_get_str(v, "signature"), ALGORITHM_SIGNATURE);
}

static bool
decode_continued(const struct json *v, struct continued *c)
{
	struct str origin;
	int64_t size;

	*c = (struct continued){ 0 };
	if (!v || v->type == JSON_NULL)
		return v != NULL;
	origin = json_get_str(v, "origin");
	if (v->n != 4 || !origin_is_valid(origin) ||
	    !json_get_int(v, "size", &size) || size <= 0 ||
	    !digest_from_hex(json_get_str(v, "root"), &c->root) ||
	    !digest_from_hex(json_get_str(v, "head"), &c->head))
		return false;
	c->any = true;
	c->size = (uint64_t)size;
	memcpy(c->origin, origin.p, origin.n);
	return true;
}

int
opened_decode(const struct json *data, struct opened *o, struct err *e)
{
	if (!data || data->n != 4)
		return err_set(e, &err_corrupt,
		    "ledger.opened has other members than it should");
	if (!is_algorithms(json_get(data, "algorithms")))
		return err_set(e, &err_corrupt,
		    "ledger.opened names algorithms that are not known");
	if (!decode_continued(json_get(data, "continues"), &o->continues))
		return err_set(
		    e, &err_corrupt, "continues in ledger.opened is malformed");
	if (!key_line_decode(json_get_str(data, "public_key"), &o->key) ||
	    !key_line_decode(json_get_str(data, "recovery_key"), &o->recovery))
		return err_set(
		    e, &err_corrupt, "a key in ledger.opened is malformed");
	return 0;
}

bool
signers_know(struct str type, bool first)
{
	if (first)
		return str_is(type, TYPE_OPENED);
	return signers_change(type) || (!str_has_prefix(type, STR("key.")) &&
					   !str_is(type, TYPE_OPENED));
}

bool
signers_change(struct str type)
{
	return str_is(type, TYPE_KEY_ROTATED) || str_is(type, TYPE_KEY_REVOKED);
}
