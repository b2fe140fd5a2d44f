/*
 * A good ledger verifies; and whatever is done to one by somebody who can write
 * its files, but has no key, is named.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ledger/base/io.h"
#include "ledger/chain/signers.h"
#include "tests/support/verdict.h"

static void
test_good_ledger(void **state)
{
	struct small_ledger *l = make_ledger();
	struct verify_options o = { .key = l->key };
	struct verify_report r;

	(void)state;
	for (int quick = 0; quick < 2; quick++)
		for (unsigned threads = 0; threads < 4; threads++) {
			o.quick = quick;
			o.threads = threads;
			r = verify_with(l, &o);
			assert_good(&r);
			assert_int_equal(r.events, 10);
			assert_int_equal(r.size, 10);
			assert_int_equal(r.batches, 5);
			assert_int_equal(r.payloads, 2);
			assert_true(digest_eq(r.head, l->head));
			assert_true(digest_eq(r.root, merkle_root(&l->tree)));
			assert_true(oid_eq(r.commit, l->parent));
			assert_string_equal(r.origin, SMALL_LEDGER_ORIGIN);
			assert_true(str_has_prefix(str_from(r.checkpoint),
			    STR(SMALL_LEDGER_ORIGIN "\n10\n")));
		}
	small_ledger_free(l);
}

static void
test_many_batches(void **state)
{
	struct small_ledger *l = small_ledger_new();
	struct verify_options o = { .key = l->key, .threads = 3 };
	struct verify_report r;

	(void)state;
	for (size_t i = 0; i < 300; i++)
		small_ledger_add(l, 1 + i % 3);
	r = verify_with(l, &o);
	assert_good(&r);
	assert_int_equal(r.events, 601);
	assert_int_equal(r.batches, 301);
	small_ledger_free(l);
}

static void
test_empty_ledger(void **state)
{
	struct small_ledger *l = small_ledger_new();
	struct verify_options o = { .key = l->key };
	struct verify_report r;
	char *ref = arena_printf(l->a, "%s/refs/heads/main", l->repo_path);

	(void)state;
	assert_int_equal(unlink(ref), 0);
	r = verify_with(l, &o);
	assert_good(&r);
	assert_true(r.empty);
	o.has_kept = true;
	o.kept = (struct checkpoint){ STR(SMALL_LEDGER_ORIGIN), 1,
		merkle_root(&l->tree) };
	r = verify_with(l, &o);
	assert_bad(&r, "consistency", 0, "cut short");
	small_ledger_free(l);
}

/* The root at every size, and at each one bit changed. */
static void
test_kept_checkpoints(void **state)
{
	struct small_ledger *l = make_ledger();
	struct verify_options o = { .key = l->key, .has_kept = true };
	struct merkle tree = { 0 };
	struct verify_report r;
	struct oid at[5];
	struct batch b;
	struct err e = { 0 };
	size_t n = 5;

	(void)state;
	at[4] = l->parent;
	while (--n > 0) {
		assert_int_equal(batch_read(l->repo, at[n], l->a, &b, &e), 0);
		at[n - 1] = b.commit.parent;
	}
	o.kept.origin = STR(SMALL_LEDGER_ORIGIN);
	for (n = 0; n < 5; n++) {
		struct batch_line line;

		assert_int_equal(batch_read(l->repo, at[n], l->a, &b, &e), 0);
		while (batch_line_next(&b.events, &line, &e) > 0) {
			o.kept.size = tree.size;
			o.kept.root = merkle_root(&tree);
			r = verify_with(l, &o);
			assert_good(&r);
			o.kept.root.b[31] ^= 1;
			r = verify_with(l, &o);
			assert_bad(&r, "consistency", 0, "rewritten");
			merkle_append(&tree, merkle_leaf(line.event));
		}
	}
	o.kept.root = merkle_root(&tree);
	o.kept.size = 10;
	r = verify_with(l, &o);
	assert_good(&r);
	o.kept.origin = STR("ledger.example.com/acme/production");
	r = verify_with(l, &o);
	assert_bad(&r, "consistency", 0, "another ledger");
	small_ledger_free(l);
}

