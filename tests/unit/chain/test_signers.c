/*
 * The keys that key events give: the windows of allowed_signers, read back and
 * taken by ssh-keygen; and ledgers whose keys change as they must not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/chain/key_event.h"
#include "ledger/chain/verify.h"
#include "tests/support/key_batch.h"

#define ORIGIN STR("ledger.example.com/acme/sandbox")

static struct private_key *
key_of(uint8_t byte)
{
	uint8_t seed[32];

	memset(seed, byte, sizeof seed);
	return private_key_from_seed(seed);
}

static struct public_key
public_of(uint8_t byte)
{
	struct private_key *key = key_of(byte);
	struct public_key out = private_key_public(key);

	private_key_free(key);
	return out;
}

static struct instant
second(int64_t n)
{
	return (struct instant){ (INT64_C(1767323045) + n) * 1000000 + 7 };
}

static struct signers
opened(void)
{
	struct opened o = { .key = public_of(1), .recovery = public_of(200) };
	struct signers s;

	signers_open(&s, ORIGIN, &o);
	return s;
}

static void
assert_text(const struct signers *s, const char *windows)
{
	struct buf all, some;
	struct str rest;

	buf_init(&all, SIGNERS_MAX);
	buf_init(&some, SIGNERS_MAX);
	signers_text(s, &all);
	for (rest = buf_str(&all); rest.n > 0;) {
		struct str line = str_take(&rest, '\n');

		line = str_slice(line, ORIGIN.n + 17, line.n);
		buf_add(&some, str_take(&line, ' '));
		buf_add_byte(&some, '\n');
	}
	if (!str_is(buf_str(&some), windows))
		fail_msg("%.*s", STR_ARGS(buf_str(&some)));
	buf_fini(&all);
	buf_fini(&some);
}

static void
test_windows_of_rotations(void **state)
{
	struct signers s = opened();
	struct err e = { 0 };

	(void)state;
	assert_text(&s, "\n");
	assert_int_equal(signers_rotate(&s, public_of(2), 9, second(0), &e), 0);
	assert_text(&s, ",valid-before=\"20260102030405Z\"\n"
			",valid-after=\"20260102030406Z\"\n");
	/* In its first second: ssh-keygen wants a longer window. */
	assert_int_equal(
	    signers_rotate(&s, public_of(3), 10, second(1), &e), 0);
	assert_text(&s,
	    ",valid-before=\"20260102030405Z\"\n"
	    ",valid-after=\"20260102030406Z\",valid-before=\"20260102030407Z\""
	    "\n,valid-after=\"20260102030408Z\"\n");
	assert_true(public_key_eq(signers_at(&s, 9)->key, public_of(1)));
	assert_true(public_key_eq(signers_at(&s, 10)->key, public_of(2)));
	assert_true(public_key_eq(signers_at(&s, 11)->key, public_of(3)));
	assert_int_equal(
	    signers_rotate(&s, public_of(2), 12, second(9), &e), -1);
	assert_ptr_equal(e.kind, &err_conflict);
	assert_int_equal(
	    signers_rotate(&s, public_of(200), 12, second(9), &e), -1);
	assert_int_equal(s.n, 3);
}

static void
test_windows_of_a_revocation(void **state)
{
	struct signers s = opened();
	struct revoked r = {
		.revoked = public_of(1), .size = 5, .key = public_of(4)
	};
	struct err e = { 0 };

	(void)state;
	assert_int_equal(
	    signers_rotate(&s, public_of(2), 9, second(20), &e), 0);
	assert_int_equal(
	    signers_revoke(&s, &r, 12, second(30), second(10), &e), 0);
	/* The thief's key has no line. */
	assert_text(&s,
	    ",valid-before=\"20260102030415Z\"\n"
	    ",valid-after=\"20260102030435Z\",valid-before=\"20260102030436Z\""
	    "\n,valid-after=\"20260102030437Z\"\n");
	assert_null(signers_void(&s, 4));
	assert_non_null(signers_void(&s, 5));
	assert_non_null(signers_void(&s, 11));
	assert_null(signers_void(&s, 12));
	assert_true(public_key_eq(signers_at(&s, 12)->key, public_of(200)));
	assert_true(public_key_eq(signers_at(&s, 13)->key, public_of(4)));
	r.key = public_of(5);
	r.revoked = public_of(4);
	r.size = 12;
	assert_int_equal(
	    signers_revoke(&s, &r, 20, second(40), second(35), &e), -1);
	r.size = 14;
	r.revoked = public_of(1);
	assert_int_equal(
	    signers_revoke(&s, &r, 20, second(40), second(35), &e), -1);
}

