#include <string.h>

#include "ledger/codec/text.h"
#include "ledger/crypto/sshsig.h"

#define BEGIN "-----BEGIN SSH SIGNATURE-----\n"
#define END   "\n-----END SSH SIGNATURE-----"

/* Takes n bytes off the front; no value when there are fewer. */
static struct str
take(struct str *rest, size_t n)
{
	struct str s = str_slice(*rest, 0, n);

	if (rest->n < n)
		return STR_NONE;
	*rest = str_slice(*rest, n, rest->n);
	return s;
}

static struct str
take_string(struct str *rest)
{
	struct str s = take(rest, 4);
	uint32_t n = 0;

	if (s.p == NULL)
		return STR_NONE;
	for (int i = 0; i < 4; i++)
		n = n << 8 | (uint8_t)s.p[i];
	return take(rest, n);
}

/* Takes a string and says whether it is the one expected. */
static bool
take_expected(struct str *rest, struct str expected)
{
	return str_eq(take_string(rest), expected);
}

static bool
parse_key(struct str blob, struct public_key *k)
{
	struct str raw;

	if (!take_expected(&blob, STR("ssh-ed25519")))
		return false;
	raw = take_string(&blob);
	if (raw.n != sizeof k->b || blob.n != 0)
		return false;
	memcpy(k->b, raw.p, sizeof k->b);
	return true;
}

static bool
parse_signature(struct str blob, struct signature *sig)
{
	struct str raw;

	if (!take_expected(&blob, STR("ssh-ed25519")))
		return false;
	raw = take_string(&blob);
	if (raw.n != sizeof sig->b || blob.n != 0)
		return false;
	memcpy(sig->b, raw.p, sizeof sig->b);
	return true;
}

static bool
parse_name_space(struct str s, char out[64])
{
	if (s.n == 0 || s.n > 63 || str_find(s, '\0') != s.n)
		return false;
	memcpy(out, s.p, s.n);
	out[s.n] = '\0';
	return true;
}

/*
 * The reserved field must be empty: OpenSSH passes over it, and what it holds
 * is not signed, so there one signature has many forms.
 */
static bool
parse_blob(struct str blob, struct sshsig *out)
{
	return str_eq(take(&blob, 6), STR("SSHSIG")) &&
	       str_eq(take(&blob, 4), STR("\0\0\0\1")) &&
	       parse_key(take_string(&blob), &out->key) &&
	       parse_name_space(take_string(&blob), out->name_space) &&
	       take_expected(&blob, STR("")) &&
	       take_expected(&blob, STR("sha512")) &&
	       parse_signature(take_string(&blob), &out->signature) &&
	       blob.n == 0;
}

/* The base64 between the armor's two lines, without its line ends. */
static bool
unwrap(struct str s, char out[SSHSIG_MAX], size_t *n)
{
	if (str_has_suffix(s, STR("\n")))
		s.n--;
	if (!str_has_prefix(s, STR(BEGIN)) || !str_has_suffix(s, STR(END)) ||
	    s.n < sizeof BEGIN + sizeof END)
		return false;
	s = str_slice(s, sizeof BEGIN - 1, s.n - (sizeof END - 1));
	*n = 0;
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != '\n')
			out[(*n)++] = s.p[i];
	return true;
}

int
sshsig_parse(struct str armored, struct sshsig *out, struct err *e)
{
	char base64[SSHSIG_MAX];
	uint8_t blob[SSHSIG_MAX];
	size_t n;

	memset(out, 0, sizeof *out);
	if (armored.n > SSHSIG_MAX)
		return err_set(e, &err_malformed,
		    "a signature has at most %d bytes", SSHSIG_MAX);
	if (!unwrap(armored, base64, &n))
		return err_set(
		    e, &err_malformed, "not an armored SSH signature");
	if (!base64_decode((struct str){ base64, n }, blob, sizeof blob, &n) ||
	    !parse_blob((struct str){ (const char *)blob, n }, out))
		return err_set(e, &err_malformed,
		    "not an Ed25519 signature over SHA-512 in SSHSIG form");
	return 0;
}
