/*
 * A private key that stays on its token. A call that fails is tried again with
 * a new login, then with the module begun anew: so a token that was taken away
 * is used again when it is back.
 */
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/base/confine.h"
#include "ledger/base/instant.h"
#include "ledger/base/uid.h"
#include "ledger/crypto/pkcs11.h"
#include "ledger/crypto/private_key.h"

#define SESSIONS_MAX 8
#define TRIES        3
/* For so long a failure answers for the calls after it: the events of a batch
 * must not each wait for a token that does not answer. */
#define FAILURE_US 500000

struct pkcs11_key {
	struct pkcs11_uri uri;
	struct pkcs11_module *module;

	/* Locked inside the module, never the other way round. */
	pthread_mutex_t lock;
	pthread_cond_t returned;
	struct public_key public;
	bool has_public;
	bool open; /* logged in, found and tried, in this generation */
	uint64_t generation, opening;
	ck_slot_id_t slot;
	ck_object_handle_t handle;
	ck_session_handle_t idle[SESSIONS_MAX];
	size_t n_idle, n_out;
	struct err failure;
	struct instant failed;
};

/* A session that is out of the key's pool. */
struct session {
	ck_session_handle_t handle;
	ck_object_handle_t key;
	uint64_t opening;
};

/* What the token says is believed only once the public key has verified it. */
static int
ask_signature(struct pkcs11_key *k, struct pkcs11_ask *ask,
    ck_session_handle_t session, ck_object_handle_t key, struct str bytes,
    struct signature *out)
{
	struct ck_mechanism eddsa = { .mechanism = CKM_EDDSA };
	unsigned long n = sizeof out->b;
	unsigned char *message;
	ck_rv_t rv;

	/* The standard's C_Sign lacks a const. */
	memcpy(&message, &bytes.p, sizeof message);
	rv = ask->f->C_SignInit(session, &eddsa, key);
	if (rv == CKR_OK)
		rv = ask->f->C_Sign(session, message, bytes.n, out->b, &n);
	if (rv != CKR_OK)
		return pkcs11_failed(ask, "the token does not sign", rv);
	if (n != sizeof out->b || !ed25519_verify(k->public, bytes, *out))
		return err_set(ask->e, &err_unavailable,
		    "what the token signs does not verify with its public key");
	return 0;
}

/* Bytes that begin as nothing does that a ledger's key signs. */
static int
try_out(struct pkcs11_key *k, struct pkcs11_ask *ask,
    ck_session_handle_t session, ck_object_handle_t key)
{
	static const char head[] = "probity-trial/v1\n";
	char text[sizeof head - 1 + 32];
	struct signature signature;

	memcpy(text, head, sizeof head - 1);
	random_bytes(text + sizeof head - 1, 32);
	return ask_signature(k, ask, session, key,
	    (struct str){ text, sizeof text }, &signature);
}

static int
find_key(
    struct pkcs11_key *k, struct pkcs11_ask *ask, ck_session_handle_t session)
{
	struct public_key public;

	if (pkcs11_find_key(ask, &k->uri, session, &k->handle, &public))
		return -1;
	if (k->has_public && !public_key_eq(public, k->public))
		return err_set(ask->e, &err_unavailable,
		    "the token has another key than before under this name");
	if (!k->has_public)
		k->public = public;
	k->has_public = true;
	return try_out(k, ask, session, k->handle);
}

static void
close_idle(struct pkcs11_key *k, struct ck_function_list *f)
{
	while (k->n_idle > 0)
		f->C_CloseSession(k->idle[--k->n_idle]);
	k->open = false;
}

static int
open_session(
    struct pkcs11_key *k, struct pkcs11_ask *ask, ck_session_handle_t *session)
{
	ck_rv_t rv = ask->f->C_OpenSession(
	    k->slot, CKF_SERIAL_SESSION, NULL, NULL, session);

	if (rv != CKR_OK)
		return pkcs11_failed(ask, "the token opens no session", rv);
	return 0;
}

static int
open_key(struct pkcs11_key *k, struct pkcs11_ask *ask, uint64_t generation)
{
	struct ck_token_info info;
	ck_session_handle_t session;

	if (pkcs11_find_token(ask, &k->uri, &k->slot, &info) ||
	    open_session(k, ask, &session))
		return -1;
	if (pkcs11_log_in(ask, k->module, &k->uri, session, &info) ||
	    find_key(k, ask, session)) {
		ask->f->C_CloseSession(session);
		return -1;
	}
	k->idle[k->n_idle++] = session;
	k->generation = generation;
	k->opening++;
	k->open = true;
	return 0;
}

/* With the lock: the key is open, and a session is idle or may be made. */
static int
make_ready(struct pkcs11_key *k, struct pkcs11_ask *ask, uint64_t generation)
{
	for (;;) {
		if (k->generation != generation) {
			k->n_idle = 0; /* gone with the generation */
			k->open = false;
		}
		if (!k->open && open_key(k, ask, generation))
			return -1;
		if (k->n_idle > 0 || k->n_out < SESSIONS_MAX)
			return 0;
		pthread_cond_wait(&k->returned, &k->lock);
	}
}

static int
take(struct pkcs11_key *k, struct pkcs11_ask *ask, uint64_t generation,
    struct session *s)
{
	int rc;

	pthread_mutex_lock(&k->lock);
	rc = make_ready(k, ask, generation);
	if (rc == 0 && k->n_idle > 0)
		s->handle = k->idle[--k->n_idle];
	else if (rc == 0)
		rc = open_session(k, ask, &s->handle);
	if (rc == 0) {
		s->key = k->handle;
		s->opening = k->opening;
		k->n_out++;
	}
	pthread_mutex_unlock(&k->lock);
	return rc;
}

