/*
 * Keys on tokens: PKCS #11, versions 2.40 and 3.0.
 *
 *	pkcs11_module.c  a token maker's library: loaded, initialised, shared
 *	pkcs11_find.c    which token, and which key on it
 *	pkcs11_login.c   the PIN
 *	pkcs11_key.c     the private key: sessions, signatures
 */
#ifndef LEDGER_CRYPTO_PKCS11_H
#define LEDGER_CRYPTO_PKCS11_H

#define CRYPTOKI_GNU 1
#include <p11-kit/pkcs11.h>

#include "ledger/crypto/ed25519.h"
#include "ledger/crypto/pkcs11_uri.h"

/* One dealing with a module. `lost` is set where the token may be found again
 * after a new start. */
struct pkcs11_ask {
	struct ck_function_list *f;
	bool lost;
	struct err *e;
};

/* err_unavailable, "what: CKR_…", and lost; -1. */
int pkcs11_failed(struct pkcs11_ask *, const char *what, ck_rv_t);

/*
 * One for each path in a process, for as long as that lives: what such a
 * library leaves behind when it is unloaded is not ours to guess. It is
 * initialised while somebody uses it, and anew in a child after a fork.
 */
struct pkcs11_module;

/* err_unavailable for a path that is not absolute, for a file that others than
 * root and we may write, and for what is no PKCS #11 module. */
int pkcs11_module_get(struct str path, struct pkcs11_module **, struct err *);
void pkcs11_module_put(struct pkcs11_module *);

/* Between the two the module stays initialised. Handles of another generation
 * mean nothing any more. */
int pkcs11_module_enter(struct pkcs11_module *, struct pkcs11_ask *,
    uint64_t *generation, struct err *);
void pkcs11_module_leave(struct pkcs11_module *);

/*
 * Ends and begins the module anew, for all its users, unless it is past that
 * generation. Not inside. False where it was begun anew a moment ago: a token
 * that is gone must not keep others from theirs.
 */
bool pkcs11_module_restart(struct pkcs11_module *, uint64_t generation);

/*
 * A PIN that a token refused is not tried again by this process: after a few
 * tries the token locks itself.
 */
bool pkcs11_pin_is_refused(
    struct pkcs11_module *, struct str serial, struct str pin);
void pkcs11_pin_refuse(
    struct pkcs11_module *, struct str serial, struct str pin);

/* The one initialised token that the URI matches. */
int pkcs11_find_token(struct pkcs11_ask *, const struct pkcs11_uri *,
    ck_slot_id_t *, struct ck_token_info *);

/* With the PIN that the URI gives, where the token wants one. */
int pkcs11_log_in(struct pkcs11_ask *, struct pkcs11_module *,
    const struct pkcs11_uri *, ck_session_handle_t,
    const struct ck_token_info *);

/* The one private key that the URI matches, and its public key. */
int pkcs11_find_key(struct pkcs11_ask *, const struct pkcs11_uri *,
    ck_session_handle_t, ck_object_handle_t *, struct public_key *);

#endif
