/*
 * Keys on disk. Secret bytes pass only through memory that is wiped.
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/private_key.h"

#define KEY_FILE_MAX 4096
#define SECRET_BYTES 32
#define SECRET_HEX   (2 * SECRET_BYTES)

/* O_NONBLOCK: a FIFO laid in the key's place must not hold us up. */
static int
open_private(const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return err_errno(e,
		    errno == ENOENT ? &err_not_found : &err_unavailable,
		    "open key file %s", path);
	return fd;
}

static int
check_private(int fd, const char *path, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_errno(e, &err_unavailable, "stat %s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(
		    e, &err_unavailable, "key file %s is not a file", path);
	if (st.st_mode & 077)
		return err_set(e, &err_unavailable,
		    "key file %s is open to others (mode %04o, not 0600)", path,
		    (unsigned)st.st_mode & 07777);
	if (st.st_size > KEY_FILE_MAX)
		return err_set(e, &err_too_large,
		    "key file %s is larger than %d bytes", path, KEY_FILE_MAX);
	return 0;
}

static int
read_private(const char *path, char bytes[KEY_FILE_MAX + 1], struct str *out,
    struct err *e)
{
	size_t n = 0;
	ssize_t got = 0;
	int rc = -1;
	int fd = open_private(path, e);

	if (fd < 0)
		return -1;
	if (check_private(fd, path, e))
		goto out;
	while (n <= KEY_FILE_MAX) {
		got = read(fd, bytes + n, KEY_FILE_MAX + 1 - n);
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
	*out = (struct str){ bytes, n };
	rc = 0;
out:
	close(fd);
	return rc;
}

int
private_key_save(const struct private_key *k, const char *path, struct err *e)
{
	EVP_PKEY *pkey = private_key_openssl(k);
	BIO *bio = BIO_new(BIO_s_secmem());
	char *p = NULL;
	long n = 0;
	int rc = -1;

	if (bio != NULL && PEM_write_bio_PKCS8PrivateKey(
			       bio, pkey, NULL, NULL, 0, NULL, NULL) == 1)
		n = BIO_get_mem_data(bio, &p);
	if (n > 0) {
		rc =
		    io_create_file(path, (struct str){ p, (size_t)n }, 0600, e);
		OPENSSL_cleanse(p, (size_t)n);
	} else {
		err_set(e, &err_internal, "the key could not be encoded");
	}
	BIO_free(bio);
	EVP_PKEY_free(pkey);
	return rc;
}

/* A key file has no passphrase; without this, OpenSSL asks the terminal. */
static int
no_passphrase(char *out, int size, int writing, void *unused)
{
	(void)out, (void)size, (void)writing, (void)unused;
	return -1;
}

/* The seed in a PEM text; 0, or -1 for anything but an Ed25519 key. */
static int
decode_seed(struct str pem, uint8_t seed[SEED_BYTES])
{
	BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.n);
	EVP_PKEY *pkey = NULL;
	size_t n = SEED_BYTES;
	int rc = -1;

	if (bio != NULL)
		pkey = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
	if (pkey != NULL && EVP_PKEY_get_id(pkey) == EVP_PKEY_ED25519 &&
	    EVP_PKEY_get_raw_private_key(pkey, seed, &n) == 1 &&
	    n == SEED_BYTES)
		rc = 0;
	EVP_PKEY_free(pkey);
	BIO_free(bio);
	ERR_clear_error();
	return rc;
}

int
private_key_load(const char *path, struct private_key **out, struct err *e)
{
	char bytes[KEY_FILE_MAX + 1];
	uint8_t seed[SEED_BYTES];
	struct str pem;
	int rc = -1;

	if (read_private(path, bytes, &pem, e))
		goto out;
	if (decode_seed(pem, seed)) {
		err_set(e, &err_malformed,
		    "key file %s holds no unencrypted Ed25519 key in PEM",
		    path);
		goto out;
	}
	*out = private_key_from_seed(seed);
	rc = 0;
out:
	OPENSSL_cleanse(seed, sizeof seed);
	OPENSSL_cleanse(bytes, sizeof bytes);
	return rc;
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
	char bytes[KEY_FILE_MAX + 1];
	struct str hex;
	int rc = -1;

	if (read_private(path, bytes, &hex, e))
		goto out;
	if (str_has_suffix(hex, STR("\n")))
		hex.n--;
	if (!hex_decode(hex, secret, SECRET_BYTES)) {
		err_set(e, &err_malformed,
		    "secret file %s is not %d hex digits", path, SECRET_HEX);
		goto out;
	}
	rc = 0;
out:
	OPENSSL_cleanse(bytes, sizeof bytes);
	return rc;
}