static void
give_back(struct pkcs11_key *k, struct pkcs11_ask *ask, const struct session *s,
    bool good)
{
	bool current;

	pthread_mutex_lock(&k->lock);
	current = k->open && s->opening == k->opening;
	k->n_out--;
	if (good && current)
		k->idle[k->n_idle++] = s->handle;
	else
		ask->f->C_CloseSession(s->handle);
	if (!good && current)
		close_idle(k, ask->f);
	/* All of them: one that then fails would not wake the next. */
	pthread_cond_broadcast(&k->returned);
	pthread_mutex_unlock(&k->lock);
}

/* Without a place for the signature the key is only opened. */
static int
try_once(struct pkcs11_key *k, struct str bytes, struct signature *out,
    struct pkcs11_ask *ask, uint64_t *generation, struct err *e)
{
	struct session s;
	int rc;

	if (pkcs11_module_enter(k->module, ask, generation, e))
		return -1;
	rc = take(k, ask, *generation, &s);
	if (rc == 0) {
		if (out != NULL)
			rc = ask_signature(k, ask, s.handle, s.key, bytes, out);
		give_back(k, ask, &s, rc == 0);
	}
	pkcs11_module_leave(k->module);
	return rc;
}

/* A module that was loaded late may lack what its process gave up before. */
static void
add_hint(struct err *why)
{
	size_t n = strlen(why->detail);

	if (confine_holds(CONFINE_WRITES))
		snprintf(why->detail + n, sizeof why->detail - n,
		    "; restart this process once if the module writes files "
		    "or connects: it began without a key on a token");
}

static int
use(struct pkcs11_key *k, struct str bytes, struct signature *out,
    struct err *e)
{
	struct pkcs11_ask ask;
	uint64_t generation = 0;
	struct err why;

	for (int i = 1;; i++) {
		why = (struct err){ 0 };
		if (try_once(k, bytes, out, &ask, &generation, &why) == 0)
			return 0;
		if (!ask.lost || i == TRIES)
			break;
		if (i > 1 && !pkcs11_module_restart(k->module, generation))
			break;
	}
	add_hint(&why);
	pthread_mutex_lock(&k->lock);
	k->failure = why;
	k->failed = clock_system.steady(&clock_system);
	pthread_mutex_unlock(&k->lock);
	return err_set(e, &err_unavailable, "%s", why.detail);
}

static int
check_failure(struct pkcs11_key *k, struct err *e)
{
	struct instant now = clock_system.steady(&clock_system);
	int rc = 0;

	pthread_mutex_lock(&k->lock);
	if (k->failure.kind && now.us - k->failed.us < FAILURE_US)
		rc = err_set(e, &err_unavailable, "%s", k->failure.detail);
	pthread_mutex_unlock(&k->lock);
	return rc;
}

static int
sign_on_token(const struct private_key *key, struct str bytes,
    struct signature *out, struct err *e)
{
	struct err why = { 0 };

	if (check_failure(key->token, &why) == 0 &&
	    use(key->token, bytes, out, &why) == 0)
		return 0;
	return err_set(e, &err_unavailable,
	    "the signing key is not to be had: %s", why.detail);
}

static void
key_free(struct pkcs11_key *k)
{
	struct pkcs11_ask ask;
	uint64_t generation;

	if (k->module && k->open &&
	    pkcs11_module_enter(k->module, &ask, &generation, NULL) == 0) {
		if (generation == k->generation)
			close_idle(k, ask.f);
		pkcs11_module_leave(k->module);
	}
	if (k->module)
		pkcs11_module_put(k->module);
	pthread_cond_destroy(&k->returned);
	pthread_mutex_destroy(&k->lock);
	sodium_free(k);
}

static void
forget(struct private_key *key)
{
	key_free(key->token);
}

static const struct private_key_kind on_token = {
	.sign = sign_on_token, .forget = forget, .on_token = true
};

static int
check_uri(const struct pkcs11_uri *u, struct err *e)
{
	if (u->unmatched)
		return err_set(e, &err_unavailable,
		    "the PKCS #11 URI has %s, which is not looked at here: "
		    "leave it out",
		    u->unmatched);
	if (!u->module_path.p)
		return err_set(
		    e, &err_unavailable, "the PKCS #11 URI needs module-path");
	if (!u->object.p && !u->id.p)
		return err_set(
		    e, &err_unavailable, "the PKCS #11 URI needs object or id");
	if (u->type.p && !str_is(u->type, "private"))
		return err_set(e, &err_unavailable,
		    "the PKCS #11 URI's type must be private");
	if (u->pin_source.p && u->pin_value.p)
		return err_set(e, &err_unavailable,
		    "the PKCS #11 URI has both pin-source and pin-value");
	return 0;
}

static struct pkcs11_key *
key_alloc(void)
{
	struct pkcs11_key *k = sodium_malloc(sizeof *k);

	if (k == NULL)
		abort();
	memset(k, 0, sizeof *k);
	pthread_mutex_init(&k->lock, NULL);
	pthread_cond_init(&k->returned, NULL);
	return k;
}

int
pkcs11_key_load(struct str uri, struct private_key **out, struct err *e)
{
	struct private_key *key = private_key_alloc();
	struct pkcs11_key *k = key_alloc();

	if (pkcs11_uri_parse(uri, &k->uri, e) || check_uri(&k->uri, e) ||
	    pkcs11_module_get(k->uri.module_path, &k->module, e) ||
	    use(k, STR_NONE, NULL, e)) {
		key_free(k);
		sodium_free(key);
		return -1;
	}
	key->kind = &on_token;
	key->token = k;
	key->public = k->public;
	private_key_seal(key);
	*out = key;
	return 0;
}
