#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/chain/tlog_proof.h"
#include "ledger/codec/text.h"

#define NAME  "ledger.example.com/acme/sandbox"
#define FIRST "c2sp.org/tlog-proof@v1\n"
/* SHA-256 of nothing: any hash does where only the form counts. */
#define HASH "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

/* A log of three events, signed, and the proof that event 2 is in it. */
struct fixture {
	struct arena *arena;
	struct signer *signer;
	struct buf note, text;
	struct tlog_proof proof;
};

static const struct str events[] = { { "{\"seq\":0}", 9 }, { "{\"seq\":1}", 9 },
	{ "{\"seq\":2}", 9 } };

static struct signer *
signer_of(uint8_t byte)
{
	uint8_t seed[32];

	memset(seed, byte, sizeof seed);
	return signer_new(private_key_from_seed(seed), STR(NAME));
}

static void
sign(struct fixture *f, uint64_t size, struct digest root)
{
	struct checkpoint c = { STR(NAME), size, root };
	struct err e = { 0 };
	struct buf text;

	buf_init(&text, 1000);
	checkpoint_text(&text, &c);
	buf_reset(&f->note);
	if (note_sign(f->signer, buf_str(&text), &f->note, &e))
		fail_msg("%s", e.detail);
	buf_fini(&text);
	f->proof.checkpoint = buf_str(&f->note);
}

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct digest left;

	if (f == NULL)
		return -1;
	f->arena = arena_new();
	f->signer = signer_of(1);
	buf_init(&f->note, NOTE_MAX);
	buf_init(&f->text, 1 << 20);
	left = merkle_node(merkle_leaf(events[0]), merkle_leaf(events[1]));
	f->proof.index = 2;
	f->proof.path.n = 1;
	f->proof.path.hashes[0] = left;
	sign(f, 3, merkle_node(left, merkle_leaf(events[2])));
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	buf_fini(&f->note);
	buf_fini(&f->text);
	signer_free(f->signer);
	arena_free(f->arena);
	free(f);
	return 0;
}

static struct str
text_of(struct fixture *f, const struct tlog_proof *p)
{
	buf_reset(&f->text);
	tlog_proof_add(&f->text, p);
	assert_false(buf_failed(&f->text));
	return buf_str(&f->text);
}

static struct tlog_proof
parse(struct fixture *f, struct str text)
{
	struct tlog_proof p;
	struct err e = { 0 };

	if (tlog_proof_parse(f->arena, text, &p, &e))
		fail_msg(
		    "%s: %.*s", e.detail, STR_ARGS(str_slice(text, 0, 200)));
	return p;
}

static void
test_text(void **state)
{
	struct fixture *f = *state;
	char hash[BASE64_LENGTH(DIGEST_BYTES) + 1];
	struct str wanted;

	base64_encode(f->proof.path.hashes[0].b, DIGEST_BYTES, hash);
	wanted = arena_strf(f->arena, FIRST "index 2\n%s\n\n%.*s", hash,
	    STR_ARGS(f->proof.checkpoint));
	assert_true(str_eq(text_of(f, &f->proof), wanted));
}

static void
round_trip(struct fixture *f)
{
	struct tlog_proof p = parse(f, text_of(f, &f->proof));

	assert_true(str_eq(p.extra, f->proof.extra));
	assert_int_equal(p.index, f->proof.index);
	assert_int_equal(p.path.n, f->proof.path.n);
	assert_memory_equal(
	    p.path.hashes, f->proof.path.hashes, p.path.n * DIGEST_BYTES);
	assert_true(str_eq(p.checkpoint, f->proof.checkpoint));
}

static void
test_round_trip(void **state)
{
	struct fixture *f = *state;

	round_trip(f);
	f->proof.extra = STR("a\0b\n");
	round_trip(f);
	f->proof.extra = STR("");
	round_trip(f);
	f->proof.index = UINT64_MAX;
	for (size_t n = 0; n <= PROOF_HASHES; n++) {
		f->proof.path.n = n;
		round_trip(f);
	}
}

static void
expect_malformed(struct fixture *f, struct str text)
{
	struct tlog_proof p;
	struct err e = { 0 };

	if (tlog_proof_parse(f->arena, text, &p, &e) == 0)
		fail_msg("accepted: %.*s", STR_ARGS(str_slice(text, 0, 200)));
	assert_ptr_equal(e.kind, &err_malformed);
}

