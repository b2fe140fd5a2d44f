#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/base/io.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/cosignature.h"

#define NAME    "witness.example.com/w1"
#define VECTORS "tests/vectors/note/"

struct fixture {
	struct arena *a;
	struct str key_text; /* without its LF */
	struct str bytes;    /* the cosigned note */
	struct witness_key key;
};

static struct str
read_vector(struct arena *a, const char *name)
{
	struct err e = { 0 };
	struct str s;

	if (io_read_file(a, name, NOTE_MAX, &s, &e))
		fail_msg("%s", e.detail);
	return s;
}

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct err e = { 0 };

	f->a = arena_new();
	f->key_text = read_vector(f->a, VECTORS "witness");
	f->key_text.n--;
	f->bytes = read_vector(f->a, VECTORS "cosigned");
	*state = f;
	return witness_key_parse(f->key_text, &f->key, &e);
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	arena_free(f->a);
	free(f);
	return 0;
}

static bool
verifies(
    struct fixture *f, struct str bytes, struct str *line, struct instant *at)
{
	struct err e = { 0 };
	struct note note;

	if (note_parse(f->a, bytes, &note, &e))
		fail_msg("%s", e.detail);
	return cosignature_verify(&note, &f->key, f->a, line, at);
}

static void
test_frozen(void **state)
{
	struct fixture *f = *state;
	char text[INSTANT_TEXT + 1];
	struct instant at = { 0 };
	struct str line = STR_NONE;

	assert_true(str_is(f->key.name, NAME));
	assert_true(verifies(f, f->bytes, &line, &at));
	assert_true(str_has_suffix(f->bytes, line));
	assert_true(str_has_prefix(line, STR("\u2014 " NAME " ")));
	instant_format(at, text);
	assert_string_equal(text, "2026-01-02T03:04:06.000000Z");
}

/* A reader of the log's own signature is not disturbed by a cosignature. */
static void
test_note_stays_good(void **state)
{
	struct fixture *f = *state;
	struct str log = read_vector(f->a, VECTORS "verifier");
	struct err e = { 0 };
	struct public_key k;
	struct note note;

	assert_int_equal(public_key_parse(log, &k, &e), 0);
	assert_int_equal(note_parse(f->a, f->bytes, &note, &e), 0);
	assert_int_equal(note.n, 2);
	assert_true(note_verify(&note, str_take(&log, '+'), k));
}

/* The witness's signature with one byte of what it states made another. */
static struct str
altered(struct fixture *f, size_t i)
{
	struct note note;
	struct err e = { 0 };
	struct buf b;
	uint8_t token[76];
	struct str out;

	assert_int_equal(note_parse(f->a, f->bytes, &note, &e), 0);
	memcpy(token, "\x00\x00\x00\x00", 4);
	for (size_t k = 0; k < 4; k++)
		token[k] = (uint8_t)(note.signatures[1].key_id >> (24 - 8 * k));
	memcpy(token + 4, note.signatures[1].bytes.p, 72);
	token[i] ^= 1;
	buf_init(&b, NOTE_MAX);
	buf_addf(&b, "%.*s\n\u2014 " NAME " ", STR_ARGS(note.text));
	base64_add(&b, (struct str){ (const char *)token, sizeof token });
	buf_add_byte(&b, '\n');
	out = arena_str(f->a, buf_str(&b));
	buf_fini(&b);
	return out;
}

static void
test_every_byte_counts(void **state)
{
	struct fixture *f = *state;
	struct instant at;
	struct str line;

	for (size_t i = 0; i < 76; i++)
		if (verifies(f, altered(f, i), &line, &at))
			fail_msg("byte %zu may be another", i);
}

static void
test_other_text(void **state)
{
	struct fixture *f = *state;
	char *other = arena_cstr(f->a, f->bytes);
	struct instant at;
	struct str line;

	*strstr(other, "20852163") = '3';
	assert_false(verifies(f, str_from(other), &line, &at));
}

/* A bad one beside a good one: the witness's word is not clear. */
static void
test_bad_beside_good(void **state)
{
	struct fixture *f = *state;
	struct str bad = altered(f, 70);
	const char *last = memrchr(bad.p, '\n', bad.n - 1);
	struct instant at;
	struct str line;

	assert_false(verifies(f,
	    arena_strf(f->a, "%.*s%s", STR_ARGS(f->bytes), last + 1), &line,
	    &at));
	assert_false(
	    verifies(f, read_vector(f->a, VECTORS "checkpoint"), &line, &at));
}

static void
test_bad_keys(void **state)
{
	static const char *const bad[] = { "", "w", "w+", "w+01020304",
		"w+01020304+", "w+01020304+AA==", "+01020304+AA==",
		"w+0102030G+AA==", "two words+01020304+AA==" };
	struct fixture *f = *state;
	struct str log = read_vector(f->a, VECTORS "verifier");
	char *other = arena_cstr(f->a, f->key_text);
	struct witness_key k;
	struct err e = { 0 };

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (witness_key_parse(str_from(bad[i]), &k, &e) == 0)
			fail_msg("accepted: %s", bad[i]);
	log.n--;
	err_clear(&e);
	assert_int_equal(witness_key_parse(log, &k, &e), -1);
	assert_non_null(strstr(e.detail, "not for cosignatures"));
	other[0] = 'W';
	err_clear(&e);
	assert_int_equal(witness_key_parse(str_from(other), &k, &e), -1);
	assert_non_null(strstr(e.detail, "hash"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_frozen),
		TEST(test_note_stays_good),
		TEST(test_every_byte_counts),
		TEST(test_other_text),
		TEST(test_bad_beside_good),
		TEST(test_bad_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
