#include "ledger/audit/report.h"

#include "ledger/audit/revocations.h"

typedef unsigned long long ull;

static void
write_position(FILE *f, const struct verify_report *r)
{
	char root[DIGEST_HEX + 1], head[DIGEST_HEX + 1], commit[OID_HEX + 1];

	if (r->size == 0)
		return;
	digest_hex(r->root, root);
	digest_hex(r->head, head);
	oid_hex(r->commit, commit);
	fprintf(f,
	    "  origin  %s\n  size    %llu\n  root    %s\n  head    %s\n"
	    "  commit  %s\n",
	    r->origin, (ull)r->size, root, head, commit);
}

static void
write_void(FILE *f, const struct verify_report *r)
{
	struct revocations revocations;

	revocations_of(&revocations, &r->keys);
	revocations_write(f, &revocations);
}

static void
write_consistency(
    FILE *f, const struct verify_report *r, const struct verify_options *o)
{
	if (o->has_kept)
		fprintf(f,
		    "Consistent with the kept checkpoint of %llu events.\n",
		    (ull)o->kept.size);
	else
		fputs("No kept checkpoint was given: a shorter or another "
		      "history by the holder of the\nkey cannot be told from "
		      "the true one. Keep this one with --save-checkpoint "
		      "FILE\nand give it with --checkpoint FILE next time.\n",
		    f);
	if (o->quick)
		fputs("Quick: events' own signatures and payload contents "
		      "were not checked.\n",
		    f);
	if (o->from_seq > 0)
		fprintf(f,
		    "What comes before event %llu was trusted, and Merkle "
		    "roots not computed again.\n",
		    (ull)(r->size - r->events));
}

void
report_write(FILE *f, const struct verify_report *r,
    const struct verify_options *o, const struct older_ledgers *older)
{
	if (r->empty && r->good) {
		fputs("Good: the ledger is empty.\n", f);
		older_write(f, older, r);
		return;
	}
	if (!r->good)
		fprintf(f, "BAD: event %llu: %s: %s\n", (ull)r->failed_seq,
		    r->check, r->reason);
	fprintf(f,
	    "%s %llu events in %llu batches, %llu payloads, in %.1f s.\n",
	    r->good ? "Good:" : "Found good before that:", (ull)r->events,
	    (ull)r->batches, (ull)r->payloads, r->seconds);
	write_position(f, r);
	if (r->good) {
		write_void(f, r);
		write_consistency(f, r, o);
	}
	older_write(f, older, r);
}

static struct json *
digest_json(struct arena *a, struct digest d)
{
	char hex[DIGEST_HEX + 1];

	digest_hex(d, hex);
	return json_string(a, arena_str(a, str_from(hex)));
}

static struct json *
kept_json(struct arena *a, const struct verify_options *o)
{
	struct json *v;

	if (!o->has_kept)
		return json_null(a);
	v = json_object(a);
	json_put_int(a, v, "size", (int64_t)o->kept.size);
	json_put(v, "root", digest_json(a, o->kept.root));
	return v;
}

static struct json *
failed_json(struct arena *a, const struct verify_report *r)
{
	struct json *v;

	if (r->good)
		return json_null(a);
	v = json_object(a);
	json_put_int(a, v, "seq", (int64_t)r->failed_seq);
	json_put_str(a, v, "check", str_from(r->check));
	json_put_str(a, v, "reason", str_from(r->reason));
	return v;
}

/* The text, or null when the ledger did not get so far. */
static void
put_text(struct arena *a, struct json *v, const char *name, const char *text)
{
	json_put(
	    v, name, text[0] ? json_string(a, str_from(text)) : json_null(a));
}

static struct json *
continued_json(struct arena *a, const struct continued *c)
{
	struct json *v;

	if (!c->any)
		return json_null(a);
	v = json_object(a);
	json_put_str(a, v, "origin", str_from(c->origin));
	json_put_int(a, v, "size", (int64_t)c->size);
	json_put(v, "root", digest_json(a, c->root));
	json_put(v, "head", digest_json(a, c->head));
	return v;
}

/* Of a bad ledger nothing is said: its revocations may be what is bad. */
static struct json *
void_json(struct arena *a, const struct verify_report *r)
{
	struct revocations revocations = { .n = 0 };

	if (r->good)
		revocations_of(&revocations, &r->keys);
	return revocations_json(a, &revocations);
}

/* The closed ledgers that were checked. */
static struct json *
older_json(struct arena *a, const struct older_ledgers *older)
{
	struct json *list = json_array(a), *v;

	for (size_t i = 0; i < older->n && older->list[i].checked; i++) {
		const struct verify_report *r = &older->list[i].report;

		v = json_object(a);
		json_put(v, "good", json_bool(a, r->good));
		put_text(a, v, "origin", r->origin);
		json_put_int(a, v, "size", (int64_t)r->size);
		json_put(v, "root", digest_json(a, r->root));
		json_put(v, "key_given", json_bool(a, older->list[i].key));
		json_put(v, "void", void_json(a, r));
		json_put(v, "failed", failed_json(a, r));
		json_push(list, v);
	}
	return list;
}

static struct json *
report_json(struct arena *a, const struct verify_report *r,
    const struct verify_options *o, const struct older_ledgers *older)
{
	struct json *v = json_object(a);
	char commit[OID_HEX + 1] = "";

	if (r->size > 0)
		oid_hex(r->commit, commit);
	json_put(v, "good", json_bool(a, r->good && !older_bad(older)));
	json_put_int(a, v, "events", (int64_t)r->events);
	json_put_int(a, v, "batches", (int64_t)r->batches);
	json_put_int(a, v, "payloads", (int64_t)r->payloads);
	json_put_int(a, v, "size", (int64_t)r->size);
	json_put(v, "root", digest_json(a, r->root));
	json_put(v, "head", r->size ? digest_json(a, r->head) : json_null(a));
	json_put(v, "commit",
	    r->size ? json_string(a, arena_str(a, str_from(commit)))
		    : json_null(a));
	put_text(a, v, "origin", r->origin);
	put_text(a, v, "checkpoint", r->checkpoint);
	json_put(
	    v, "consistent_with", r->good ? kept_json(a, o) : json_null(a));
	json_put(v, "failed", failed_json(a, r));
	json_put(v, "void", void_json(a, r));
	json_put(v, "closed", json_bool(a, r->closed));
	json_put(v, "continues", continued_json(a, &r->continues));
	json_put(v, "continued", older_json(a, older));
	return v;
}

void
report_write_json(FILE *f, const struct verify_report *r,
    const struct verify_options *o, const struct older_ledgers *older)
{
	struct arena *a = arena_new();
	struct buf b;

	buf_init(&b, 1u << 20);
	json_write(report_json(a, r, o, older), &b);
	/* A duration is no integer, so it is set at the end by hand. */
	fprintf(f, "%.*s,\"seconds\":%.3f}\n", (int)b.n - 1, b.p, r->seconds);
	buf_fini(&b);
	arena_free(a);
}
