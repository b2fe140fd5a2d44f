#include "ledger/crypto/sealed.h"

#include <assert.h>
#include <string.h>

#include "ledger/codec/text.h"
#include "ledger/crypto/hash.h"

#define BOX_TEXT_MAX BASE64_LENGTH(SEALED_TEXT_MAX + SEALED_OVERHEAD)

/* clang-format off */
SHAPE(sealed_text, "A personal value, encrypted: nonce, ciphertext and tag of AES-256-GCM over 32 bytes of salt and the clear text",
	FIELD(sealed_text, ciphertext, .omit_null = true, .max = BOX_TEXT_MAX, .doc = "Base64; absent where it is the event's payload"),
	FIELD(sealed_text, ciphertext_sha256, .required = true, .doc = "SHA-256 of the encrypted bytes"),
	FIELD(sealed_text, commitment, .required = true, .doc = "SHA-256 of salt and clear text"),
	FIELD(sealed_text, key, .required = true, .doc = "The content key; once it is destroyed the value is gone"));
/* clang-format on */

/* No part but the origin can hold a line end, and no origin does. */
static struct str
additional_data(struct arena *a, const struct sealed_place *place)
{
	char subject[UID_TEXT + 1];

	uid_format(place->subject, subject);
	return arena_strf(a, "probity-content/v1\n%.*s\n%s\n%s\n",
	    STR_ARGS(place->origin), subject, place->member);
}

static struct digest_text
digest_text(struct arena *a, struct digest digest)
{
	char hex[DIGEST_HEX + 1];

	digest_hex(digest, hex);
	return (struct digest_text){ arena_str(a, str_from(hex)) };
}

/* The box, and in about all but the ciphertext. */
static struct str
make_box(struct arena *a, const struct content_key *key,
    const struct sealed_place *place, struct str clear,
    struct sealed_text *about)
{
	size_t n = SEALED_SALT + clear.n;
	char *salted = arena_alloc(a, n);
	uint8_t *box = arena_alloc(a, clear.n + SEALED_OVERHEAD);
	struct str all = { (const char *)box, clear.n + SEALED_OVERHEAD };

	random_bytes(salted, SEALED_SALT);
	if (clear.n > 0)
		memcpy(salted + SEALED_SALT, clear.p, clear.n);
	random_bytes(box, AEAD_NONCE);
	aead_encrypt(key->secret, box, additional_data(a, place),
	    (struct str){ salted, n }, box + AEAD_NONCE);
	*about = (struct sealed_text){
		.ciphertext_sha256 = digest_text(a, sha256(all)),
		.commitment = digest_text(a, sha256((struct str){ salted, n })),
		.key = key->uid,
	};
	explicit_bzero(salted, n);
	return all;
}

const struct sealed_text *
sealed_text_make(struct arena *a, const struct content_key *key,
    const struct sealed_place *place, struct str clear)
{
	struct sealed_text *out = ARENA_NEW(a, struct sealed_text);
	struct str box;
	char *text;

	assert(clear.n <= SEALED_TEXT_MAX);
	box = make_box(a, key, place, clear, out);
	text = arena_alloc(a, BASE64_LENGTH(box.n) + 1);
	base64_encode(box.p, box.n, text);
	out->ciphertext = str_from(text);
	return out;
}

struct str
sealed_payload_make(struct arena *a, const struct content_key *key,
    const struct sealed_place *place, struct str clear,
    const struct sealed_text **about)
{
	struct sealed_text *out = ARENA_NEW(a, struct sealed_text);

	*about = out;
	return make_box(a, key, place, clear, out);
}

int
sealed_text_box(struct arena *a, const struct sealed_text *sealed,
    struct str *box, struct err *e)
{
	char *bytes = arena_alloc(a, sealed->ciphertext.n + 1);
	size_t n = 0;

	if (!base64_decode(
		sealed->ciphertext, bytes, sealed->ciphertext.n, &n) ||
	    n < SEALED_OVERHEAD)
		return err_set(
		    e, &err_corrupt, "an encrypted value is not base64");
	*box = (struct str){ bytes, n };
	return 0;
}

/* The salt with the clear text behind it. */
static int
open_box(struct arena *a, const struct content_key *key,
    const struct sealed_place *place, struct str box, struct str *salted,
    struct err *e)
{
	size_t n = box.n < SEALED_OVERHEAD
		       ? 0
		       : box.n - (SEALED_OVERHEAD - SEALED_SALT);
	uint8_t *text = arena_alloc(a, n + 1);

	if (n == 0 || !aead_decrypt(key->secret, (const uint8_t *)box.p,
			  additional_data(a, place),
			  str_slice(box, AEAD_NONCE, box.n), text))
		return err_set(e, &err_corrupt,
		    "the encrypted %s of a record is not what was recorded, or "
		    "the content key is another one",
		    place->member);
	*salted = (struct str){ (const char *)text, n };
	return 0;
}

int
sealed_box_open(struct arena *a, const struct content_key *key,
    const struct sealed_place *place, struct str box, struct str *clear,
    struct err *e)
{
	struct str salted;

	if (open_box(a, key, place, box, &salted, e))
		return -1;
	*clear = str_slice(salted, SEALED_SALT, salted.n);
	return 0;
}

static bool
is_hash_of(struct digest_text expected, struct str bytes)
{
	struct digest digest;

	return digest_from_hex(expected.hex, &digest) &&
	       digest_eq(digest, sha256(bytes));
}

int
sealed_payload_open(struct arena *a, const struct content_key *key,
    const struct sealed_place *place, const struct sealed_text *about,
    struct str box, struct str *clear, struct err *e)
{
	struct str salted;

	if (!is_hash_of(about->ciphertext_sha256, box))
		return err_set(e, &err_corrupt,
		    "the encrypted %s of a record has another SHA-256",
		    place->member);
	if (open_box(a, key, place, box, &salted, e))
		return -1;
	if (!is_hash_of(about->commitment, salted))
		return err_set(e, &err_corrupt,
		    "the %s of a record is not what was committed to",
		    place->member);
	*clear = str_slice(salted, SEALED_SALT, salted.n);
	return 0;
}

int
sealed_text_open(struct arena *a, const struct content_key *key,
    const struct sealed_place *place, const struct sealed_text *sealed,
    struct str *clear, struct err *e)
{
	struct str box;

	if (sealed_text_box(a, sealed, &box, e))
		return -1;
	return sealed_payload_open(a, key, place, sealed, box, clear, e);
}
