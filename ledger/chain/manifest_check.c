#include "ledger/chain/manifest.h"

#include <stdio.h>
#include <unistd.h>

#include "ledger/chain/manifest_run.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/dsse.h"

#define STEP           (4u << 20) /* bytes from one showing to the next */
#define SIGNATURES_MAX 16

bool
manifest_is_name(struct str s)
{
	if (!s.p || s.n == 0 || s.n > MANIFEST_NAME_MAX)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] > '~')
			return false;
	return true;
}

bool
manifest_number(const struct json *v, const char *name, uint64_t *out)
{
	int64_t n;

	if (!json_get_int(v, name, &n) || n < 0)
		return false;
	*out = (uint64_t)n;
	return true;
}

bool
manifest_path(const struct json *list, struct merkle_proof *out)
{
	size_t n;

	out->n = 0;
	if (!list || list->type != JSON_ARRAY || list->n > PROOF_HASHES)
		return false;
	for (const struct json *v = list->first; v; v = v->next)
		if (v->type != JSON_STRING ||
		    !base64_decode(
			v->text, out->hashes[out->n++].b, DIGEST_BYTES, &n) ||
		    n != DIGEST_BYTES)
			return false;
	return true;
}

void
manifest_progress(
    struct manifest_run *run, const char *what, uint64_t done, uint64_t total)
{
	uint64_t from = done < run->shown ? 0 : run->shown;

	if (!run->options->progress || done - from < STEP)
		return;
	run->shown = done;
	run->options->progress(run->options->progress_arg, what, done, total);
}

/* The one signature by the manifest key. Those of other keys are passed over,
 * as the envelope's protocol has it. */
static int
find_signature(
    const struct manifest_run *run, struct signature *sig, struct err *e)
{
	const struct json *list = run->signatures;
	char keyid[DSSE_KEYID + 1];
	bool found = false;
	size_t n;

	dsse_keyid(run->report->manifest_key, keyid);
	if (list->type != JSON_ARRAY || list->n > SIGNATURES_MAX)
		return err_set(e, &err_malformed,
		    "its signatures are not a list of at most %d",
		    SIGNATURES_MAX);
	for (const struct json *v = list->first; v; v = v->next) {
		struct str base64 = json_get_str(v, "sig");

		if (!str_is(json_get_str(v, "keyid"), keyid))
			continue;
		if (found || !base64.p ||
		    !base64_decode(base64, sig->b, sizeof sig->b, &n) ||
		    n != sizeof sig->b)
			return err_set(e, &err_malformed,
			    "a signature is not one, or is there twice");
		found = true;
	}
	if (!found)
		return err_set(e, &err_corrupt,
		    "it is not signed by the key %s, which the ledger "
		    "certifies",
		    keyid);
	return 0;
}

/* One reading of the Statement, for the signature and for its hash. */
static int
read_whole(struct manifest_run *run, struct ed25519_verifier *v,
    struct sha256_stream *hash, struct err *e)
{
	struct manifest_part part = { run->statement, 0, run->statement_bytes };
	char bytes[65536];
	size_t n;

	do {
		if (manifest_part_read(&part, bytes, sizeof bytes, &n, e))
			return -1;
		ed25519_verify_add(v, (struct str){ bytes, n });
		sha256_stream_add(hash, (struct str){ bytes, n });
		manifest_progress(
		    run, "bytes hashed", part.at, run->statement_bytes);
	} while (n > 0);
	return 0;
}

int
manifest_check_signature(struct manifest_run *run, struct err *e)
{
	struct sha256_stream *hash;
	struct ed25519_verifier *v;
	struct signature sig;
	bool good;
	int rc;

	run->check = "signature";
	if (find_signature(run, &sig, e))
		return -1;
	hash = sha256_stream_new();
	v = dsse_verify_begin(run->report->manifest_key, STR(DSSE_IN_TOTO),
	    run->statement_bytes, sig);
	rc = read_whole(run, v, hash, e);
	run->report->sha256 = sha256_stream_end(hash);
	good = ed25519_verify_end(v);
	if (rc == 0 && !good)
		return err_set(
		    e, &err_corrupt, "the manifest's signature is bad");
	return rc;
}

static int
run_stages(struct manifest_run *run, struct err *e)
{
	static int (*const stages[])(struct manifest_run *,
	    struct err *) = { manifest_read_file, manifest_read_statement,
		manifest_check_log, manifest_check_signature,
		manifest_check_events, manifest_check_reply };

	for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++)
		if (stages[i](run, e))
			return -1;
	return 0;
}

/* What is wrong with the file is a verdict; so is a part that is larger than
 * such a part can be, but not the whole file. */
static bool
is_verdict(const struct manifest_run *run, const struct err *why)
{
	return why->kind == &err_malformed || why->kind == &err_corrupt ||
	       (why->kind == &err_too_large && run->bytes <= MANIFEST_FILE_MAX);
}

int
manifest_check(int fd, const struct manifest_options *options,
    struct manifest_report *r, struct err *e)
{
	struct manifest_run run = { .options = options,
		.report = r,
		.fd = fd,
		.statement = -1,
		.a = arena_new() };
	struct err why = { 0 };
	int rc = 0;

	*r = (struct manifest_report){ 0 };
	r->good = run_stages(&run, &why) == 0;
	r->bytes = run.statement_bytes;
	if (!r->good && is_verdict(&run, &why)) {
		snprintf(r->check, sizeof r->check, "%s", run.check);
		snprintf(r->reason, sizeof r->reason, "%s", why.detail);
	} else if (!r->good) {
		rc = err_set(e, why.kind, "%s", why.detail);
	}
	if (run.statement >= 0)
		close(run.statement);
	arena_free(run.a);
	return rc;
}
