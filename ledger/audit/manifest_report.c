#include "ledger/audit/manifest_report.h"

#include "ledger/audit/audit.h"
#include "ledger/crypto/dsse.h"

typedef unsigned long long ull;

static struct fault
fault_of(const struct manifest_report *r)
{
	return (struct fault){ r->check, r->reason, r->has_seq, r->seq };
}

static void
write_bad(FILE *f, const struct manifest_report *r)
{
	const struct fault fault = fault_of(r);

	fault_write(f, &fault);
	fprintf(f, "Found good before that: %llu events.\n", (ull)r->events);
}

static void
write_shown(FILE *f, const struct manifest_report *r)
{
	char root[DIGEST_HEX + 1], sha[DIGEST_HEX + 1], key[DSSE_KEYID + 1];

	digest_hex(r->root, root);
	digest_hex(r->sha256, sha);
	dsse_keyid(r->manifest_key, key);
	fprintf(f,
	    "  scope    %s %s\n  made     %s\n  sha256   %s\n"
	    "  ledger   %s\n  size     %llu\n  root     %s\n"
	    "  key      %s, certified by event %llu\n",
	    r->scope_type, r->scope_id, r->generated_at, sha, r->origin,
	    (ull)r->size, root, key, (ull)r->key_seq);
}

static void
write_unchecked(FILE *f, const struct manifest_report *r)
{
	if (r->n_unchecked == 0)
		return;
	fputs("Not checked, since nothing in the file shows it:", f);
	for (size_t i = 0; i < r->n_unchecked; i++)
		fprintf(f, "%s %s", i > 0 ? "," : "", r->unchecked[i]);
	fputs(".\n", f);
}

/* What was not shown is said too. */
static void
write_limits(FILE *f, const struct manifest_report *r)
{
	if (r->voids > 0)
		fprintf(f,
		    "%llu of the events are void: a key was revoked after "
		    "them, and they have no effect.\n",
		    (ull)r->voids);
	if (r->complete)
		fprintf(
		    f, "These are all events of the ledger at that size.\n");
	else
		fputs("Each event is proved to be in the ledger. Whether all "
		      "events of this scope are here\nis what the manifest "
		      "says, and its key signed.\n",
		    f);
	if (r->sealed)
		fprintf(f,
		    "The reply names event %llu as the one that sealed it; "
		    "the event itself is not in it.\n",
		    (ull)r->sealed_seq);
	else if (r->reply)
		fputs("When it was sealed is not shown: the reply has no proof "
		      "by a key of this file.\n",
		    f);
	fputs("What else an OpenLineage event says, and the hashes of "
	      "materials, rest on the manifest\nkey's signature.\n",
	    f);
	write_unchecked(f, r);
}

void
manifest_report_write(FILE *f, const struct manifest_report *r)
{
	if (!r->good) {
		write_bad(f, r);
		return;
	}
	fprintf(f, "Good: %llu events of %llu, %llu materials.\n",
	    (ull)r->events, (ull)r->size, (ull)r->materials);
	write_shown(f, r);
	write_limits(f, r);
}

static void
put_digest(struct arena *a, struct json *v, const char *name, struct digest d)
{
	char hex[DIGEST_HEX + 1];

	digest_hex(d, hex);
	json_put_str(a, v, name, arena_str(a, str_from(hex)));
}

static struct json *
key_json(struct arena *a, const struct manifest_report *r)
{
	struct json *v = json_object(a);
	char keyid[DSSE_KEYID + 1], line[PUBLIC_KEY_SSH + 1];

	dsse_keyid(r->manifest_key, keyid);
	public_key_ssh(r->manifest_key, line);
	json_put_str(a, v, "public_key", arena_str(a, str_from(line)));
	json_put_str(a, v, "fingerprint", arena_str(a, str_from(keyid)));
	json_put_int(a, v, "certified_by", (int64_t)r->key_seq);
	return v;
}

static struct json *
unchecked_json(struct arena *a, const struct manifest_report *r)
{
	struct json *list = json_array(a);

	for (size_t i = 0; i < r->n_unchecked; i++)
		json_push(list, json_string(a, str_from(r->unchecked[i])));
	return list;
}

static struct json *
shown_json(struct arena *a, const struct manifest_report *r)
{
	struct json *v = json_object(a), *scope = json_object(a);

	json_put_str(a, scope, "type", str_from(r->scope_type));
	json_put_str(a, scope, "id", str_from(r->scope_id));
	json_put(v, "scope", scope);
	json_put_str(a, v, "generated_at", str_from(r->generated_at));
	json_put_int(a, v, "bytes", (int64_t)r->bytes);
	put_digest(a, v, "sha256", r->sha256);
	json_put_str(a, v, "ledger", str_from(r->origin));
	json_put_int(a, v, "size", (int64_t)r->size);
	put_digest(a, v, "root", r->root);
	json_put(v, "complete", json_bool(a, r->complete));
	json_put_int(a, v, "void", (int64_t)r->voids);
	json_put_int(a, v, "materials", (int64_t)r->materials);
	json_put(v, "manifest_key", key_json(a, r));
	json_put(v, "sealed_by",
	    r->sealed ? json_int(a, (int64_t)r->sealed_seq) : json_null(a));
	json_put(v, "not_checked", unchecked_json(a, r));
	return v;
}

static struct json *
failed_json(struct arena *a, const struct manifest_report *r)
{
	const struct fault fault = fault_of(r);

	return fault_json(a, &fault, true);
}

void
manifest_report_write_json(FILE *f, const struct manifest_report *r)
{
	struct arena *a = arena_new();
	struct json *v = json_object(a);

	json_put(v, "good", json_bool(a, r->good));
	json_put_int(a, v, "events", (int64_t)r->events);
	json_put(v, "shown", r->good ? shown_json(a, r) : json_null(a));
	json_put(v, "failed", r->good ? json_null(a) : failed_json(a, r));
	print_json(f, v);
	arena_free(a);
}
