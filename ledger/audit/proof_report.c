#include "ledger/audit/proof_report.h"

#include "ledger/audit/audit.h"
#include "ledger/codec/text.h"

typedef unsigned long long ull;

#define FINGERPRINT (7 + BASE64_LENGTH(DIGEST_BYTES))

/* As ssh-keygen -l prints it: without the padding. */
static void
fingerprint(struct public_key key, char out[FINGERPRINT + 1])
{
	uint8_t blob[PUBLIC_KEY_BLOB];
	struct digest d;

	public_key_blob(key, blob);
	d = sha256((struct str){ (const char *)blob, sizeof blob });
	snprintf(out, FINGERPRINT + 1, "SHA256:");
	base64_encode(d.b, sizeof d.b, out + 7);
	out[FINGERPRINT - 1] = '\0';
}

static void
write_shown(FILE *f, const struct evidence_shown *s)
{
	char at[INSTANT_TEXT + 1], uid[UID_TEXT + 1], hash[DIGEST_HEX + 1],
	    root[DIGEST_HEX + 1];

	instant_format(s->event.at, at);
	uid_format(s->event.subject, uid);
	digest_hex(s->event.hash, hash);
	digest_hex(s->checkpoint.root, root);
	fprintf(f,
	    "  ledger   %.*s\n  seq      %llu\n  time     %s\n"
	    "  type     %.*s\n  subject  %.*s %s\n  hash     %s\n"
	    "  size     %llu\n  root     %s\n",
	    STR_ARGS(s->checkpoint.origin), (ull)s->event.seq, at,
	    STR_ARGS(s->event.type), STR_ARGS(s->event.subject_kind), uid, hash,
	    (ull)s->checkpoint.size, root);
}

static void
write_keys(FILE *f, const struct proof_report *r)
{
	char of_event[FINGERPRINT + 1], of_checkpoint[FINGERPRINT + 1];

	fingerprint(r->shown.event_key, of_event);
	fingerprint(r->shown.checkpoint_key, of_checkpoint);
	fprintf(f, "  key      %s\n", of_event);
	if (!public_key_eq(r->shown.event_key, r->shown.checkpoint_key))
		fprintf(f, "  and      %s\n", of_checkpoint);
	if (r->pinned && pinned_has(&r->keys, r->shown.event_key) &&
	    pinned_has(&r->keys, r->shown.checkpoint_key))
		fprintf(f,
		    "Event and checkpoint are signed by the key%s "
		    "given.\n",
		    r->keys.n > 1 ? "s" : "");
	else if (r->pinned)
		fputs("The key given is one of the ledger's, and answers for "
		      "the others.\n",
		    f);
	else
		fputs("The key was taken from the file itself: so far this "
		      "shows only that the file\nagrees with itself. Compare "
		      "the fingerprint with the ledger's, from somewhere\n"
		      "else, or give the ledger's key with --key KEY.\n",
		    f);
}

void
proof_report_write(FILE *f, const struct proof_report *r)
{
	if (!r->good) {
		fault_write(
		    f, &(struct fault){ r->shown.check, r->reason, false, 0 });
		return;
	}
	fprintf(f, "Good: event %llu is in the ledger of %llu events.\n",
	    (ull)r->shown.event.seq, (ull)r->shown.checkpoint.size);
	write_shown(f, &r->shown);
	write_keys(f, r);
}

static struct json *
digest_json(struct arena *a, struct digest d)
{
	char hex[DIGEST_HEX + 1];

	digest_hex(d, hex);
	return json_string(a, arena_str(a, str_from(hex)));
}

static struct json *
key_json(struct arena *a, struct public_key key)
{
	struct json *v = json_object(a);
	char print[FINGERPRINT + 1], line[PUBLIC_KEY_SSH + 1];

	fingerprint(key, print);
	public_key_ssh(key, line);
	json_put_str(a, v, "public_key", arena_str(a, str_from(line)));
	json_put_str(a, v, "fingerprint", arena_str(a, str_from(print)));
	return v;
}

static struct json *
subject_json(struct arena *a, const struct event *ev)
{
	struct json *v = json_object(a);
	char uid[UID_TEXT + 1];

	uid_format(ev->subject, uid);
	json_put_str(a, v, "kind", ev->subject_kind);
	json_put_str(a, v, "uid", arena_str(a, str_from(uid)));
	return v;
}

static struct json *
shown_json(struct arena *a, const struct proof_report *r)
{
	const struct evidence_shown *s = &r->shown;
	struct json *v = json_object(a);
	char at[INSTANT_TEXT + 1];

	instant_format(s->event.at, at);
	json_put_str(a, v, "ledger", s->checkpoint.origin);
	json_put_int(a, v, "seq", (int64_t)s->event.seq);
	json_put_str(a, v, "at", arena_str(a, str_from(at)));
	json_put_str(a, v, "type", s->event.type);
	json_put(v, "subject", subject_json(a, &s->event));
	json_put(v, "hash", digest_json(a, s->event.hash));
	json_put_int(a, v, "size", (int64_t)s->checkpoint.size);
	json_put(v, "root", digest_json(a, s->checkpoint.root));
	json_put(v, "event_key", key_json(a, s->event_key));
	json_put(v, "checkpoint_key", key_json(a, s->checkpoint_key));
	return v;
}

static struct json *
failed_json(struct arena *a, const struct proof_report *r)
{
	return fault_json(
	    a, &(struct fault){ r->shown.check, r->reason, false, 0 }, false);
}

void
proof_report_write_json(FILE *f, struct arena *a, const struct proof_report *r)
{
	struct json *v = json_object(a);

	json_put(v, "good", json_bool(a, r->good));
	json_put(v, "key_given", json_bool(a, r->pinned));
	json_put(v, "shown", r->good ? shown_json(a, r) : json_null(a));
	json_put(v, "failed", r->good ? json_null(a) : failed_json(a, r));
	print_json(f, v);
}