static void
test_branch_moved_back(void **state)
{
	struct small_ledger *l = make_ledger();
	struct verify_options o = { .key = l->key, .has_kept = true };
	struct verify_report r;
	struct batch b;
	struct err e = { 0 };

	(void)state;
	o.kept = (struct checkpoint){ STR(SMALL_LEDGER_ORIGIN), 10,
		merkle_root(&l->tree) };
	assert_int_equal(batch_read(l->repo, l->parent, l->a, &b, &e), 0);
	small_ledger_move(l, b.commit.parent);
	r = verify_with(l, &o);
	assert_bad(&r, "consistency", 7, "cut short");
	/* Without it, nobody can tell. */
	o.has_kept = false;
	r = verify_with(l, &o);
	assert_good(&r);
	assert_int_equal(r.size, 7);
	small_ledger_free(l);
}

/* The kept checkpoint as a note that this signer made. */
static void
keep(struct small_ledger *l, struct verify_options *o, struct note *note,
    const struct signer *signer)
{
	struct err e = { 0 };
	struct buf text, signed_text;

	buf_init(&text, NOTE_MAX);
	buf_init(&signed_text, NOTE_MAX);
	checkpoint_text(&text, &o->kept);
	assert_int_equal(
	    note_sign(signer, buf_str(&text), &signed_text, &e), 0);
	assert_int_equal(
	    note_parse(l->a, arena_str(l->a, buf_str(&signed_text)), note, &e),
	    0);
	o->kept_note = note;
	buf_fini(&text);
	buf_fini(&signed_text);
}

/* By a key of which the history knows nothing, as one has it that ends before
 * the key came in force. */
static void
test_kept_by_another_key(void **state)
{
	struct small_ledger *l = make_ledger();
	struct signer *next = small_ledger_stranger();
	struct public_key key = signer_public(next);
	struct verify_options o = { .key = l->key, .has_kept = true };
	struct verify_report r;
	struct note note;
	struct err e = { 0 };

	(void)state;
	o.kept = (struct checkpoint){ STR(SMALL_LEDGER_ORIGIN), 12,
		merkle_root(&l->tree) };
	keep(l, &o, &note, next);
	r = verify_with(l, &o);
	assert_bad(&r, "consistency", 10, "before the key came in force");
	o.more = (struct pinned){ &key, 1 };
	r = verify_with(l, &o);
	assert_bad(&r, "consistency", 10, "cut short: it has 10 events");
	/* Of what is there it says nothing until its key is known. */
	o.kept.size = 10;
	keep(l, &o, &note, next);
	r = verify_with(l, &o);
	assert_good(&r);
	o.more.n = 0;
	assert_int_equal(verify_ledger(l->repo_path, &o, &r, &e), -1);
	assert_ptr_equal(e.kind, &err_malformed);
	assert_non_null(strstr(e.detail, "give that key with another --key"));
	signer_free(next);
	small_ledger_free(l);
}

/* Of several keys the first that the ledger names is pinned. */
static void
test_several_keys(void **state)
{
	struct small_ledger *l = make_ledger();
	struct signer *other = small_ledger_stranger();
	struct verify_options o = { .key = signer_public(other),
		.more = { &l->key, 1 } };
	struct verify_report r = verify_with(l, &o);

	(void)state;
	assert_good(&r);
	o.from_seq = 6;
	r = verify_with(l, &o);
	assert_good(&r);
	signer_free(other);
	small_ledger_free(l);
}

