/*
 * Keys on disk. Secret bytes pass only through memory that is wiped: OpenSSL's
 * decoders leave copies of what they read on the heap, so they are not asked.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/base/private.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/pkcs11_uri.h"
#include "ledger/crypto/private_key.h"

#define SECRET_BYTES 32
#define SECRET_HEX   (2 * SECRET_BYTES)

#define PEM_BEGIN "-----BEGIN PRIVATE KEY-----"
#define PEM_END   "-----END PRIVATE KEY-----"

/* DER of RFC 8410, section 7: version 0, OID 1.3.101.112, an OCTET STRING in
 * an OCTET STRING; the seed comes after it and ends it. */
static const uint8_t pkcs8_head[] = { 0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05,
	0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20 };
#define PKCS8_BYTES (sizeof pkcs8_head + SEED_BYTES)
#define PEM_BYTES \
	(sizeof PEM_BEGIN + BASE64_LENGTH(PKCS8_BYTES) + sizeof PEM_END + 1)

/* O_NONBLOCK: a FIFO laid in the key's place must not hold us up. */
static int
open_private_at(int dir, const char *path)
{
	return openat(
	    dir, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static int
open_private(const char *path, struct err *e)
{
	int fd = open_private_at(AT_FDCWD, path);

	if (fd < 0)
		return err_errno(e,
		    errno == ENOENT ? &err_not_found : &err_unavailable,
		    "open key file %s", path);
	return fd;
}

static int
check_private(int fd, const char *path, uid_t *owner, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_errno(e, &err_unavailable, "stat %s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(
		    e, &err_unavailable, "key file %s is not a file", path);
	if (st.st_mode & (private_is_shared(AT_FDCWD, path) ? 07 : 077))
		return err_set(e, &err_unavailable,
		    "key file %s is open to others (mode %04o, not 0600)", path,
		    (unsigned)st.st_mode & 07777);
	if (st.st_size > KEY_FILE_MAX)
		return err_set(e, &err_too_large,
		    "key file %s is larger than %d bytes", path, KEY_FILE_MAX);
	*owner = st.st_uid;
	return 0;
}

int
key_file_read(const char *path, struct key_file *f, struct err *e)
{
	size_t n = 0;
	ssize_t got = 0;
	int rc = -1;
	int fd = open_private(path, e);

	if (fd < 0)
		return -1;
	if (check_private(fd, path, &f->owner, e))
		goto out;
	while (n <= KEY_FILE_MAX) {
		got = read(fd, f->bytes + n, KEY_FILE_MAX + 1 - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	if (got < 0) {
		err_errno(e, &err_unavailable, "read %s", path);
		goto out;
	}
	if (n > KEY_FILE_MAX) {
		err_set(e, &err_too_large, "key file %s grew", path);
		goto out;
	}
	f->text = (struct str){ f->bytes, n };
	rc = 0;
out:
	close(fd);
	return rc;
}

int
private_key_save(const struct private_key *k, const char *path, struct err *e)
{
	uint8_t der[PKCS8_BYTES];
	char text[PEM_BYTES + 1], *at = text;
	int rc;

	assert(!private_key_on_token(k));
	memcpy(der, pkcs8_head, sizeof pkcs8_head);
	memcpy(der + sizeof pkcs8_head, k->expanded, SEED_BYTES);
	memcpy(at, PEM_BEGIN "\n", sizeof PEM_BEGIN);
	at += sizeof PEM_BEGIN;
	base64_encode(der, sizeof der, at);
	at += BASE64_LENGTH(PKCS8_BYTES);
	memcpy(at, "\n" PEM_END "\n", sizeof "\n" PEM_END "\n");
	rc = io_create_file(path, (struct str){ text, PEM_BYTES }, 0600, e);
	OPENSSL_cleanse(der, sizeof der);
	OPENSSL_cleanse(text, sizeof text);
	return rc;
}

/* The base64 between the lines, on any number of lines. */
static bool
unwrap(struct str pem, char base64[BASE64_LENGTH(PKCS8_BYTES)])
{
	size_t n = 0;

	while (pem.n > 0 && memchr(" \t\r\n", pem.p[pem.n - 1], 4) != NULL)
		pem.n--;
	if (!str_has_prefix(pem, STR(PEM_BEGIN)) ||
	    !str_has_suffix(pem, STR(PEM_END)) ||
	    pem.n < sizeof PEM_BEGIN + sizeof PEM_END)
		return false;
	pem =
	    str_slice(pem, sizeof PEM_BEGIN - 1, pem.n - (sizeof PEM_END - 1));
	for (size_t i = 0; i < pem.n; i++) {
		if (pem.p[i] == '\n' || pem.p[i] == '\r')
			continue;
		if (n == BASE64_LENGTH(PKCS8_BYTES))
			return false;
		base64[n++] = pem.p[i];
	}
	return n == BASE64_LENGTH(PKCS8_BYTES);
}

/* The seed in a PEM text; -1 for anything but an Ed25519 key. */
static int
decode_seed(struct str pem, uint8_t seed[SEED_BYTES])
{
	char base64[BASE64_LENGTH(PKCS8_BYTES)];
	uint8_t der[PKCS8_BYTES];
	size_t n = 0;
	int rc = -1;

	if (unwrap(pem, base64) &&
	    base64_decode(
		(struct str){ base64, sizeof base64 }, der, sizeof der, &n) &&
	    n == sizeof der &&
	    memcmp(der, pkcs8_head, sizeof pkcs8_head) == 0) {
		memcpy(seed, der + sizeof pkcs8_head, SEED_BYTES);
		rc = 0;
	}
	OPENSSL_cleanse(base64, sizeof base64);
	OPENSSL_cleanse(der, sizeof der);
	return rc;
}

static int
load_pem(
    struct str pem, const char *path, struct private_key **out, struct err *e)
{
	uint8_t seed[SEED_BYTES];
	int rc = decode_seed(pem, seed);

	if (rc)
		err_set(e, &err_malformed,
		    "key file %s holds neither an unencrypted Ed25519 key in "
		    "PEM nor a PKCS #11 URI",
		    path);
	else
		*out = private_key_from_seed(seed);
	OPENSSL_cleanse(seed, sizeof seed);
	return rc;
}

/* The URI names a library whose code we then run: only root and the user whose
 * rights we have may choose it. */
static int
load_from_token(const struct key_file *f, const char *path,
    struct private_key **out, struct err *e)
{
	struct str uri = f->text;
	struct err why = { 0 };

	if (f->owner != geteuid() && f->owner != 0)
		return err_set(e, &err_unavailable,
		    "key file %s names a module and belongs to user %u: run "
		    "as that user",
		    path, (unsigned)f->owner);
	if (str_has_suffix(uri, STR("\n")))
		uri.n--;
	if (pkcs11_key_load(uri, out, &why) == 0)
		return 0;
	return err_set(
	    e, &err_unavailable, "key file %s: %s", path, why.detail);
}

int
private_key_load(const char *path, struct private_key **out, struct err *e)
{
	struct key_file f;
	int rc = key_file_read(path, &f, e);

	if (rc == 0 && str_has_prefix(f.text, STR(PKCS11_URI_SCHEME)))
		rc = load_from_token(&f, path, out, e);
	else if (rc == 0)
		rc = load_pem(f.text, path, out, e);
	OPENSSL_cleanse(&f, sizeof f);
	return rc;
}

int
private_key_copy(const char *from, const char *to, struct err *e)
{
	struct private_key *key;
	struct key_file f;
	int rc = -1;

	if (private_key_load(from, &key, e))
		return -1;
	private_key_free(key);
	if (key_file_read(from, &f, e) == 0)
		rc = io_create_file(to, f.text, 0600, e);
	OPENSSL_cleanse(&f, sizeof f);
	return rc;
}

bool
private_key_file_names_token(int dir, const char *path)
{
	char head[sizeof PKCS11_URI_SCHEME - 1];
	int fd = open_private_at(dir, path);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, head, sizeof head);
	close(fd);
	return n == (ssize_t)sizeof head &&
	       memcmp(head, PKCS11_URI_SCHEME, sizeof head) == 0;
}

int
secret_save(const uint8_t secret[SECRET_BYTES], const char *path, struct err *e)
{
	char line[SECRET_HEX + 1];
	int rc;

	hex_encode(secret, SECRET_BYTES, line);
	line[SECRET_HEX] = '\n';
	rc = io_create_file(path, (struct str){ line, sizeof line }, 0600, e);
	OPENSSL_cleanse(line, sizeof line);
	return rc;
}

int
secret_load(const char *path, uint8_t secret[SECRET_BYTES], struct err *e)
{
	struct key_file f;
	int rc = -1;

	if (key_file_read(path, &f, e))
		goto out;
	if (str_has_suffix(f.text, STR("\n")))
		f.text.n--;
	if (!hex_decode(f.text, secret, SECRET_BYTES)) {
		err_set(e, &err_malformed,
		    "secret file %s is not %d hex digits", path, SECRET_HEX);
		goto out;
	}
	rc = 0;
out:
	OPENSSL_cleanse(&f, sizeof f);
	return rc;
}
