#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/base/io.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/note.h"

#define NAME    "ledger.example.com/acme/sandbox"
#define VECTORS "tests/vectors/note/"
#define DASH    "\u2014 "
/* A signature line's base64: key id 01020304 and one byte. */
#define TINY "AQIDBAU="

/* RFC 8032, test 1: the frozen note is signed with it. */
static const char seed_hex[] =
    "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";

struct fixture {
	struct arena *arena;
	struct signer *signer;
	struct buf buf;
};

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	uint8_t seed[32];

	if (f == NULL || !hex_decode(str_from(seed_hex), seed, sizeof seed))
		return -1;
	f->arena = arena_new();
	f->signer = signer_new(private_key_from_seed(seed), STR(NAME));
	buf_init(&f->buf, NOTE_MAX);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	buf_fini(&f->buf);
	signer_free(f->signer);
	arena_free(f->arena);
	free(f);
	return 0;
}

static struct checkpoint
a_checkpoint(void)
{
	return (struct checkpoint){ .origin = STR(NAME),
		.size = 20852163,
		.root = sha256(STR("root")) };
}

/* The checkpoint's text, signed, in f->buf. */
static struct str
sign_checkpoint(struct fixture *f)
{
	struct checkpoint c = a_checkpoint();
	struct err e = { 0 };
	struct buf text;

	buf_init(&text, 1000);
	checkpoint_text(&text, &c);
	if (note_sign(f->signer, buf_str(&text), &f->buf, &e))
		fail_msg("%s", e.detail);
	buf_fini(&text);
	return buf_str(&f->buf);
}

static struct str
read_vector(struct fixture *f, const char *name)
{
	struct err e = { 0 };
	struct str s;

	if (io_read_file(f->arena, name, NOTE_MAX, &s, &e))
		fail_msg("%s", e.detail);
	return s;
}

static void
test_frozen(void **state)
{
	struct fixture *f = *state;
	struct str wanted = read_vector(f, VECTORS "checkpoint");
	struct str got = sign_checkpoint(f);
	struct buf key;

	assert_int_equal(got.n, wanted.n);
	assert_memory_equal(got.p, wanted.p, got.n);
	buf_init(&key, 1000);
	note_verifier_key(&key, STR(NAME), signer_public(f->signer));
	buf_add_byte(&key, '\n');
	assert_true(str_eq(buf_str(&key), read_vector(f, VECTORS "verifier")));
	buf_fini(&key);
}

/* PeterNeumann's key and note from the documentation of Go's sumdb/note: made
 * and signed by others. */
static void
test_foreign(void **state)
{
	struct fixture *f = *state;
	struct err e = { 0 };
	struct public_key k;
	struct note note;
	struct str key = read_vector(f, VECTORS "foreign-verifier");

	assert_int_equal(public_key_parse(key, &k, &e), 0);
	assert_int_equal(
	    note_parse(f->arena, read_vector(f, VECTORS "foreign"), &note, &e),
	    0);
	assert_true(str_has_prefix(
	    note.text, STR("If you think cryptography is the answer")));
	assert_true(note_verify(&note, STR("PeterNeumann"), k));
	assert_false(note_verify(&note, STR("peterneumann"), k));
}

static void
write_file(const char *name, struct str bytes)
{
	struct err e = { 0 };

	if (io_write_file(name, bytes, 0600, &e))
		fail_msg("%s", e.detail);
}

#define GO_VERIFY                                                  \
	"GO111MODULE=off GOPATH=/usr/share/gocode go run " VECTORS \
	"verify.go \"$dir/verifier\" \"$dir/note\" >\"$dir/out\" 2>&1"

/* Go's sumdb/note, where it is installed, opens what we sign. */
static void
test_go_verifies(void **state)
{
	struct fixture *f = *state;
	char dir[] = "/tmp/test_note.XXXXXX";
	struct str note = sign_checkpoint(f);
	struct buf key;

	if (system("command -v go >/dev/null && "
		   "test -d /usr/share/gocode/src/golang.org/x/mod") != 0)
		skip();
	assert_non_null(mkdtemp(dir));
	assert_int_equal(setenv("dir", dir, 1), 0);
	buf_init(&key, 1000);
	note_verifier_key(&key, STR(NAME), signer_public(f->signer));
	write_file(arena_printf(f->arena, "%s/verifier", dir), buf_str(&key));
	write_file(arena_printf(f->arena, "%s/note", dir), note);
	assert_int_equal(system(GO_VERIFY), 0);
	f->buf.p[0] ^= 1;
	write_file(arena_printf(f->arena, "%s/note", dir), note);
	assert_int_not_equal(system(GO_VERIFY), 0);
	buf_fini(&key);
	assert_int_equal(system("rm -r \"$dir\""), 0);
}

