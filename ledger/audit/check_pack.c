#include "ledger/audit/check_pack.h"

#include <string.h>
#include <sys/stat.h>

#include "ledger/audit/audit.h"
#include "ledger/base/io.h"
#include "ledger/chain/pack_check.h"
#include "ledger/crypto/dsse.h"

typedef unsigned long long ull;

struct verdict {
	bool good, pinned;
	struct pack_shown shown;
	struct err why;
};

bool
check_pack_is_one(const char *path)
{
	char head[4] = "";
	struct stat st;
	FILE *f;
	bool one;

	/* What is read from a pipe is gone for whoever comes after. */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	f = fopen(path, "rbe");
	one = f && fread(head, 1, 4, f) == 4 && !memcmp(head, "PACK", 4);
	if (f)
		fclose(f);
	return one;
}

static void
write_shown(FILE *f, const struct pack_shown *s)
{
	char commit[OID_HEX + 1], root[DIGEST_HEX + 1], head[DIGEST_HEX + 1],
	    key[DSSE_KEYID + 1];

	oid_hex(s->commit, commit);
	digest_hex(s->root, root);
	digest_hex(s->head, head);
	dsse_keyid(s->key, key);
	fprintf(f,
	    "  ledger   %.*s\n  size     %llu\n  root     %s\n  head     %s\n"
	    "  commit   %s\n  key      %s\n",
	    STR_ARGS(s->origin), (ull)s->size, root, head, commit, key);
}

static void
write_limits(FILE *f, const struct verdict *v)
{
	if (!v->pinned)
		fputs("The key was taken from the pack itself: so far this "
		      "shows only that the pack agrees\nwith itself. Compare "
		      "the fingerprint with the ledger's, from somewhere else, "
		      "or give\nthe ledger's key with --key KEY.\n",
		    f);
	if (v->shown.whole)
		fputs("This is the ledger's first batch: its root is that of "
		      "these events.\n",
		    f);
	else
		fprintf(f,
		    "A batch alone does not show the events before %llu: that "
		    "it follows them, that the root\nis theirs too, and what "
		    "keys the ledger had. An evidence file shows that an event "
		    "is\nunder the root; the whole ledger shows all of it.\n",
		    (ull)v->shown.first);
}

static struct fault
fault_of(const struct verdict *v)
{
	const struct pack_shown *s = &v->shown;

	return (struct fault){ s->check, v->why.detail, s->has_seq, s->seq };
}

static void
write_text(FILE *f, const struct verdict *v)
{
	const struct pack_shown *s = &v->shown;
	const struct fault fault = fault_of(v);

	if (!v->good) {
		fault_write(f, &fault);
		return;
	}
	fprintf(f,
	    "Good: events %llu to %llu, %zu payloads, one batch of a "
	    "ledger of %llu events.\n",
	    (ull)s->first, (ull)(s->first + s->n - 1), s->payloads,
	    (ull)s->size);
	write_shown(f, s);
	write_limits(f, v);
}

static struct json *
digest_json(struct arena *a, struct digest d)
{
	char hex[DIGEST_HEX + 1];

	digest_hex(d, hex);
	return json_string(a, arena_str(a, str_from(hex)));
}

static struct json *
shown_json(struct arena *a, const struct pack_shown *s)
{
	struct json *v = json_object(a);
	char commit[OID_HEX + 1], key[PUBLIC_KEY_SSH + 1];

	oid_hex(s->commit, commit);
	public_key_ssh(s->key, key);
	json_put_str(a, v, "ledger", s->origin);
	json_put_int(a, v, "first_seq", (int64_t)s->first);
	json_put_int(a, v, "events", (int64_t)s->n);
	json_put_int(a, v, "payloads", (int64_t)s->payloads);
	json_put_int(a, v, "size", (int64_t)s->size);
	json_put(v, "root", digest_json(a, s->root));
	json_put(v, "head", digest_json(a, s->head));
	json_put_str(a, v, "commit", arena_str(a, str_from(commit)));
	json_put_str(a, v, "checkpoint", s->checkpoint);
	json_put_str(a, v, "public_key", arena_str(a, str_from(key)));
	json_put(v, "from_event_0", json_bool(a, s->whole));
	return v;
}

static struct json *
failed_json(struct arena *a, const struct verdict *v)
{
	const struct fault fault = fault_of(v);

	return fault_json(a, &fault, true);
}

static void
write_json(FILE *f, struct arena *a, const struct verdict *r)
{
	struct json *v = json_object(a);

	json_put(v, "good", json_bool(a, r->good));
	json_put(v, "key_given", json_bool(a, r->pinned));
	json_put(v, "shown", r->good ? shown_json(a, &r->shown) : json_null(a));
	json_put(v, "failed", r->good ? json_null(a) : failed_json(a, r));
	print_json(f, v);
}

/* Whatever is wrong with the pack is a verdict, not a failure. */
static int
check(struct arena *a, const char *path, const struct key_options *given,
    struct verdict *v, struct err *e)
{
	struct pinned keys;
	struct str pack;

	v->pinned = given->n > 0;
	if (keys_load(a, given->texts, given->n, &keys, e) ||
	    io_read_file(a, path, PACK_FILE_MAX, &pack, e))
		return -1;
	v->good = pack_check(a, pack, v->pinned ? &keys : NULL, &v->shown,
		      &v->why) == 0;
	if (v->good || v->why.kind == &err_corrupt ||
	    v->why.kind == &err_malformed || v->why.kind == &err_too_large)
		return 0;
	return err_set(e, v->why.kind, "%s", v->why.detail);
}

int
check_pack(const char *path, const struct key_options *keys, bool json)
{
	struct arena *a = arena_new();
	struct verdict v = { 0 };
	struct err e = { 0 };
	int rc;

	if (check(a, path, keys, &v, &e)) {
		rc = not_done(&e);
	} else {
		if (json)
			write_json(stdout, a, &v);
		else
			write_text(stdout, &v);
		rc = v.good ? EXIT_GOOD : EXIT_BAD;
	}
	arena_free(a);
	return rc;
}