static void
test_malformed(void **state)
{
	static const char *const bad[] = { "", "\n", "index 2\n\nnote\n",
		"c2sp.org/tlog-proof@v2\nindex 2\n\nnote\n",
		"c2sp.org/tlog-proof@v1\r\nindex 2\r\n\r\nnote\r\n",
		" " FIRST "index 2\n\nnote\n", FIRST, FIRST "index 2",
		FIRST "index 2\n", FIRST "index\n\nnote\n",
		FIRST "index \n\nnote\n", FIRST "index  2\n\nnote\n",
		FIRST "index 2 \n\nnote\n", FIRST "index 02\n\nnote\n",
		FIRST "index +2\n\nnote\n", FIRST "index -2\n\nnote\n",
		FIRST "index 0x2\n\nnote\n", FIRST "Index 2\n\nnote\n",
		FIRST "index 18446744073709551616\n\nnote\n",
		FIRST "\nindex 2\n\nnote\n", FIRST "index 2\n" HASH "\n",
		FIRST "index 2\n" HASH, FIRST "index 2\n" HASH " \n\nnote\n",
		FIRST "index 2\n" HASH HASH "\n\nnote\n",
		FIRST "index 2\nAAAA\n\nnote\n",
		FIRST "index 2\n"
		      "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=\n\nnote\n",
		FIRST "index 2\n"
		      "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=\n\nnote\n",
		FIRST "index 2\nextra AAAA\n\nnote\n",
		FIRST "extra\nindex 2\n\nnote\n", FIRST "extra AAAA\n",
		FIRST "extra AAAA", FIRST "extra AAA\nindex 2\n\nnote\n",
		FIRST "extra AAAA\nextra AAAA\nindex 2\n\nnote\n",
		FIRST "extra AAAA\n\nnote\n" };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		expect_malformed(f, str_from(bad[i]));
	parse(f, STR(FIRST "extra AAAA\nindex 2\n" HASH "\n\nnote\n"));
}

/* No part of a proof is one: whatever is cut off is missed. */
static void
test_cut_short(void **state)
{
	struct fixture *f = *state;
	struct str all = text_of(f, &f->proof);
	size_t head = all.n - f->proof.checkpoint.n;

	for (size_t n = 0; n < head; n++)
		expect_malformed(f, str_slice(all, 0, n));
	parse(f, str_slice(all, 0, head));
}

static void
test_limits(void **state)
{
	struct fixture *f = *state;
	struct str line = STR(HASH "\n");
	char *bytes = arena_alloc(f->arena, 65539);

	f->proof.extra = (struct str){ bytes, 65536 };
	round_trip(f);
	f->proof.extra = (struct str){ bytes, 65539 };
	expect_malformed(f, text_of(f, &f->proof));
	f->proof.extra = STR_NONE;
	buf_reset(&f->text);
	buf_addf(&f->text, FIRST "index 2\n");
	for (size_t i = 0; i < PROOF_HASHES + 1; i++)
		buf_add(&f->text, line);
	buf_addf(&f->text, "\nnote\n");
	expect_malformed(f, buf_str(&f->text));
}

/* 0 for a proof that shows the event, or the kind of the error. */
static const struct err_kind *
check(struct fixture *f, const struct tlog_proof *p, struct str event)
{
	struct checkpoint c;
	struct err e = { 0 };

	if (tlog_proof_check(p, f->arena, event, STR(NAME),
		signer_public(f->signer), &c, &e) == 0) {
		assert_int_equal(c.size, 3);
		assert_true(str_is(c.origin, NAME));
		return NULL;
	}
	assert_true(e.detail[0] != '\0');
	return e.kind;
}

static void
test_accepted(void **state)
{
	struct fixture *f = *state;
	struct tlog_proof p = parse(f, text_of(f, &f->proof));

	assert_null(check(f, &p, events[2]));
	f->proof.extra = STR("bound by nothing");
	assert_null(check(f, &f->proof, events[2]));
}

