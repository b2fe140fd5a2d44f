/*
 * What a private key is made of, for the files that make one.
 */
#ifndef LEDGER_CRYPTO_PRIVATE_KEY_H
#define LEDGER_CRYPTO_PRIVATE_KEY_H

#include <sys/types.h>

#include "ledger/crypto/ed25519.h"

#define SEED_BYTES 32

struct pkcs11_key;

/* Where a key is kept. Functions behind pointers, so that a program that only
 * verifies holds nothing of tokens. */
struct private_key_kind {
	int (*sign)(const struct private_key *, struct str, struct signature *,
	    struct err *);
	void (*forget)(struct private_key *);
	bool on_token;
};

/* Lives between guard pages, locked into memory and read-only once made. */
struct private_key {
	const struct private_key_kind *kind;
	struct public_key public;
	uint8_t expanded[64]; /* seed, then public key: libsodium's form */
	struct pkcs11_key *token;
};

/* Memory for one, empty; private_key_seal makes it read-only. */
struct private_key *private_key_alloc(void);
void private_key_seal(struct private_key *);

/* A file that is for its owner only. The caller wipes `bytes`. */
#define KEY_FILE_MAX 4096
struct key_file {
	struct str text; /* in bytes */
	uid_t owner;
	char bytes[KEY_FILE_MAX + 1];
};
int key_file_read(const char *path, struct key_file *, struct err *);

/*
 * The key that a PKCS #11 URI names. It is found, and signs once, before this
 * is good. err_unavailable with what the operator has to mend.
 */
int pkcs11_key_load(struct str uri, struct private_key **, struct err *);

#endif
