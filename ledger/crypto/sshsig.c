/*
 * Writing and checking. sshsig_parse.c reads.
 */
#include "ledger/crypto/sshsig.h"

#include "ledger/codec/text.h"
#include "ledger/crypto/hash.h"

#define LINE_WIDTH 70 /* as ssh-keygen writes it */
#define BLOB_MAX   2048
#define VERSION    1
#define HASH       "sha512"

static void
add_string(struct buf *b, struct str s)
{
	buf_add_u32be(b, (uint32_t)s.n);
	buf_add(b, s);
}

/* What the signed bytes and the blob have in common. */
static void
add_scope(struct buf *b, struct str name_space)
{
	add_string(b, name_space);
	add_string(b, STR("")); /* reserved */
	add_string(b, STR(HASH));
}

void
sshsig_preimage(struct buf *b, struct str name_space, struct str message)
{
	char hash[64];

	sha512(message, (uint8_t *)hash);
	buf_add(b, STR("SSHSIG"));
	add_scope(b, name_space);
	add_string(b, (struct str){ hash, sizeof hash });
}

static void
add_blob(struct buf *b, struct public_key k, struct str name_space,
    struct signature sig)
{
	uint8_t key[PUBLIC_KEY_BLOB];

	public_key_blob(k, key);
	buf_add(b, STR("SSHSIG"));
	buf_add_u32be(b, VERSION);
	add_string(b, (struct str){ (const char *)key, sizeof key });
	add_scope(b, name_space);
	/* A string that holds two strings: algorithm and signature. */
	buf_add_u32be(b, 4 + 11 + 4 + sizeof sig.b);
	add_string(b, STR("ssh-ed25519"));
	add_string(b, (struct str){ (const char *)sig.b, sizeof sig.b });
}

void
sshsig_armor(struct buf *out, struct public_key k, struct str name_space,
    struct signature sig)
{
	struct buf blob, text;
	struct str rest;

	buf_init(&blob, BLOB_MAX);
	buf_init(&text, BASE64_LENGTH(BLOB_MAX));
	add_blob(&blob, k, name_space, sig);
	base64_add(&text, buf_str(&blob));
	out->failed |= buf_failed(&blob) || buf_failed(&text);
	buf_add(out, STR("-----BEGIN SSH SIGNATURE-----\n"));
	for (rest = buf_str(&text); rest.n > 0;
	     rest = str_slice(rest, LINE_WIDTH, rest.n)) {
		buf_add(out, str_slice(rest, 0, LINE_WIDTH));
		buf_add_byte(out, '\n');
	}
	buf_add(out, STR("-----END SSH SIGNATURE-----\n"));
	buf_fini(&blob);
	buf_fini(&text);
}

int
sshsig_sign(const struct signer *signer, struct str name_space,
    struct str message, struct buf *out, struct err *e)
{
	struct buf preimage;
	struct signature sig;
	int rc = -1;

	buf_init(&preimage, BLOB_MAX);
	sshsig_preimage(&preimage, name_space, message);
	if (buf_failed(&preimage) || name_space.n == 0) {
		err_set(e, &err_internal, "no namespace for a signature");
		goto out;
	}
	if (signer_sign(signer, SIGNS_COMMIT, buf_str(&preimage), &sig, e))
		goto out;
	sshsig_armor(out, signer_public(signer), name_space, sig);
	if (buf_failed(out)) {
		err_set(e, &err_internal, "no room for a signature");
		goto out;
	}
	rc = 0;
out:
	buf_fini(&preimage);
	return rc;
}

bool
sshsig_verify(const struct sshsig *s, struct str name_space, struct str message)
{
	struct buf preimage;
	bool good;

	if (!str_is(name_space, s->name_space))
		return false;
	buf_init(&preimage, BLOB_MAX);
	sshsig_preimage(&preimage, name_space, message);
	good = !buf_failed(&preimage) &&
	       ed25519_verify(s->key, buf_str(&preimage), s->signature);
	buf_fini(&preimage);
	return good;
}

/* The ssh-keygen patterns' and quotes' own characters would change what a line
 * means. */
static bool
is_principal(struct str s)
{
	const struct str special = STR("\"\\*?!,#");

	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] > '~' ||
		    str_find(special, s.p[i]) < special.n)
			return false;
	return s.n > 0;
}

/* ,name="YYYYMMDDHHMMSSZ" */
static void
add_bound(struct buf *b, const char *name, struct instant at)
{
	char t[INSTANT_TEXT + 1];

	if (at.us == 0)
		return;
	instant_format(at, t);
	buf_addf(b, ",%s=\"%.4s%.2s%.2s%.2s%.2s%.2sZ\"", name, t, t + 5, t + 8,
	    t + 11, t + 14, t + 17);
}

void
allowed_signers_add(struct buf *b, struct str principal, struct public_key k,
    struct instant valid_after, struct instant valid_before)
{
	char key[PUBLIC_KEY_SSH + 1];

	if (!is_principal(principal)) {
		b->failed = true;
		return;
	}
	public_key_ssh(k, key);
	buf_add(b, principal);
	buf_add(b, STR(" namespaces=\"git\""));
	add_bound(b, "valid-after", valid_after);
	add_bound(b, "valid-before", valid_before);
	buf_addf(b, " %s\n", key);
}
