/*
 * The key that signs lineage manifests: a file of its own beside the ledger's
 * keys, made before the first export and certified by an event. The ledger's
 * key never signs a manifest.
 *
 *	if (manifest_key_open(c, &key, e)) …
 *	… key.seq: the event that certifies it …
 *	manifest_key_close(&key);
 */
#ifndef DOMAIN_LINEAGE_MANIFEST_KEY_H
#define DOMAIN_LINEAGE_MANIFEST_KEY_H

#include "domain/context.h"
#include "ledger/crypto/dsse.h"

struct manifest_key {
	struct private_key *key;
	struct public_key public;
	struct str id; /* its fingerprint, in the context's arena */
};

/*
 * Loads the key; makes it when there is none, and has the ledger certify it
 * when it has not. Not to be called with a reading open: it may write.
 */
int manifest_key_open(struct context *, struct manifest_key *, struct err *);
void manifest_key_close(struct manifest_key *);

/* The event that certified a key; err_not_found. c->db is set. */
int manifest_key_event(
    struct context *, struct str key_id, uint64_t *seq, struct err *);

#endif
