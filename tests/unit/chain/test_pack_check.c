#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/base/io.h"
#include "ledger/base/uid.h"
#include "ledger/chain/key_event.h"
#include "ledger/chain/pack_check.h"
#include "ledger/crypto/hash.h"
#include "ledger/store/pack.h"
#include "tests/support/key_batch.h"
#include "tests/support/verdict.h"
#include "tests/support/wrong_batch.h"

#define SIZE 6000

static struct str
pack_of(struct small_ledger *l)
{
	struct str pack;
	struct err e = { 0 };

	if (pack_commit(l->repo, l->parent, PACK_READ_MAX, l->a, &pack, &e))
		fail_msg("%s", e.detail);
	return pack;
}

static struct pack_shown
expect_good(struct small_ledger *l, struct str pack, bool pinned)
{
	const struct pinned keys = { &l->key, 1 };
	struct pack_shown shown;
	struct err e = { 0 };

	if (pack_check(l->a, pack, pinned ? &keys : NULL, &shown, &e))
		fail_msg("BAD: %s: %s", shown.check, e.detail);
	assert_null(shown.check);
	assert_true(public_key_eq(shown.key, l->key));
	assert_true(str_is(shown.origin, SMALL_LEDGER_ORIGIN));
	return shown;
}

static void
expect_bad(struct small_ledger *l, struct str pack, const char *check,
    const char *reason)
{
	const struct pinned keys = { &l->key, 1 };
	struct pack_shown shown;
	struct err e = { 0 };

	if (pack_check(l->a, pack, &keys, &shown, &e) == 0)
		fail_msg("accepted, where %s: %s", check, reason);
	if (strcmp(shown.check, check) != 0 || !strstr(e.detail, reason))
		fail_msg("wanted %s: %s; got %s: %s", check, reason,
		    shown.check, e.detail);
}

static void
test_good(void **state)
{
	struct small_ledger *l = small_ledger_new();
	struct pack_shown s = expect_good(l, pack_of(l), true);

	(void)state;
	assert_true(s.whole);
	assert_int_equal(s.n, 1);
	small_ledger_add(l, 5);
	s = expect_good(l, pack_of(l), false);
	assert_false(s.whole);
	assert_int_equal(s.first, 1);
	assert_int_equal(s.n, 5);
	assert_int_equal(s.size, 6);
	assert_true(oid_eq(s.commit, l->parent));
	assert_true(digest_eq(s.root, merkle_root(&l->tree)));
	assert_true(digest_eq(s.head, l->head));
	small_ledger_add_payloads(l, STR("content"));
	s = expect_good(l, pack_of(l), true);
	assert_int_equal(s.payloads, 2);
	small_ledger_free(l);
}

static void
test_other_key(void **state)
{
	struct small_ledger *l = small_ledger_new();
	struct signer *other = small_ledger_stranger();
	struct public_key was = l->key;
	struct str pack = pack_of(l);

	(void)state;
	l->key = signer_public(other);
	expect_bad(l, pack, "commit", "another key");
	l->key = was;
	signer_free(other);
	small_ledger_free(l);
}

/* Packs of the rotation, and of what came before and after it. */
static void
test_rotation(void **state)
{
	struct small_ledger *l = small_ledger_new();
	struct signer *next = small_ledger_stranger();
	struct public_key first = l->key, second = signer_public(next);
	struct str pack;

	(void)state;
	pack = pack_of(l);
	l->key = second;
	expect_bad(l, pack, "commit", "another key, SHA256:");
	l->key = first;
	key_batch_rotate(l, next);
	pack = pack_of(l);
	expect_good(l, pack, false);
	assert_int_equal(expect_good(l, pack, true).n, 1);
	l->key = second;
	expect_bad(l, pack, "commit", "another key of the ledger");
	small_ledger_add(l, 2);
	pack = pack_of(l);
	expect_good(l, pack, true);
	l->key = first;
	expect_bad(l, pack, "commit", "another key of the ledger");
	small_ledger_free(l);
}