static void
test_round_trip(void **state)
{
	struct fixture *f = *state;
	struct str signed_note = sign_checkpoint(f);
	struct checkpoint wanted = a_checkpoint(), got;
	struct err e = { 0 };
	struct note note;

	assert_int_equal(note_parse(f->arena, signed_note, &note, &e), 0);
	assert_int_equal(note.n, 1);
	assert_int_equal(note.signatures[0].key_id, signer_key_id(f->signer));
	assert_true(note_verify(&note, STR(NAME), signer_public(f->signer)));
	assert_int_equal(checkpoint_parse(note.text, &got, &e), 0);
	assert_true(str_eq(got.origin, wanted.origin));
	assert_int_equal(got.size, wanted.size);
	assert_true(digest_eq(got.root, wanted.root));
}

/* Whatever single byte changes, the note is not accepted. */
static void
test_tampering(void **state)
{
	struct fixture *f = *state;
	struct str s = sign_checkpoint(f);
	char *bytes = arena_cstr(f->arena, s);

	for (size_t i = 0; i < s.n; i++) {
		struct err e = { 0 };
		struct note note;

		bytes[i] ^= 1;
		if (note_parse(
			f->arena, (struct str){ bytes, s.n }, &note, &e) == 0)
			assert_false(note_verify(
			    &note, STR(NAME), signer_public(f->signer)));
		bytes[i] ^= 1;
	}
}

static struct str
with(struct fixture *f, struct str note, const char *line)
{
	return arena_strf(f->arena, "%.*s%s", STR_ARGS(note), line);
}

/* Others' signatures are passed over; a bad one under our name and id is not.
 */
static void
test_more_signatures(void **state)
{
	struct fixture *f = *state;
	struct public_key public = signer_public(f->signer);
	struct str ours = sign_checkpoint(f);
	struct err e = { 0 };
	struct note note;
	char zeros[BASE64_LENGTH(68) + 1];
	uint8_t bad[68] = { 0 };

	assert_int_equal(
	    note_parse(
		f->arena, with(f, ours, DASH "witness " TINY "\n"), &note, &e),
	    0);
	assert_int_equal(note.n, 2);
	assert_true(str_is(note.signatures[1].name, "witness"));
	assert_int_equal(note.signatures[1].key_id, 0x01020304);
	assert_true(str_is(note.signatures[1].bytes, "\x05"));
	assert_true(note_verify(&note, STR(NAME), public));
	assert_false(note_verify(&note, STR("witness"), public));

	for (int i = 0; i < 4; i++)
		bad[i] = (uint8_t)(signer_key_id(f->signer) >> (24 - 8 * i));
	base64_encode(bad, sizeof bad, zeros);
	assert_int_equal(
	    note_parse(f->arena,
		with(f, ours,
		    arena_printf(f->arena, DASH "%s %s\n", NAME, zeros)),
		&note, &e),
	    0);
	assert_false(note_verify(&note, STR(NAME), public));
	base64_encode(bad, 20, zeros);
	assert_int_equal(
	    note_parse(f->arena,
		with(f, ours,
		    arena_printf(f->arena, DASH "%s %s\n", NAME, zeros)),
		&note, &e),
	    0);
	assert_false(note_verify(&note, STR(NAME), public));
}

static void
expect_no_note(struct fixture *f, struct str s)
{
	struct err e = { 0 };
	struct note note;

	if (note_parse(f->arena, s, &note, &e) == 0)
		fail_msg("accepted: %.*s", STR_ARGS(s));
	assert_ptr_equal(e.kind, &err_malformed);
}

static void
test_malformed(void **state)
{
	static const char *const bad[] = { "", "\n", "\n\n", "text\n",
		"text\n\n", "text\n" DASH "a " TINY "\n",
		"text\n\n" DASH "a " TINY, "text\n\n- a " TINY "\n",
		"text\n\n" DASH " " TINY "\n", "text\n\n" DASH "a\n",
		"text\n\n" DASH "a \n", "text\n\n" DASH "a+b " TINY "\n",
		"text\n\n" DASH "a b " TINY "\n",
		"text\n\n" DASH "a " TINY " \n", "text\n\n" DASH "a AQIDBA==\n",
		"text\n\n" DASH "a AQIDBAV=\n", "text\n\n" DASH "a AQIDBAU\n",
		"text\n\n" DASH "a\u00a0b " TINY "\n",
		"text\n\n" DASH "a\u3000b " TINY "\n",
		"te\txt\n\n" DASH "a " TINY "\n",
		"text\r\n\n" DASH "a " TINY "\n",
		"te\xffxt\n\n" DASH "a " TINY "\n",
		"text\n\n" DASH "a " TINY "\n\n" };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		expect_no_note(f, str_from(bad[i]));
	expect_no_note(f, STR("te\0xt\n\n" DASH "a " TINY "\n"));
}

/* "text" and n signature lines. */
static struct str
note_of(struct fixture *f, size_t n)
{
	buf_reset(&f->buf);
	buf_add_cstr(&f->buf, "text\n\n");
	for (size_t i = 0; i < n; i++)
		buf_add_cstr(&f->buf, DASH "a " TINY "\n");
	return buf_str(&f->buf);
}

