#include "domain/lineage/manifest_key.h"

#include "domain/lineage/events.h"
#include "domain/running.h"
#include "domain/service.h"
#include "ledger/base/io.h"
#include "ledger/codec/text.h"

#define STATEMENT "probity-key/v1\n%.*s\nmanifest\n%s\n"

static int
key_path(struct context *c, const char **out, struct err *e)
{
	return service_key_file(
	    c->service, c->place, "manifest.key", c->arena, out, e);
}

/* Two that make it at once both end with the one that was first. */
static int
make(const char *path, struct err *e)
{
	struct private_key *key = private_key_new();
	struct err own = { 0 };
	int failed = private_key_save(key, path, &own);

	private_key_free(key);
	if (failed && own.kind != &err_conflict)
		return err_set(e, own.kind, "%s", own.detail);
	return 0;
}

static int
load(const char *path, struct private_key **out, struct err *e)
{
	struct err own = { 0 };

	if (private_key_load(path, out, &own) == 0)
		return 0;
	if (own.kind != &err_not_found)
		return err_own(e, &err_unavailable, &own);
	return make(path, e) ? -1 : private_key_load(path, out, e);
}

int
manifest_key_event(
    struct context *c, struct str key_id, uint64_t *seq, struct err *e)
{
	int64_t found;

	if (db_get_int(c->db, &found, -1, e,
		"SELECT seq FROM manifest_key WHERE key_id = ?", "s", key_id))
		return -1;
	if (found < 0)
		return err_set(e, &err_not_found,
		    "the ledger has certified no manifest key %.*s",
		    STR_ARGS(key_id));
	*seq = (uint64_t)found;
	return 0;
}

static int
is_certified(struct context *c, struct str key_id, struct err *e)
{
	struct context own = *c;
	struct err why = { 0 };
	struct reading reading;
	uint64_t seq;
	int failed;

	if (ledger_read_begin(c->ledger, &reading, e))
		return -1;
	own.db = reading.db;
	failed = manifest_key_event(&own, key_id, &seq, &why);
	ledger_read_end(&reading);
	if (!failed)
		return 1;
	return why.kind == &err_not_found
		   ? 0
		   : err_set(e, why.kind, "%s", why.detail);
}

/* The statement of possession, signed by the key itself. The signer takes the
 * key it is given, so it is loaded once more. */
static int
possession(struct context *c, const char *path, const char *line,
    struct str *out, struct err *e)
{
	struct str origin = ledger_origin(c->ledger);
	char *text = arena_alloc(c->arena, BASE64_LENGTH(64) + 1);
	struct private_key *key;
	struct signature signature;
	struct signer *signer;
	int failed;

	if (private_key_load(path, &key, e))
		return -1;
	signer = signer_new(key, origin);
	failed = signer_sign(signer, SIGNS_POSSESSION,
	    arena_strf(c->arena, STATEMENT, STR_ARGS(origin), line), &signature,
	    e);
	signer_free(signer);
	base64_encode(signature.b, sizeof signature.b, text);
	*out = str_from(text);
	return failed;
}

struct certification {
	struct manifest_key_certified data;
	struct str key_id;
};

/* Somebody else's request may have been faster. */
static int
decide(struct tx *tx, void *arg, struct err *e)
{
	const struct certification *x = arg;
	int64_t n;

	if (db_get_int(tx_db(tx), &n, 0, e,
		"SELECT count(*) FROM manifest_key WHERE key_id = ?", "s",
		x->key_id))
		return -1;
	if (n > 0)
		return 0;
	return tx_emit(tx, &event_manifest_key_certified, "manifest_key",
	    tx_uid(tx), &x->data, NULL, 0, e);
}

static int
certify(struct context *c, const char *path, const struct manifest_key *key,
    struct err *e)
{
	char *line = arena_alloc(c->arena, PUBLIC_KEY_SSH + 1);
	struct certification x = {
		.data = { .purpose = STR("manifest") },
		.key_id = key->id,
	};
	struct command command = {
		.decide = decide,
		.arg = &x,
		.actor = running_actor(c->arena, c->caller),
		.request = c->request,
		.arena = c->arena,
	};
	struct receipt receipt = { 0 };

	public_key_ssh(key->public, line);
	x.data.public_key = str_from(line);
	if (possession(c, path, line, &x.data.possession, e))
		return -1;
	return ledger_submit(c->ledger, &command, &receipt, e);
}

int
manifest_key_open(struct context *c, struct manifest_key *out, struct err *e)
{
	char *id = arena_alloc(c->arena, DSSE_KEYID + 1);
	const char *path;
	int certified;

	*out = (struct manifest_key){ 0 };
	if (key_path(c, &path, e) || load(path, &out->key, e))
		return -1;
	out->public = private_key_public(out->key);
	dsse_keyid(out->public, id);
	out->id = str_from(id);
	certified = is_certified(c, out->id, e);
	if (certified == 0 && certify(c, path, out, e) == 0)
		certified = 1;
	if (certified == 1)
		return 0;
	manifest_key_close(out);
	return -1;
}

void
manifest_key_close(struct manifest_key *key)
{
	private_key_free(key->key);
	key->key = NULL;
}
