/*
 * A copy of the ledger as tiles (C2SP tlog-tiles), as a mirror's folder or
 * `wget --recursive` has it: every entry is hashed, every tile compared with
 * the hashes that have to be in it, and the root with the signed checkpoint's.
 * In memory there is one tile of each level.
 */
#include <inttypes.h>
#include <string.h>

#include "ledger/audit/audit.h"
#include "ledger/audit/progress.h"
#include "ledger/base/io.h"
#include "ledger/codec/json.h"

#define TILE_HASHES 256
#define LEVELS      8
#define ENTRIES_MAX (TILE_HASHES * (2 + EVENT_MAX))

struct arguments {
	const char *folder;
	struct key_options keys;
	bool json;
};

struct level {
	struct digest hashes[TILE_HASHES];
	size_t n;
	uint64_t number; /* of the tile that is being filled */
};

struct tiles {
	const char *folder;
	struct checkpoint checkpoint;
	struct level levels[LEVELS];
	struct merkle tree;
	uint64_t read; /* tiles */
	struct arena *a;
	const char *check; /* that failed */
	struct err why;
};

/* Notes what is wrong. Returns 1. */
__attribute__((format(printf, 3, 4))) static int
bad(struct tiles *t, const char *check, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	t->check = check;
	err_clear(&t->why);
	err_set(&t->why, &err_corrupt, "%s", text);
	return 1;
}

/* "tile/0/x001/067", with ".p/5" for one that has 5 hashes. */
static char *
tile_path(struct arena *a, const char *level, uint64_t number, size_t width)
{
	char *digits = arena_printf(a, "%03" PRIu64, number % 1000);

	while ((number /= 1000) > 0)
		digits =
		    arena_printf(a, "x%03" PRIu64 "/%s", number % 1000, digits);
	if (width == TILE_HASHES)
		return arena_printf(a, "tile/%s/%s", level, digits);
	return arena_printf(a, "tile/%s/%s.p/%zu", level, digits, width);
}

/* 1 with the verdict where it is missing. */
static int
read_tile(struct tiles *t, const char *path, size_t max, struct str *out,
    struct err *e)
{
	char *whole = arena_printf(t->a, "%s/%s", t->folder, path);
	struct err why = { 0 };

	if (io_read_file(t->a, whole, max, out, &why) == 0) {
		t->read++;
		return 0;
	}
	if (why.kind == &err_not_found || why.kind == &err_too_large)
		return bad(t, "tile", "%s: %s", path, why.detail);
	return err_set(e, why.kind, "%s", why.detail);
}

static int
check_level(struct tiles *t, unsigned number, struct err *e)
{
	struct level *l = &t->levels[number];
	char *name = arena_printf(t->a, "%u", number);
	char *path = tile_path(t->a, name, l->number, l->n);
	struct str expect = { (const char *)l->hashes, l->n * DIGEST_BYTES };
	struct str found;
	int rc = read_tile(t, path, sizeof l->hashes, &found, e);

	if (rc)
		return rc;
	if (!str_eq(found, expect))
		return bad(t, "tile",
		    "%s does not hold the hashes of what is below it", path);
	return 0;
}

static struct digest
tile_root(const struct level *l)
{
	struct merkle m = { 0 };

	for (size_t i = 0; i < l->n; i++)
		merkle_append(&m, l->hashes[i]);
	return merkle_root(&m);
}

/* A level's tile that is full is one hash of the level above. */
static int
add_hash(struct tiles *t, struct digest hash, struct err *e)
{
	for (unsigned i = 0; i < LEVELS; i++) {
		struct level *l = &t->levels[i];
		int rc;

		l->hashes[l->n++] = hash;
		if (l->n < TILE_HASHES)
			return 0;
		rc = check_level(t, i, e);
		if (rc)
			return rc;
		hash = tile_root(l);
		l->n = 0;
		l->number++;
	}
	return 0;
}

/* Takes the next entry off: its bytes stand behind their length. */
static bool
next_entry(struct str *rest, struct str *entry)
{
	size_t n;

	if (rest->n < 2)
		return false;
	n = (size_t)(uint8_t)rest->p[0] << 8 | (uint8_t)rest->p[1];
	if (rest->n < 2 + n)
		return false;
	*entry = str_slice(*rest, 2, 2 + n);
	*rest = str_slice(*rest, 2 + n, rest->n);
	return true;
}

/* One bundle of entries, `width` of them. */
static int
check_entries(struct tiles *t, uint64_t number, size_t width, struct err *e)
{
	char *path = tile_path(t->a, "entries", number, width);
	struct str rest, entry;
	int rc = read_tile(t, path, ENTRIES_MAX, &rest, e);

	for (size_t i = 0; rc == 0 && i < width; i++) {
		struct digest leaf;

		if (!next_entry(&rest, &entry))
			return bad(
			    t, "tile", "%s ends within entry %zu", path, i);
		leaf = merkle_leaf(entry);
		merkle_append(&t->tree, leaf);
		rc = add_hash(t, leaf, e);
	}
	if (rc == 0 && rest.n > 0)
		return bad(t, "tile", "%s is longer than its entries", path);
	return rc;
}

/* The tiles that the end of the tree leaves unfilled. */
static int
check_partial(struct tiles *t, struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < LEVELS; i++)
		if (t->levels[i].n > 0)
			rc = check_level(t, i, e);
	return rc;
}