static void
test_revocation(void **state)
{
	struct small_ledger *l = small_ledger_new();
	struct digest root = merkle_root(&l->tree);

	(void)state;
	small_ledger_add(l, 1);
	key_batch_revoke(l, 1, root, small_ledger_stranger());
	l->key = l->recovery;
	expect_good(l, pack_of(l), true);
	small_ledger_free(l);
}

/* A key that did not sign that it is this ledger's, and one that the signers
 * lack. */
static void
test_wrong_rotations(void **state)
{
	struct small_ledger *l = small_ledger_new();
	struct signer *next = small_ledger_stranger();
	struct rotated r = { .key = signer_public(next) };
	struct str before = arena_str(l->a, buf_str(&l->signers));
	struct parts p = key_batch_draft_rotation(l, next);
	const struct json *good = p.events[0].data;

	(void)state;
	p.events[0].data = rotated_encode(l->a, &r);
	small_ledger_seal_parts(l, &p);
	small_ledger_write(l, &p);
	expect_bad(l, pack_of(l), "event", "");
	p = small_ledger_draft(l, 1);
	p.events[0].type = STR(TYPE_KEY_ROTATED);
	p.events[0].data = good;
	buf_reset(&l->signers);
	buf_add(&l->signers, before);
	small_ledger_seal_parts(l, &p);
	small_ledger_write(l, &p);
	expect_bad(l, pack_of(l), "signers", "does not name the new key");
	signer_free(next);
	small_ledger_free(l);
}

/* What ties a batch to those before it is not in it, nor are they. */
static const char *const need_more[] = { "prev, first", "time, first",
	"checkpoint's root" };
/* Seen in the trailer, since nothing came before. */
static const char *const in_trailer[] = { "gap before", "signers" };

