/*
 * The forms in which people keep a public key.
 */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "ledger/codec/text.h"
#include "ledger/crypto/hash.h"
#include "ledger/crypto/note.h"

#define TEXT_MAX  16384
#define SSH_TYPE  "ssh-ed25519"
#define PEM_BEGIN "-----BEGIN PUBLIC KEY-----"
#define PEM_END   "-----END PUBLIC KEY-----"

/* SSH: string "ssh-ed25519", then the length of the key. */
static const uint8_t blob_head[] = { 0, 0, 0, 11, 's', 's', 'h', '-', 'e', 'd',
	'2', '5', '5', '1', '9', 0, 0, 0, 32 };
/* DER: SEQUENCE { SEQUENCE { OID 1.3.101.112 }, BIT STRING of 32 bytes }. */
static const uint8_t spki_head[] = { 0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b,
	0x65, 0x70, 0x03, 0x21, 0x00 };
static const uint8_t note_head[] = { 0x01 };

_Static_assert(sizeof blob_head + 32 == PUBLIC_KEY_BLOB, "");
_Static_assert(
    sizeof SSH_TYPE + BASE64_LENGTH(PUBLIC_KEY_BLOB) == PUBLIC_KEY_SSH, "");

void
public_key_blob(struct public_key k, uint8_t out[PUBLIC_KEY_BLOB])
{
	memcpy(out, blob_head, sizeof blob_head);
	memcpy(out + sizeof blob_head, k.b, sizeof k.b);
}

void
public_key_ssh(struct public_key k, char out[PUBLIC_KEY_SSH + 1])
{
	uint8_t blob[PUBLIC_KEY_BLOB];

	public_key_blob(k, blob);
	memcpy(out, SSH_TYPE " ", sizeof SSH_TYPE);
	base64_encode(blob, sizeof blob, out + sizeof SSH_TYPE);
}

void
public_key_fingerprint(
    struct public_key k, char out[PUBLIC_KEY_FINGERPRINT + 1])
{
	char text[BASE64_LENGTH(DIGEST_BYTES) + 1];
	uint8_t blob[PUBLIC_KEY_BLOB];
	struct digest digest;

	public_key_blob(k, blob);
	digest = sha256((struct str){ (const char *)blob, sizeof blob });
	base64_encode(digest.b, sizeof digest.b, text);
	snprintf(out, PUBLIC_KEY_FINGERPRINT + 1, "SHA256:%.*s",
	    (int)str_find(str_from(text), '='), text);
}

/* Base64 of the head and, right after it, the 32 bytes of a key. */
static bool
decode(
    struct str base64, const uint8_t *head, size_t n_head, struct public_key *k)
{
	uint8_t bytes[PUBLIC_KEY_BLOB];
	size_t n;

	if (!base64_decode(base64, bytes, sizeof bytes, &n) ||
	    n != n_head + sizeof k->b || memcmp(bytes, head, n_head) != 0)
		return false;
	memcpy(k->b, bytes + n_head, sizeof k->b);
	return true;
}

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct str
trim(struct str s)
{
	while (s.n > 0 && is_space(s.p[0]))
		s = str_slice(s, 1, s.n);
	while (s.n > 0 && is_space(s.p[s.n - 1]))
		s.n--;
	return s;
}

static bool
parse_pem(struct str s, struct public_key *k)
{
	char base64[BASE64_LENGTH(sizeof spki_head + sizeof k->b)];
	size_t n = 0;

	if (!str_has_prefix(s, STR(PEM_BEGIN)) ||
	    !str_has_suffix(s, STR(PEM_END)) ||
	    s.n < sizeof PEM_BEGIN + sizeof PEM_END)
		return false;
	s = str_slice(s, sizeof PEM_BEGIN - 1, s.n - (sizeof PEM_END - 1));
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\n' || s.p[i] == '\r')
			continue;
		if (n == sizeof base64)
			return false;
		base64[n++] = s.p[i];
	}
	return decode(
	    (struct str){ base64, n }, spki_head, sizeof spki_head, k);
}

/* The next word of an authorized_keys or allowed_signers line; blanks within
 * double quotes belong to it. */
static struct str
take_word(struct str *line)
{
	bool quoted = false;
	size_t i;
	struct str word;

	*line = trim(*line);
	for (i = 0; i < line->n; i++) {
		if (line->p[i] == '\\' && quoted && i + 1 < line->n)
			i++;
		else if (line->p[i] == '"')
			quoted = !quoted;
		else if (is_space(line->p[i]) && !quoted)
			break;
	}
	word = str_slice(*line, 0, i);
	*line = str_slice(*line, i, line->n);
	return word;
}

/* Another algorithm's name: what follows is its key and its comment, in which
 * nothing may be taken for a key. */
static bool
is_key_type(struct str word)
{
	return str_has_prefix(word, STR("ssh-")) ||
	       str_has_prefix(word, STR("ecdsa-")) ||
	       str_has_prefix(word, STR("sk-"));
}

static bool
parse_ssh(struct str line, struct public_key *k)
{
	if (str_find(line, '\n') != line.n)
		return false;
	/* At most two words before: principals and options. */
	for (int i = 0; i < 3; i++) {
		struct str word = take_word(&line);

		if (str_is(word, SSH_TYPE))
			return decode(
			    take_word(&line), blob_head, sizeof blob_head, k);
		if (is_key_type(word))
			return false;
	}
	return false;
}

static bool
parse_verifier(struct str s, struct public_key *k)
{
	struct str name = str_take(&s, '+');
	struct str id = str_take(&s, '+');
	uint8_t b[4];

	return name.n > 0 && hex_decode(id, b, sizeof b) &&
	       decode(s, note_head, sizeof note_head, k) &&
	       note_key_id(name, *k) ==
		   ((uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
		       (uint32_t)b[2] << 8 | b[3]);
}

int
public_key_parse(struct str text, struct public_key *out, struct err *e)
{
	struct public_key k;

	if (text.n > TEXT_MAX)
		return err_set(e, &err_malformed,
		    "a public key has at most %d bytes", TEXT_MAX);
	text = trim(text);
	if (!parse_pem(text, &k) && !parse_ssh(text, &k) &&
	    !parse_verifier(text, &k))
		return err_set(e, &err_malformed,
		    "not an Ed25519 public key as an OpenSSH line, in PEM or "
		    "as a verifier key");
	/* Small-order and mixed-order points, and a y not below 2^255-19. */
	if (!crypto_core_ed25519_is_valid_point(k.b))
		return err_set(e, &err_malformed,
		    "the public key is not a point of the Ed25519 group");
	*out = k;
	return 0;
}