static int
check_all(struct tiles *t, struct err *e)
{
	uint64_t size = t->checkpoint.size;
	int rc = 0;

	for (uint64_t at = 0; rc == 0 && at < size; at += TILE_HASHES) {
		size_t width =
		    size - at < TILE_HASHES ? (size_t)(size - at) : TILE_HASHES;

		arena_reset(t->a);
		rc = check_entries(t, at / TILE_HASHES, width, e);
		if (at % (64 * TILE_HASHES) == 0)
			progress_show(NULL, at, size);
	}
	progress_end();
	if (rc == 0)
		rc = check_partial(t, e);
	if (rc == 0 && !digest_eq(merkle_root(&t->tree), t->checkpoint.root))
		rc = bad(t, "checkpoint",
		    "the checkpoint's root is not that of the entries");
	return rc;
}

static int
read_checkpoint(
    struct tiles *t, struct arena *a, const struct pinned *keys, struct err *e)
{
	struct err why = { 0 };
	struct public_key key;
	struct str bytes;
	struct note note;
	int rc;

	t->a = a; /* the checkpoint stays; the tiles' arena is another */
	rc = read_tile(t, "checkpoint", NOTE_MAX, &bytes, e);
	if (rc)
		return rc;
	if (note_parse(a, bytes, &note, NULL) ||
	    checkpoint_parse(note.text, &t->checkpoint, NULL))
		return bad(t, "checkpoint", "it is not a signed checkpoint");
	if (pinned_of_note(keys, &note, t->checkpoint.origin, &key, &why))
		return bad(t, "checkpoint", "%s", why.detail);
	return 0;
}

static int
check(struct arena *a, const struct arguments *args, struct tiles *t,
    struct err *e)
{
	struct pinned keys;
	int rc;

	if (keys_load(a, args->keys.texts, args->keys.n, &keys, e))
		return -1;
	rc = read_checkpoint(t, a, &keys, e);
	if (rc)
		return rc;
	t->a = arena_new();
	rc = check_all(t, e);
	arena_free(t->a);
	return rc;
}

static void
write_verdict(const struct tiles *t)
{
	char root[DIGEST_HEX + 1];

	if (t->check) {
		fault_write(stdout,
		    &(struct fault){ t->check, t->why.detail, false, 0 });
		return;
	}
	digest_hex(t->checkpoint.root, root);
	printf("Good: all %" PRIu64 " entries and their tiles.\n"
	       "  ledger   %.*s\n  root     %s\n",
	    t->checkpoint.size, STR_ARGS(t->checkpoint.origin), root);
}

static void
write_json(struct arena *a, const struct tiles *t)
{
	struct json *out = json_object(a), *why = json_null(a);
	char root[DIGEST_HEX + 1];

	json_put(out, "good", json_bool(a, !t->check));
	if (!t->check) {
		digest_hex(t->checkpoint.root, root);
		json_put_str(a, out, "ledger", t->checkpoint.origin);
		json_put_int(a, out, "size", (int64_t)t->checkpoint.size);
		json_put_str(a, out, "root", str_from(root));
	} else {
		why = fault_json(a,
		    &(struct fault){ t->check, t->why.detail, false, 0 },
		    false);
	}
	json_put(out, "failed", why);
	print_json(stdout, out);
}

static bool
read_one(int argc, char **argv, int *i, struct arguments *args)
{
	const char *name = argv[*i];

	if (strcmp(name, "--key") == 0)
		return key_option(argc, argv, i, &args->keys);
	if (strcmp(name, "--json") == 0)
		return args->json = true;
	if (name[0] != '-' && !args->folder)
		return (args->folder = name) != NULL;
	usage_error(
	    "%s is not understood; see probity-audit check-tiles --help", name);
	return false;
}

static int
run(int argc, char **argv)
{
	struct arguments args = { 0 };
	struct tiles *t;
	struct err e = { 0 };
	struct arena *a;
	int rc;

	for (int i = 2; i < argc; i++)
		if (!read_one(argc, argv, &i, &args))
			return EXIT_USAGE;
	if (!args.folder || args.keys.n == 0)
		return usage_error("check-tiles needs a folder and --key; see "
				   "probity-audit check-tiles --help");
	a = arena_new();
	t = ARENA_NEW(a, struct tiles);
	t->folder = args.folder;
	if (check(a, &args, t, &e) < 0) {
		rc = not_done(&e);
	} else {
		if (args.json)
			write_json(a, t);
		else
			write_verdict(t);
		rc = t->check ? EXIT_BAD : EXIT_GOOD;
	}
	arena_free(a);
	return rc;
}

const struct command command_check_tiles = {
	.name = "check-tiles",
	.summary = "Check a copy of the ledger's tiles, entry by entry, "
		   "against its checkpoint",
	.arguments = "FOLDER --key KEY [--json]",
	.options =
	    "  FOLDER     what lies below /ledger/<workspace>/<environment>/: "
	    "checkpoint, tile/…\n"
	    "  --key KEY  the ledger's public key, pinned: a file or the key "
	    "itself; may be\n"
	    "             repeated: any of them may have signed the checkpoint\n"
	    "  --json     the verdict as one JSON object\n",
	.run = run,
};