static void
test_another_event_place_or_hash(void **state)
{
	struct fixture *f = *state;
	struct tlog_proof p = f->proof;

	assert_ptr_equal(check(f, &p, events[1]), &err_corrupt);
	assert_ptr_equal(check(f, &p, STR("")), &err_corrupt);
	for (p.index = 0; p.index < 10; p.index++)
		assert_true((check(f, &p, events[2]) == NULL) ==
			    (p.index == f->proof.index));
	p.index = UINT64_MAX;
	assert_ptr_equal(check(f, &p, events[2]), &err_corrupt);
	for (size_t bit = 0; bit < 8 * DIGEST_BYTES; bit++) {
		p = f->proof;
		p.path.hashes[0].b[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_ptr_equal(check(f, &p, events[2]), &err_corrupt);
	}
	p = f->proof;
	p.path.n = 0;
	assert_ptr_equal(check(f, &p, events[2]), &err_corrupt);
	p.path.n = 2;
	assert_ptr_equal(check(f, &p, events[2]), &err_corrupt);
}

/* Whatever single byte of the checkpoint changes, nothing is shown by it. */
static void
test_another_checkpoint(void **state)
{
	struct fixture *f = *state;
	struct tlog_proof p = f->proof;
	char *bytes = arena_cstr(f->arena, p.checkpoint);

	p.checkpoint.p = bytes;
	for (size_t i = 0; i < p.checkpoint.n; i++) {
		const struct err_kind *kind;

		bytes[i] ^= 1;
		kind = check(f, &p, events[2]);
		assert_true(kind == &err_malformed || kind == &err_corrupt);
		bytes[i] ^= 1;
	}
	assert_null(check(f, &p, events[2]));
	p.checkpoint = STR("");
	assert_ptr_equal(check(f, &p, events[2]), &err_malformed);
}

static void
test_an_empty_log(void **state)
{
	struct fixture *f = *state;

	sign(f, 0, sha256(STR("")));
	f->proof.index = 0;
	f->proof.path.n = 0;
	assert_ptr_equal(check(f, &f->proof, STR("")), &err_corrupt);
}

static void
test_another_key_or_origin(void **state)
{
	struct fixture *f = *state;
	struct signer *other = signer_of(2);
	struct checkpoint c;
	struct err e = { 0 };

	assert_int_equal(tlog_proof_check(&f->proof, f->arena, events[2],
			     STR(NAME), signer_public(other), &c, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	signer_free(other);
	err_clear(&e);
	assert_int_equal(tlog_proof_check(&f->proof, f->arena, events[2],
			     STR(NAME "2"), signer_public(f->signer), &c, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_corrupt);
}

/* The log's key, under its name, on the same tree of another origin: the signer
 * refuses to make it, so it is made by hand. */
static void
test_a_note_about_another_log(void **state)
{
	struct fixture *f = *state;
	struct private_key *key;
	struct signature signature;
	struct buf text, token;
	uint8_t seed[32];

	memset(seed, 1, sizeof seed);
	key = private_key_from_seed(seed);
	buf_init(&text, 1000);
	checkpoint_text(&text,
	    &(struct checkpoint){ STR("ledger.example.com/other/sandbox"), 3,
		merkle_node(f->proof.path.hashes[0], merkle_leaf(events[2])) });
	assert_int_equal(
	    private_key_sign(key, buf_str(&text), &signature, NULL), 0);
	buf_init(&token, 68);
	buf_add_u32be(&token, signer_key_id(f->signer));
	buf_add(&token, (struct str){ (const char *)signature.b, 64 });
	buf_addf(&text, "\n\u2014 " NAME " ");
	base64_add(&text, buf_str(&token));
	buf_add_byte(&text, '\n');
	f->proof.checkpoint = buf_str(&text);
	assert_ptr_equal(check(f, &f->proof, events[2]), &err_corrupt);
	buf_fini(&text);
	buf_fini(&token);
	private_key_free(key);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_text),
		TEST(test_round_trip),
		TEST(test_malformed),
		TEST(test_cut_short),
		TEST(test_limits),
		TEST(test_accepted),
		TEST(test_another_event_place_or_hash),
		TEST(test_another_checkpoint),
		TEST(test_an_empty_log),
		TEST(test_another_key_or_origin),
		TEST(test_a_note_about_another_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