static void
test_from_seq(void **state)
{
	struct small_ledger *l = make_ledger();
	struct verify_options o = { .key = l->key, .from_seq = 6 };
	struct verify_report r;
	struct err e = { 0 };

	(void)state;
	r = verify_with(l, &o);
	assert_good(&r);
	assert_int_equal(r.events, 4);
	assert_int_equal(r.size, 10);
	assert_true(digest_eq(r.root, merkle_root(&l->tree)));
	assert_string_equal(r.origin, SMALL_LEDGER_ORIGIN);
	o.from_seq = 8; /* within a batch, which is checked whole */
	r = verify_with(l, &o);
	assert_good(&r);
	assert_int_equal(r.events, 3);
	o.from_seq = 10;
	r = verify_with(l, &o);
	assert_good(&r);
	assert_int_equal(r.events, 0);
	assert_int_equal(r.size, 10);
	o.has_kept = true;
	o.kept = (struct checkpoint){ STR(SMALL_LEDGER_ORIGIN), 10,
		merkle_root(&l->tree) };
	r = verify_with(l, &o);
	assert_good(&r);
	o.from_seq = 6;
	r = verify_with(l, &o);
	assert_good(&r);
	o.kept.root.b[0] ^= 1;
	r = verify_with(l, &o);
	assert_bad(&r, "consistency", 0, "rewritten");
	o.kept.size = 8;
	assert_int_equal(verify_ledger(l->repo_path, &o, &r, &e), -1);
	assert_ptr_equal(e.kind, &err_usage);
	o.has_kept = false;
	o.from_seq = 11;
	r = verify_with(l, &o);
	assert_bad(&r, "consistency", 10, "cut short");
	small_ledger_free(l);
}

static void
test_wrong_key(void **state)
{
	struct small_ledger *l = make_ledger();
	struct signer *other = small_ledger_stranger();
	struct verify_options o = { .key = signer_public(other) };
	struct verify_report r = verify_with(l, &o);

	(void)state;
	assert_bad(&r, "signers", 0, "not the key given");
	o.from_seq = 6;
	r = verify_with(l, &o);
	assert_bad(&r, "commit", 6, "another key");
	signer_free(other);
	small_ledger_free(l);
}

static void
test_not_a_repository(void **state)
{
	struct verify_options o = { 0 };
	struct verify_report r;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(verify_ledger("/nonexistent", &o, &r, &e), -1);
	assert_false(r.good);
}

/*
 * Files changed by somebody without the key.
 */

struct places {
	struct oid commit, tree, events, checkpoint, signers, payload_tree,
	    payload;
};

/* Of the batch with payloads: events 4 and 5. */
static struct places
find_places(struct small_ledger *l)
{
	struct tree_entry *t;
	struct err e = { 0 };
	struct places p = { 0 };
	struct str bytes;
	struct batch b;
	size_t n;

	assert_int_equal(batch_read(l->repo, l->parent, l->a, &b, &e), 0);
	assert_int_equal(batch_read(l->repo, b.commit.parent, l->a, &b, &e), 0);
	p.commit = b.commit.parent;
	assert_int_equal(batch_read(l->repo, p.commit, l->a, &b, &e), 0);
	p.tree = b.commit.tree;
	p.payload = b.payloads[0].oid;
	assert_int_equal(
	    repo_read(l->repo, p.tree, OBJECT_TREE, 4096, l->a, &bytes, &e), 0);
	assert_int_equal(tree_parse(l->a, bytes, &t, &n, &e), 0);
	assert_int_equal(n, 4);
	p.signers = t[0].oid;
	p.checkpoint = t[1].oid;
	p.events = t[2].oid;
	p.payload_tree = t[3].oid;
	return p;
}

static void
remove_object(struct small_ledger *l, struct oid oid)
{
	assert_int_equal(unlink(small_ledger_object_path(l, oid)), 0);
}

static void
flip_byte(struct small_ledger *l, struct oid oid)
{
	char *path = small_ledger_object_path(l, oid);
	struct err e = { 0 };
	struct str bytes;
	char *copy;

	assert_int_equal(io_read_file(l->a, path, 1 << 20, &bytes, &e), 0);
	copy = arena_cstr(l->a, bytes);
	copy[bytes.n - 10] ^= 1;
	assert_int_equal(unlink(path), 0);
	assert_int_equal(
	    io_write_file(path, (struct str){ copy, bytes.n }, 0444, &e), 0);
}

/* Whole and well-formed, but of other contents than its name says. */
static void
replace_object(struct small_ledger *l, struct oid oid)
{
	struct oid other = small_ledger_blob(l, STR("something else"));

	assert_int_equal(rename(small_ledger_object_path(l, other),
			     small_ledger_object_path(l, oid)),
	    0);
}