static bool
is_among(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* One after the other in one ledger: each pack is seen alone. */
static void
test_wrong_batches(void **state)
{
	struct small_ledger *l = make_ledger();
	size_t needing = 0;

	(void)state;
	for (size_t i = 0; i < n_wrongs; i++) {
		const struct wrong *w = &wrongs[i];

		add_wrong(l, w->events, w->rest);
		if (is_among(w->name, need_more, 3)) {
			expect_good(l, pack_of(l), true);
			needing++;
		} else if (is_among(w->name, in_trailer, 2)) {
			expect_bad(l, pack_of(l), "commit", "trailer");
		} else {
			expect_bad(l, pack_of(l), w->check, "");
		}
	}
	assert_int_equal(needing, 3);
	small_ledger_free(l);
}

/* git's own SHA-1 over the pack is no protection: it is made to fit. */
static void
fit(char *bytes, size_t n)
{
	struct str body = { bytes, n - SHA1_BYTES };

	sha1_parts(&body, 1, (uint8_t *)bytes + body.n);
}

static void
test_any_byte(void **state)
{
	struct small_ledger *l = small_ledger_new();
	const struct pinned keys = { &l->key, 1 };
	struct pack_shown shown;
	struct str pack;
	char *bytes;

	(void)state;
	small_ledger_add_payloads(l, STR("content"));
	pack = pack_of(l);
	bytes = arena_alloc(l->a, pack.n);
	memcpy(bytes, pack.p, pack.n);
	for (size_t i = 0; i < pack.n; i++) {
		struct str changed = { bytes, pack.n };

		bytes[i] ^= 4;
		expect_bad(l, changed, "repository", "not a whole git pack");
		fit(bytes, pack.n);
		/* Some bits of a compressed stream mean nothing. */
		if (pack_check(l->a, changed, &keys, &shown, NULL) == 0)
			assert_true(oid_eq(shown.commit, l->parent));
		memcpy(bytes, pack.p, pack.n);
	}
	for (size_t n = 0; n < pack.n; n += 7) {
		expect_bad(l, str_slice(pack, 0, n), "repository", "pack");
		if (n < 40)
			continue;
		fit(bytes, n);
		expect_bad(l, (struct str){ bytes, n }, "repository", "pack");
		memcpy(bytes, pack.p, pack.n);
	}
	small_ledger_free(l);
}

/* Lists a commit and everything in it, for git pack-objects. */
#define LIST                                                                   \
	"list() { git rev-parse $1 $1^{tree}; git ls-tree -rt $1 | cut -d' ' " \
	"-f3 | cut -f1; }; "

/* Another object in the pack, whatever it is, and two batches in one. */
static void
test_more_objects(void **state)
{
	struct small_ledger *l = small_ledger_new();
	char first[OID_HEX + 1], second[OID_HEX + 1], blob[OID_HEX + 1];
	char *path = arena_printf(l->a, "%s/pack", l->dir);
	struct str pack;
	struct err e = { 0 };

	(void)state;
	oid_hex(l->parent, first);
	small_ledger_add(l, 1);
	oid_hex(l->parent, second);
	oid_hex(small_ledger_blob(l, STR("more")), blob);
	assert_int_equal(
	    system(arena_printf(l->a,
		LIST "cd %s && { list %s; echo %s; } | git pack-objects -q "
		     "--stdout >%s",
		l->repo_path, second, blob, path)),
	    0);
	assert_int_equal(io_read_file(l->a, path, PACK_FILE_MAX, &pack, &e), 0);
	expect_bad(
	    l, pack, "repository", "the pack has 6 objects, its batch 5");
	assert_int_equal(
	    system(arena_printf(l->a,
		LIST "cd %s && { list %s; list %s; } | sort -u | git "
		     "pack-objects -q --stdout >%s",
		l->repo_path, first, second, path)),
	    0);
	assert_int_equal(io_read_file(l->a, path, PACK_FILE_MAX, &pack, &e), 0);
	expect_bad(l, pack, "repository", "2 commits");
	small_ledger_free(l);
}

/* Contents that differ little become deltas when stock git packs them. */
static void
test_deltas(void **state)
{
	static const char *const options[] = { "", "--delta-base-offset" };
	struct small_ledger *l = small_ledger_new();
	struct parts p = small_ledger_draft(l, 1);
	struct payload *three = arena_array(l->a, 3, sizeof *three);
	char *path = arena_printf(l->a, "%s/pack", l->dir);
	char *text = arena_alloc(l->a, SIZE);
	char after[OID_HEX + 1];
	struct str pack;
	struct err e = { 0 };

	(void)state;
	random_bytes(text, SIZE);
	for (int i = 0; i < 3; i++) {
		text[100 + i] ^= 1;
		three[i] =
		    small_ledger_payload(l, "p", (struct str){ text, SIZE });
	}
	p.events[0].payloads = three;
	p.events[0].n_payloads = 3;
	small_ledger_seal_parts(l, &p);
	small_ledger_write(l, &p);
	oid_hex(l->parent, after);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(
		    system(arena_printf(l->a,
			LIST "cd %s && list %s | git pack-objects -q "
			     "--stdout --window=50 %s >%s",
			l->repo_path, after, options[i], path)),
		    0);
		assert_int_equal(
		    io_read_file(l->a, path, PACK_FILE_MAX, &pack, &e), 0);
		assert_true(pack.n < 2 * SIZE);
		assert_int_equal(expect_good(l, pack, true).payloads, 3);
	}
	small_ledger_free(l);
}

/* The room is counted before anything is unpacked. */
static void
test_too_large(void **state)
{
	struct small_ledger *l = small_ledger_new();
	struct pack_contents contents;
	struct repo *r;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(
	    repo_open_pack(pack_of(l), 1000, &r, &contents, &e), -1);
	assert_ptr_equal(e.kind, &err_too_large);
	assert_null(r);
	small_ledger_free(l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_other_key),
		cmocka_unit_test(test_rotation),
		cmocka_unit_test(test_revocation),
		cmocka_unit_test(test_wrong_rotations),
		cmocka_unit_test(test_wrong_batches),
		cmocka_unit_test(test_any_byte),
		cmocka_unit_test(test_more_objects),
		cmocka_unit_test(test_deltas),
		cmocka_unit_test(test_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
