/*
 * What the manifest says of the ledger, and the event that certifies the key
 * that signed it. That event, its proof, the checkpoint and the keys are what
 * an evidence file holds: they are made one and checked as one.
 */
#include <stdio.h>
#include <string.h>

#include "ledger/chain/manifest_run.h"
#include "ledger/codec/canon.h"
#include "ledger/codec/text.h"

#define LOG_MEMBERS 7

struct log {
	struct str origin, checkpoint, root;
	const struct json *complete, *key_event, *keys;
	uint64_t size;
};

static int
malformed(struct err *e, const char *why)
{
	return err_set(e, &err_malformed, "%s", why);
}

static int
read_log(const struct json *v, struct log *log, struct err *e)
{
	struct digest root;

	log->origin = json_get_str(v, "origin");
	log->checkpoint = json_get_str(v, "checkpoint");
	log->root = json_get_str(v, "root_sha256");
	log->complete = json_get(v, "complete");
	log->key_event = json_get(v, "key_event");
	log->keys = json_get(v, "keys");
	if (v->n != LOG_MEMBERS || !log->complete || !log->key_event ||
	    !log->keys || !log->checkpoint.p)
		return malformed(e, "the members of log are not checkpoint, "
				    "complete, key_event, keys, origin, "
				    "root_sha256 and size");
	if (!log->origin.p || !origin_is_valid(log->origin))
		return malformed(e, "the origin in log is not one");
	if (!digest_from_hex(log->root, &root) ||
	    !manifest_number(v, "size", &log->size))
		return malformed(e, "size or root_sha256 in log is not one");
	if (log->complete->type != JSON_TRUE &&
	    log->complete->type != JSON_FALSE)
		return malformed(e, "complete in log is not true or false");
	return 0;
}

/* The members of an evidence file, from those of log. */
static int
make_evidence(struct manifest_run *run, const struct log *log,
    struct evidence *ev, struct err *e)
{
	struct tlog_proof proof = { .checkpoint = log->checkpoint };
	struct json *file = json_object(run->a);
	struct buf text;
	struct str bytes;
	int rc;

	if (log->key_event->n != 3 || !json_get_str(log->key_event, "line").p ||
	    !manifest_number(log->key_event, "seq", &proof.index) ||
	    !manifest_path(json_get(log->key_event, "path"), &proof.path))
		return malformed(e,
		    "key_event in log is not an object of line, "
		    "path and seq");
	buf_init(&text, EVIDENCE_MAX);
	tlog_proof_add(&text, &proof);
	json_put_str(run->a, file, "format", STR(EVIDENCE_FORMAT));
	json_put(file, "keys", json_copy(run->a, log->keys));
	json_put_str(run->a, file, "ledger", log->origin);
	json_put_str(
	    run->a, file, "line", json_get_str(log->key_event, "line"));
	json_put_str(run->a, file, "proof", buf_str(&text));
	rc = buf_failed(&text) ? malformed(e, "key_event in log is too long")
			       : canon_str(run->a, file, &bytes, e);
	buf_fini(&text);
	return rc ? -1 : evidence_parse(run->a, bytes, ev, e);
}

static int
compare_checkpoint(
    struct manifest_run *run, const struct log *log, struct err *e)
{
	char hex[DIGEST_HEX + 1];

	digest_hex(run->checkpoint.root, hex);
	run->check = "checkpoint";
	if (log->size != run->checkpoint.size || !str_is(log->root, hex))
		return err_set(e, &err_corrupt,
		    "size or root_sha256 in log is not the checkpoint's");
	return 0;
}

/* That the new key itself signed that it is this ledger's, for manifests. */
static int
check_possession(struct manifest_run *run, struct str key_line,
    struct public_key key, struct str base64, struct err *e)
{
	struct signature sig;
	struct buf text;
	size_t n;
	bool good;

	buf_init(&text, 1024);
	buf_addf(&text, "probity-key/v1\n%.*s\n%s\n%.*s\n",
	    STR_ARGS(run->ev.origin), MANIFEST_KEY_PURPOSE, STR_ARGS(key_line));
	good = !buf_failed(&text) && base64.p &&
	       base64_decode(base64, sig.b, sizeof sig.b, &n) &&
	       n == sizeof sig.b && ed25519_verify(key, buf_str(&text), sig);
	buf_fini(&text);
	if (!good)
		return err_set(e, &err_corrupt,
		    "the manifest key's statement of possession is not signed "
		    "by it");
	return 0;
}

static int
check_certificate(
    struct manifest_run *run, const struct event *event, struct err *e)
{
	struct manifest_report *r = run->report;
	struct str line = json_get_str(event->data, "public_key");
	char form[PUBLIC_KEY_SSH + 1];

	run->check = "key";
	if (!str_is(event->type, MANIFEST_KEY_TYPE) ||
	    !str_is(json_get_str(event->data, "purpose"), MANIFEST_KEY_PURPOSE))
		return err_set(e, &err_corrupt,
		    "key_event in log does not certify a manifest key");
	if (!line.p || public_key_parse(line, &r->manifest_key, NULL))
		return err_set(e, &err_corrupt,
		    "key_event in log certifies something that is no key");
	public_key_ssh(r->manifest_key, form);
	if (!str_is(line, form))
		return err_set(e, &err_corrupt,
		    "the key in key_event is not written as keys are");
	return check_possession(run, line, r->manifest_key,
	    json_get_str(event->data, "possession"), e);
}

int
manifest_check_log(struct manifest_run *run, struct err *e)
{
	struct manifest_report *r = run->report;
	struct evidence_shown *shown = &run->certified;
	struct log log;

	run->check = "format";
	if (read_log(run->log, &log, e) ||
	    make_evidence(run, &log, &run->ev, e))
		return -1;
	if (evidence_check(run->a, &run->ev, &run->options->keys, shown, e)) {
		run->check = shown->check;
		return -1;
	}
	run->checkpoint = shown->checkpoint;
	if (compare_checkpoint(run, &log, e))
		return -1;
	r->complete = log.complete->type == JSON_TRUE;
	r->size = shown->checkpoint.size;
	r->root = shown->checkpoint.root;
	r->key_seq = shown->event.seq;
	snprintf(r->origin, sizeof r->origin, "%.*s", STR_ARGS(log.origin));
	return check_certificate(run, &shown->event, e);
}