static void
test_as_many_as_there_can_be(void **state)
{
	struct signers s = opened();
	struct revoked r = { .size = 99, .key = public_of(250) };
	struct err e = { 0 };
	uint8_t n = 2;

	(void)state;
	while (signers_rotate(&s, public_of(n), n, second(n * 10), &e) == 0)
		n++;
	assert_ptr_equal(e.kind, &err_conflict);
	assert_int_equal(s.n, SIGNERS_KEYS - 2);
	r.revoked = signers_in_force(&s)->key;
	assert_int_equal(
	    signers_revoke(&s, &r, 99, second(999), second(990), &e), 0);
	assert_int_equal(s.n, SIGNERS_KEYS);
}

static void
test_text_read_back(void **state)
{
	struct signers s = opened(), again;
	struct buf a, b;
	struct err e = { 0 };

	(void)state;
	buf_init(&a, SIGNERS_MAX);
	buf_init(&b, SIGNERS_MAX);
	signers_rotate(&s, public_of(2), 9, second(0), &e);
	signers_rotate(&s, public_of(3), 19, second(50), &e);
	signers_text(&s, &a);
	assert_int_equal(signers_parse(&again, ORIGIN, buf_str(&a), &e), 0);
	signers_text(&again, &b);
	assert_true(str_eq(buf_str(&a), buf_str(&b)));
	assert_int_equal(
	    signers_parse(&again, STR("other.example.com/a"), buf_str(&a), &e),
	    -1);
	buf_add(&a, STR("x"));
	assert_int_equal(signers_parse(&again, ORIGIN, buf_str(&a), &e), -1);
	buf_fini(&a);
	buf_fini(&b);
}

/* Ledgers. */

static struct verify_report
verify_with(struct small_ledger *l, struct public_key key)
{
	struct verify_options o = { .key = key };
	struct verify_report r;
	struct err e = { 0 };

	if (verify_ledger(l->repo_path, &o, &r, &e))
		fail_msg("%s", e.detail);
	return r;
}

static void
assert_bad(
    struct small_ledger *l, uint64_t seq, const char *check, const char *reason)
{
	struct verify_report r = verify_with(l, l->key);

	if (r.good || r.failed_seq != seq || strcmp(r.check, check) != 0 ||
	    !strstr(r.reason, reason))
		fail_msg("event %llu: %s: %s", (unsigned long long)r.failed_seq,
		    r.check, r.reason);
}

static void
test_many_rotations(void **state)
{
	struct small_ledger *l = small_ledger_new();

	(void)state;
	for (int i = 0; i < 20; i++) {
		small_ledger_add(l, 2);
		l->at.us += 3000000;
		key_batch_rotate(l, signer_new(key_of((uint8_t)(50 + i)),
					STR(SMALL_LEDGER_ORIGIN)));
	}
	small_ledger_add(l, 1);
	assert_true(verify_with(l, l->key).good);
	assert_true(verify_with(l, public_of(60)).good);
	assert_true(verify_with(l, public_of(69)).good);
	assert_false(verify_with(l, public_of(70)).good);
	small_ledger_free(l);
}

static void
test_retired_key_goes_on(void **state)
{
	struct small_ledger *l = small_ledger_new();
	struct signer *next = small_ledger_stranger();
	struct parts p = key_batch_draft_rotation(l, next);

	(void)state;
	small_ledger_seal_parts(l, &p);
	small_ledger_write(l, &p);
	small_ledger_add(l, 1);
	assert_bad(l, 2, "commit", "another key");
	signer_free(next);
	small_ledger_free(l);
}

/* The new key's possession is somebody else's statement. */
static void
test_no_possession(void **state)
{
	struct small_ledger *l = small_ledger_new();
	struct signer *next = small_ledger_stranger();
	struct parts p = key_batch_draft_rotation(l, next);
	struct rotated r = { .key = signer_public(next) };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(
	    possession_sign(l->signer, STR(PURPOSE_LEDGER), &r.possession, &e),
	    0);
	p.events[0].data = rotated_encode(l->a, &r);
	small_ledger_seal_parts(l, &p);
	small_ledger_write(l, &p);
	assert_bad(l, 1, "signers", "did not sign that it is");
	signer_free(next);
	small_ledger_free(l);
}

/* The new key signs its own naming. */
static void
test_signed_by_the_new_key(void **state)
{
	struct small_ledger *l = small_ledger_new();
	struct signer *next = small_ledger_stranger(), *old = l->signer;
	struct parts p = key_batch_draft_rotation(l, next);

	(void)state;
	l->signer = next;
	small_ledger_seal_parts(l, &p);
	small_ledger_write(l, &p);
	assert_bad(l, 1, "commit", "another key");
	signer_free(old);
	small_ledger_free(l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows_of_rotations),
		cmocka_unit_test(test_windows_of_a_revocation),
		cmocka_unit_test(test_as_many_as_there_can_be),
		cmocka_unit_test(test_text_read_back),
		cmocka_unit_test(test_many_rotations),
		cmocka_unit_test(test_retired_key_goes_on),
		cmocka_unit_test(test_no_possession),
		cmocka_unit_test(test_signed_by_the_new_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
