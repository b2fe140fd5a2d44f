/*
 * Ed25519 (RFC 8032). The arithmetic is libsodium's, which signs and verifies
 * about twice as fast as OpenSSL; OpenSSL stands beside it, and tests hold the
 * two against each other.
 */
#ifndef LEDGER_CRYPTO_ED25519_H
#define LEDGER_CRYPTO_ED25519_H

#include "ledger/base/err.h"
#include "ledger/base/str.h"

struct public_key {
	uint8_t b[32];
};
struct signature {
	uint8_t b[64];
};

/*
 * A private key, in memory or on a token (PKCS #11) that it never leaves. Its
 * memory is wiped when freed. Signing is thread-safe.
 */
struct private_key;

struct private_key *private_key_new(void); /* from the kernel's randomness */
struct private_key *private_key_from_seed(const uint8_t seed[32]);
void private_key_free(struct private_key *);
struct public_key private_key_public(const struct private_key *);

/* Whether it is kept on a token; then signing can fail. */
bool private_key_on_token(const struct private_key *);

/*
 * err_unavailable where the token is not there or does not sign: nothing was
 * signed, and a later call looks for it again. What a token returns was
 * verified with the public key.
 */
int private_key_sign(
    const struct private_key *, struct str, struct signature *, struct err *);
bool ed25519_verify(struct public_key, struct str, struct signature);

/* The same by OpenSSL, for the cross-check and the benchmark; not for a key on
 * a token. */
struct signature ed25519_sign_openssl(const struct private_key *, struct str);
bool ed25519_verify_openssl(struct public_key, struct str, struct signature);

bool public_key_eq(struct public_key, struct public_key);

/*
 * Key files, mode 0600: PKCS#8 in PEM (RFC 8410), so `openssl pkey` reads them;
 * or a line, the PKCS #11 URI (RFC 7512) of a key on a token. Loading refuses a
 * file that others may read. Saving never overwrites, and is for keys in
 * memory.
 */
int private_key_save(
    const struct private_key *, const char *path, struct err *);
int private_key_load(const char *path, struct private_key **, struct err *);

/* A new key file with what is in another: that of a key on a token has the line
 * that finds it. The key is loaded first, so a file of none is refused as by
 * private_key_load; err_conflict when `to` is there. */
int private_key_copy(const char *from, const char *to, struct err *);

/* Whether the file is there and holds such a line; loads nothing. The path is
 * relative to dir, a descriptor or AT_FDCWD. */
bool private_key_file_names_token(int dir, const char *path);

/*
 * A public key in any form in which people keep one: an OpenSSH line
 * ("ssh-ed25519 AAAA… comment", with or without options before it), PEM
 * SubjectPublicKeyInfo, or a signed-note verifier key ("name+hash+key").
 */
int public_key_parse(struct str text, struct public_key *, struct err *);

/* "ssh-ed25519 AAAA…", 80 bytes and a NUL. */
#define PUBLIC_KEY_SSH 80
void public_key_ssh(struct public_key, char out[PUBLIC_KEY_SSH + 1]);

/* "SHA256:" and base64 without padding, as ssh-keygen -l has it, and a NUL. */
#define PUBLIC_KEY_FINGERPRINT 50
void public_key_fingerprint(
    struct public_key, char out[PUBLIC_KEY_FINGERPRINT + 1]);

/* The SSH wire form of the key (RFC 8709): 51 bytes. */
#define PUBLIC_KEY_BLOB 51
void public_key_blob(struct public_key, uint8_t out[PUBLIC_KEY_BLOB]);

/* Secret bytes (fingerprint keys): 32 of them in hex in a 0600 file. */
int secret_save(const uint8_t secret[32], const char *path, struct err *);
int secret_load(const char *path, uint8_t secret[32], struct err *);

#endif
