/*
 * The two keys of a registration: HMAC's, shared with the receiver as
 * "whsec_…", and Ed25519's, whose public part is "whpk_…". In events and
 * tables they are one box, AES-256-GCM under a key in a file of the ledger's
 * key directory, webhooks.key, bound to the ledger and the registration.
 *
 *	if (webhook_vault_open(c, &vault, e)) …
 *	webhook_box_open(&vault, origin, uid, box, &secret) …
 *	webhook_vault_close(&vault);
 */
#ifndef DOMAIN_WEBHOOKS_SECRET_H
#define DOMAIN_WEBHOOKS_SECRET_H

#include "domain/context.h"
#include "ledger/crypto/aead.h"

struct webhook_vault {
	uint8_t key[AEAD_KEY];
};

struct webhook_secret {
	uint8_t hmac[32], seed[32];
};

/* Loads the key; makes it when there is none. */
int webhook_vault_open(struct context *, struct webhook_vault *, struct err *);
void webhook_vault_close(struct webhook_vault *);

/* err_unavailable, for the log, when the key is gone and there are webhooks
 * whose secrets only it opens. A registration makes no other one then; that is
 * an operator's to decide, by rotating a secret. Not while deciding. */
int webhook_key_check(struct context *, struct err *);

/* New keys of a registration. */
struct webhook_keys {
	struct str box;        /* base64, for an event */
	struct str secret;     /* whsec_…, to be shown once */
	struct str public_key; /* whpk_… */
};

/* Makes keys from the kernel's randomness; texts are in the arena. */
int webhook_keys_make(
    struct context *, struct uid webhook, struct webhook_keys *, struct err *);

/* The box of a table. False when it is another's, was changed, or was made
 * under another key. */
bool webhook_box_open(const struct webhook_vault *, struct str origin,
    struct uid webhook, struct str box, struct webhook_secret *);
void webhook_secret_wipe(struct webhook_secret *);

/*
 * The webhook-signature field of Standard Webhooks 1.0: v1 of each secret,
 * then v1a of each; the text in the arena.
 */
struct str webhook_sign(struct arena *, const struct webhook_secret *, size_t n,
    struct str id, int64_t unix_s, struct str body);

/* The secret as its receivers know it. */
struct str webhook_secret_text(struct arena *, const struct webhook_secret *);

#endif
