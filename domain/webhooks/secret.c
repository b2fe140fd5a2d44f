#include "domain/webhooks/secret.h"

#include <string.h>
#include <unistd.h>

#include "domain/service.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/ed25519.h"

#define BOX_BYTES (AEAD_NONCE + sizeof(struct webhook_secret) + AEAD_TAG)

/* Two that make it at once both end with the one that was first. */
static int
make_key(const char *path, struct err *e)
{
	uint8_t key[AEAD_KEY];
	struct err own = { 0 };
	int failed;

	random_bytes(key, sizeof key);
	failed = secret_save(key, path, &own);
	explicit_bzero(key, sizeof key);
	if (failed && own.kind != &err_conflict)
		return err_set(e, own.kind, "%s", own.detail);
	return 0;
}

/* Operations make the key, the worker never: it could not read anything with
 * another one than that which is lost. */
static int
load_key(
    struct context *c, const char *path, uint8_t key[AEAD_KEY], struct err *e)
{
	struct err own = { 0 };

	if (secret_load(path, key, &own) == 0)
		return 0;
	if (own.kind == &err_not_found && c->op)
		return make_key(path, e) ? -1 : secret_load(path, key, e);
	return err_own(e, &err_unavailable, &own);
}

static int
find_key(struct context *c, const char **path, struct err *e)
{
	return service_key_file(
	    c->service, c->place, "webhooks.key", c->arena, path, e);
}

int
webhook_vault_open(
    struct context *c, struct webhook_vault *vault, struct err *e)
{
	const char *path;

	return find_key(c, &path, e) ? -1 : load_key(c, path, vault->key, e);
}

static int
count_kept(struct context *c, int64_t *n, struct err *e)
{
	struct reading reading;
	int failed;

	if (ledger_read_begin(c->ledger, &reading, e))
		return -1;
	failed = db_get_int(reading.db, n, 0, e,
	    "SELECT count(*) FROM webhook WHERE status <> 'revoked'", "");
	ledger_read_end(&reading);
	return failed;
}

/* Counted first: whoever registers the first one makes the key before. */
int
webhook_key_check(struct context *c, struct err *e)
{
	const char *path;
	int64_t kept;

	if (find_key(c, &path, e) || count_kept(c, &kept, e))
		return -1;
	if (kept == 0 || access(path, F_OK) == 0)
		return 0;
	return err_set(e, &err_unavailable,
	    "%s is not there, and %lld webhooks have secrets that only it"
	    " opens: put it back, or replace each secret with probityctl"
	    " webhook rotate-secret, the first of which makes another key",
	    path, (long long)kept);
}

void
webhook_vault_close(struct webhook_vault *vault)
{
	explicit_bzero(vault, sizeof *vault);
}

void
webhook_secret_wipe(struct webhook_secret *secret)
{
	explicit_bzero(secret, sizeof *secret);
}

static struct str
binding(struct arena *a, struct str origin, struct uid webhook)
{
	char text[UID_TEXT + 1];

	uid_format(webhook, text);
	return arena_strf(
	    a, "probity-webhook/v1\n%.*s\n%s\n", STR_ARGS(origin), text);
}

static struct str
base64_text(struct arena *a, const char *prefix, const void *bytes, size_t n)
{
	char text[BASE64_LENGTH(BOX_BYTES) + 1];
	struct str out;

	base64_encode(bytes, n, text);
	out = arena_strf(a, "%s%s", prefix, text);
	explicit_bzero(text, sizeof text);
	return out;
}

static struct str
box_make(struct arena *a, const struct webhook_vault *vault, struct str origin,
    struct uid webhook, const struct webhook_secret *secret)
{
	struct str clear = { (const char *)secret, sizeof *secret };
	uint8_t box[BOX_BYTES];

	random_bytes(box, AEAD_NONCE);
	aead_encrypt(vault->key, box, binding(a, origin, webhook), clear,
	    box + AEAD_NONCE);
	return base64_text(a, "", box, sizeof box);
}

bool
webhook_box_open(const struct webhook_vault *vault, struct str origin,
    struct uid webhook, struct str box, struct webhook_secret *out)
{
	const uint8_t *bytes = (const uint8_t *)box.p;
	struct arena *a;
	bool good;

	if (box.n != BOX_BYTES)
		return false;
	a = arena_new();
	good = aead_decrypt(vault->key, bytes, binding(a, origin, webhook),
	    str_slice(box, AEAD_NONCE, box.n), (uint8_t *)out);
	arena_free(a);
	return good;
}

struct str
webhook_secret_text(struct arena *a, const struct webhook_secret *secret)
{
	return base64_text(a, "whsec_", secret->hmac, sizeof secret->hmac);
}

static struct str
public_text(struct arena *a, const struct webhook_secret *secret)
{
	struct private_key *key = private_key_from_seed(secret->seed);
	struct public_key public = private_key_public(key);

	private_key_free(key);
	return base64_text(a, "whpk_", public.b, sizeof public.b);
}

int
webhook_keys_make(struct context *c, struct uid webhook,
    struct webhook_keys *out, struct err *e)
{
	struct webhook_secret secret;
	struct webhook_vault vault;

	if (webhook_vault_open(c, &vault, e))
		return -1;
	random_bytes(&secret, sizeof secret);
	*out = (struct webhook_keys){
		.box = box_make(c->arena, &vault, ledger_origin(c->ledger),
		    webhook, &secret),
		.secret = webhook_secret_text(c->arena, &secret),
		.public_key = public_text(c->arena, &secret),
	};
	webhook_secret_wipe(&secret);
	webhook_vault_close(&vault);
	return 0;
}

static void
add_v1(struct buf *b, const struct webhook_secret *secret, struct str text)
{
	struct str key = { (const char *)secret->hmac, sizeof secret->hmac };
	struct digest mac = hmac_sha256(key, &text, 1);

	buf_addf(b, "%sv1,", b->n > 0 ? " " : "");
	base64_add(b, (struct str){ (const char *)mac.b, sizeof mac.b });
}

static void
add_v1a(struct buf *b, const struct webhook_secret *secret, struct str text)
{
	struct private_key *key = private_key_from_seed(secret->seed);
	struct signature s;
	struct err e = { 0 };

	/* A key in memory always signs. */
	if (private_key_sign(key, text, &s, &e) == 0) {
		buf_add_cstr(b, " v1a,");
		base64_add(b, (struct str){ (const char *)s.b, sizeof s.b });
	}
	private_key_free(key);
}

struct str
webhook_sign(struct arena *a, const struct webhook_secret *secrets, size_t n,
    struct str id, int64_t unix_s, struct str body)
{
	struct str text = arena_strf(a, "%.*s.%lld.%.*s", STR_ARGS(id),
	    (long long)unix_s, STR_ARGS(body));
	struct str out;
	struct buf b;

	buf_init(&b, 1024);
	for (size_t i = 0; i < n; i++)
		add_v1(&b, &secrets[i], text);
	for (size_t i = 0; i < n; i++)
		add_v1a(&b, &secrets[i], text);
	out = arena_str(a, buf_str(&b));
	buf_fini(&b);
	return out;
}
