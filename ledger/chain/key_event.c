#include "ledger/chain/key_event.h"

#include "ledger/codec/text.h"

#define STATEMENT_MAX 512

struct json *
key_line_encode(struct arena *a, struct public_key key)
{
	char line[PUBLIC_KEY_SSH + 1];

	public_key_ssh(key, line);
	return json_string(a, arena_str(a, str_from(line)));
}

bool
key_line_decode(struct str text, struct public_key *key)
{
	char line[PUBLIC_KEY_SSH + 1];

	if (!text.p || public_key_parse(text, key, NULL))
		return false;
	public_key_ssh(*key, line);
	return str_is(text, line);
}

void
possession_statement(
    struct buf *b, struct str origin, struct str purpose, struct public_key key)
{
	char line[PUBLIC_KEY_SSH + 1];

	public_key_ssh(key, line);
	buf_addf(b, "probity-key/v1\n%.*s\n%.*s\n%s\n", STR_ARGS(origin),
	    STR_ARGS(purpose), line);
}

int
possession_sign(const struct signer *signer, struct str purpose,
    struct signature *out, struct err *e)
{
	struct buf b;
	int rc;

	buf_init(&b, STATEMENT_MAX);
	possession_statement(
	    &b, signer_origin(signer), purpose, signer_public(signer));
	rc = signer_sign(signer, SIGNS_POSSESSION, buf_str(&b), out, e);
	buf_fini(&b);
	return rc;
}

bool
possession_verify(struct str origin, struct str purpose, struct public_key key,
    struct signature signature)
{
	struct buf b;
	bool good;

	buf_init(&b, STATEMENT_MAX);
	possession_statement(&b, origin, purpose, key);
	good = !buf_failed(&b) && ed25519_verify(key, buf_str(&b), signature);
	buf_fini(&b);
	return good;
}

static void
put_key(struct arena *a, struct json *data, struct public_key key,
    struct signature possession)
{
	char text[BASE64_LENGTH(sizeof possession.b) + 1];

	base64_encode(possession.b, sizeof possession.b, text);
	json_put_str(a, data, "possession", arena_str(a, str_from(text)));
	json_put(data, "public_key", key_line_encode(a, key));
}

struct json *
rotated_encode(struct arena *a, const struct rotated *r)
{
	struct json *data = json_object(a);

	put_key(a, data, r->key, r->possession);
	return data;
}

struct json *
revoked_encode(struct arena *a, const struct revoked *r)
{
	struct json *data = json_object(a);
	char hex[DIGEST_HEX + 1];

	digest_hex(r->root, hex);
	put_key(a, data, r->key, r->possession);
	json_put(data, "revoked", key_line_encode(a, r->revoked));
	json_put_str(a, data, "root", arena_str(a, str_from(hex)));
	json_put_int(a, data, "size", (int64_t)r->size);
	return data;
}

static int
get_key(const struct json *data, struct str origin, struct public_key *key,
    struct signature *possession, struct err *e)
{
	struct str text = json_get_str(data, "possession");
	size_t n;

	if (!key_line_decode(json_get_str(data, "public_key"), key))
		return err_set(
		    e, &err_corrupt, "the new key in a key event is malformed");
	if (!text.p ||
	    !base64_decode(text, possession->b, sizeof possession->b, &n) ||
	    n != sizeof possession->b ||
	    !possession_verify(origin, STR(PURPOSE_LEDGER), *key, *possession))
		return err_set(e, &err_corrupt,
		    "the new key did not sign that it is this ledger's");
	return 0;
}

int
rotated_decode(const struct json *data, struct str origin, struct rotated *r,
    struct err *e)
{
	if (!data || data->n != 2)
		return err_set(e, &err_corrupt,
		    TYPE_KEY_ROTATED " has other members than it should");
	return get_key(data, origin, &r->key, &r->possession, e);
}

int
revoked_decode(const struct json *data, struct str origin, struct revoked *r,
    struct err *e)
{
	int64_t size;

	if (!data || data->n != 5)
		return err_set(e, &err_corrupt,
		    TYPE_KEY_REVOKED " has other members than it should");
	if (!key_line_decode(json_get_str(data, "revoked"), &r->revoked) ||
	    !digest_from_hex(json_get_str(data, "root"), &r->root) ||
	    !json_get_int(data, "size", &size) || size <= 0)
		return err_set(e, &err_corrupt,
		    "a member of " TYPE_KEY_REVOKED " is malformed");
	r->size = (uint64_t)size;
	return get_key(data, origin, &r->key, &r->possession, e);
}