static void
test_damaged_objects(void **state)
{
	static void (*const damages[])(struct small_ledger *,
	    struct oid) = { remove_object, flip_byte, replace_object };
	static const size_t offsets[] = { offsetof(struct places, commit),
		offsetof(struct places, tree), offsetof(struct places, events),
		offsetof(struct places, checkpoint),
		offsetof(struct places, signers),
		offsetof(struct places, payload_tree),
		offsetof(struct places, payload) };
	/* The first batch too has the same allowed_signers. Of a commit that
	 * is gone only the last event's number is known. */
	static const uint64_t seqs[] = { 5, 4, 4, 4, 0, 4, 4 };

	(void)state;
	for (size_t d = 0; d < 3; d++)
		for (size_t i = 0; i < 7; i++) {
			struct small_ledger *l = make_ledger();
			struct places p = find_places(l);
			struct oid oid;
			struct verify_report r;

			memcpy(&oid, (char *)&p + offsets[i], sizeof oid);
			damages[d](l, oid);
			r = verify_full(l);
			assert_bad(&r, "repository", seqs[i], "");
			small_ledger_free(l);
		}
}

static void
test_branch_names_nothing(void **state)
{
	struct small_ledger *l = make_ledger();
	struct verify_report r;

	(void)state;
	remove_object(l, l->parent);
	r = verify_full(l);
	assert_bad(&r, "repository", 0, "");
	small_ledger_free(l);
}

/* The commit of events 7 to 9 with some bytes of it replaced. */
static void
rewrite_commit(struct small_ledger *l, const char *from, const char *to)
{
	struct object o = { .kind = OBJECT_COMMIT };
	struct err e = { 0 };
	struct str s;
	const char *at;
	size_t before;

	assert_int_equal(
	    repo_read(l->repo, l->parent, OBJECT_COMMIT, 8192, l->a, &s, &e),
	    0);
	at = memmem(s.p, s.n, from, strlen(from));
	assert_non_null(at);
	before = (size_t)(at - s.p);
	o.bytes = arena_strf(l->a, "%.*s%s%.*s", (int)before, s.p, to,
	    (int)(s.n - before - strlen(from)), at + strlen(from));
	assert_int_equal(repo_oid(o.kind, o.bytes, &o.oid, &e), 0);
	assert_int_equal(repo_write(l->repo, &o, 1, &e), 0);
	small_ledger_move(l, o.oid);
}

static void
test_rewritten_commits(void **state)
{
	static const char *const changes[][3] = {
		{ "events 7-9", "events 8-9", "signature is bad" },
		{ "\nauthor ledger", "\nauthor Ledger", "signature is bad" },
		{ "gpgsig ", "gpgsog ", "signature is missing" },
		{ "\n\nevents", "\nmergetag x\n\nevents", "unknown" },
		{ " +0000\ngpgsig", " +0100\ngpgsig", "committer" },
		{ "BEGIN SSH", "BEGIN ssh", "signature is malformed" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
		struct small_ledger *l = make_ledger();
		struct verify_report r;
		uint64_t seq;

		rewrite_commit(l, changes[i][0], changes[i][1]);
		r = verify_full(l);
		/* One that cannot be read ends the listing at once. */
		seq = strstr(changes[i][2], "signature is bad") ||
			      strstr(changes[i][2], "malformed")
			  ? 7
			  : 0;
		assert_bad(&r, "commit", seq, changes[i][2]);
		small_ledger_free(l);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_ledger),
		cmocka_unit_test(test_many_batches),
		cmocka_unit_test(test_empty_ledger),
		cmocka_unit_test(test_kept_checkpoints),
		cmocka_unit_test(test_branch_moved_back),
		cmocka_unit_test(test_kept_by_another_key),
		cmocka_unit_test(test_several_keys),
		cmocka_unit_test(test_from_seq),
		cmocka_unit_test(test_wrong_key),
		cmocka_unit_test(test_not_a_repository),
		cmocka_unit_test(test_damaged_objects),
		cmocka_unit_test(test_branch_names_nothing),
		cmocka_unit_test(test_rewritten_commits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