static void
test_limits(void **state)
{
	struct fixture *f = *state;
	struct err e = { 0 };
	struct note note;
	char *large = arena_alloc(f->arena, NOTE_MAX + 1);
	struct str tail = STR("\n\n" DASH "a " TINY "\n");

	assert_int_equal(note_parse(f->arena, note_of(f, 100), &note, &e), 0);
	assert_int_equal(note.n, 100);
	expect_no_note(f, note_of(f, 101));
	memset(large, 'x', NOTE_MAX + 1);
	memcpy(large + NOTE_MAX - tail.n, tail.p, tail.n);
	assert_int_equal(
	    note_parse(f->arena, (struct str){ large, NOTE_MAX }, &note, &e),
	    0);
	memcpy(large + NOTE_MAX + 1 - tail.n, tail.p, tail.n);
	expect_no_note(f, (struct str){ large, NOTE_MAX + 1 });
}

/* The text may hold blank lines and even lines like signatures. */
static void
test_last_blank_line(void **state)
{
	struct fixture *f = *state;
	struct err e = { 0 };
	struct note note;

	assert_int_equal(
	    note_parse(f->arena,
		STR("a\n\n" DASH "x " TINY "\n\n" DASH "y " TINY "\n"), &note,
		&e),
	    0);
	assert_true(str_is(note.text, "a\n\n" DASH "x " TINY "\n"));
	assert_int_equal(note.n, 1);
	assert_true(str_is(note.signatures[0].name, "y"));
}

static void
test_sign_refuses(void **state)
{
	struct fixture *f = *state;
	static const char *const bad[] = { NAME, NAME "\n1", NAME "\n\t\n",
		NAME "\n\xff\n", "other\n1\n", "" };

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct err e = { 0 };

		assert_int_equal(
		    note_sign(f->signer, str_from(bad[i]), &f->buf, &e), -1);
		assert_ptr_equal(e.kind, &err_internal);
		assert_int_equal(f->buf.n, 0);
	}
}

#define ROOT "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="

static void
test_checkpoint_forms(void **state)
{
	static const char *const bad[] = { "", "\n", "o\n1\n", "o\n1\n" ROOT,
		"o\n1\n" ROOT "\nextension\n", "o\n1\n" ROOT "\n\n",
		"\n1\n" ROOT "\n", "o\n\n" ROOT "\n", "o\n01\n" ROOT "\n",
		"o\n+1\n" ROOT "\n", "o\n-1\n" ROOT "\n", "o\n 1\n" ROOT "\n",
		"o\n0x1\n" ROOT "\n", "o\n18446744073709551616\n" ROOT "\n",
		"o\n1\n\n", "o\n1\nAAAA\n", "o\n1\n" ROOT "AAAA\n",
		"o\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2J=\n" };
	struct checkpoint c;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(checkpoint_parse(STR("o\n0\n" ROOT "\n"), &c, &e), 0);
	assert_int_equal(c.size, 0);
	assert_int_equal(
	    checkpoint_parse(
		STR("o\n18446744073709551615\n" ROOT "\n"), &c, &e),
	    0);
	assert_true(c.size == UINT64_MAX);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		err_clear(&e);
		if (checkpoint_parse(str_from(bad[i]), &c, &e) == 0)
			fail_msg("accepted: %s", bad[i]);
		assert_ptr_equal(e.kind, &err_malformed);
	}
}

static void
test_origins(void **state)
{
	static const char *const good[] = { "a.b/c", NAME, "a-1.b.c/d/e_f.g",
		"a.b/.", "-.-/-" };
	static const char *const bad[] = { "", "a", "a.b", "a/b", "a.b/",
		"/a.b/c", "a..b/c", ".a.b/c", "a.b./c", "A.b/c", "a.b/C",
		"a.b/c/", "a.b//c", "a_b.c/d", "a.b/c d", "a.b/c\n", "a.b/+",
		"a.b/\u00e9" };
	char long_one[202];

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		assert_true(origin_is_valid(str_from(good[i])));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (origin_is_valid(str_from(bad[i])))
			fail_msg("accepted: %s", bad[i]);
	assert_false(origin_is_valid(STR_NONE));
	assert_false(origin_is_valid(STR("a.b/c\0")));
	memset(long_one, 'a', sizeof long_one);
	memcpy(long_one, "a.b/", 4);
	assert_true(origin_is_valid((struct str){ long_one, 200 }));
	assert_false(origin_is_valid((struct str){ long_one, 201 }));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_frozen),
		TEST(test_foreign),
		TEST(test_go_verifies),
		TEST(test_round_trip),
		TEST(test_tampering),
		TEST(test_more_signatures),
		TEST(test_malformed),
		TEST(test_limits),
		TEST(test_last_blank_line),
		TEST(test_sign_refuses),
		TEST(test_checkpoint_forms),
		TEST(test_origins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
