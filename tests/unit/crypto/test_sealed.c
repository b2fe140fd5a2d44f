/*
 * AES-256-GCM against published vectors, and personal values: frozen ones made
 * by another program, what is bound to them, and every way of changing them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>

#include "ledger/base/io.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/hash.h"
#include "ledger/crypto/sealed.h"

#define SUBJECT "01980a3c-7c00-7ab7-8def-0123456789ab"

/* McGrew and Viega, "The Galois/Counter Mode of Operation", appendix B: test
 * cases 13, 14 and 16. */
static const struct {
	const char *key, *nonce, *aad, *clear, *sealed;
} published[] = {
	{ "0000000000000000000000000000000000000000000000000000000000000000",
	    "000000000000000000000000", "", "",
	    "530f8afbc74536b9a963b4f1c4cb738b" },
	{ "0000000000000000000000000000000000000000000000000000000000000000",
	    "000000000000000000000000", "", "00000000000000000000000000000000",
	    "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919" },
	{ "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
	    "cafebabefacedbaddecaf888",
	    "feedfacedeadbeeffeedfacedeadbeefabaddad2",
	    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
	    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
	    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
	    "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
	    "76fc6ece0f4e1768cddf8853bb2d551b" },
};

static struct str
bytes_of(struct arena *a, const char *hex)
{
	size_t n = strlen(hex) / 2;
	char *bytes = arena_alloc(a, n + 1);

	assert_true(hex_decode(str_from(hex), bytes, n));
	return (struct str){ bytes, n };
}

static const uint8_t *
raw(struct arena *a, const char *hex)
{
	return (const uint8_t *)bytes_of(a, hex).p;
}

static void
test_published_vectors(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
		const uint8_t *key = raw(a, published[i].key);
		const uint8_t *nonce = raw(a, published[i].nonce);
		struct str aad = bytes_of(a, published[i].aad);
		struct str clear = bytes_of(a, published[i].clear);
		struct str sealed = bytes_of(a, published[i].sealed);
		uint8_t out[128];

		aead_encrypt(key, nonce, aad, clear, out);
		assert_memory_equal(out, sealed.p, sealed.n);
		memset(out, 0xff, sizeof out);
		assert_true(aead_decrypt(key, nonce, aad, sealed, out));
		assert_memory_equal(out, clear.p, clear.n);
	}
	arena_free(a);
}

/* Every single bit of text, tag and additional data; and nothing of a text that
 * was not right is left. */
static void
test_changed_bits(void **state)
{
	struct arena *a = arena_new();
	const uint8_t *key = raw(a, published[2].key);
	const uint8_t *nonce = raw(a, published[2].nonce);
	struct str aad = bytes_of(a, published[2].aad);
	struct str sealed = bytes_of(a, published[2].sealed);
	char *changed = arena_alloc(a, sealed.n);
	char *data = arena_alloc(a, aad.n);
	static const uint8_t zeros[128];
	uint8_t out[128] = { 0 };

	(void)state;
	for (size_t bit = 0; bit < sealed.n * 8; bit++) {
		memcpy(changed, sealed.p, sealed.n);
		changed[bit / 8] ^= (char)(1 << bit % 8);
		assert_false(aead_decrypt(
		    key, nonce, aad, (struct str){ changed, sealed.n }, out));
		assert_memory_equal(out, zeros, sealed.n - AEAD_TAG);
	}
	for (size_t bit = 0; bit < aad.n * 8; bit++) {
		memcpy(data, aad.p, aad.n);
		data[bit / 8] ^= (char)(1 << bit % 8);
		assert_false(aead_decrypt(
		    key, nonce, (struct str){ data, aad.n }, sealed, out));
	}
	for (size_t n = 0; n < sealed.n; n++)
		assert_false(aead_decrypt(
		    key, nonce, aad, str_slice(sealed, 0, n), out));
	arena_free(a);
}

struct fixture {
	struct arena *a;
	struct content_key key;
	struct sealed_place place;
};

/* The key and the place of the frozen events. */
static struct fixture
fixture(void)
{
	struct fixture f = { .a = arena_new() };

	for (size_t i = 0; i < AEAD_KEY; i++)
		f.key.secret[i] = (uint8_t)i;
	uid_parse(STR("4f1b0c9e-6a52-4d7e-9b1d-2f8e3c5a7d60"), &f.key.uid);
	f.place.origin = STR("ledger.example.com/acme/sandbox");
	uid_parse(STR(SUBJECT), &f.place.subject);
	f.place.member = "name";
	return f;
}

static int
open_text(const struct fixture *f, const struct sealed_text *sealed,
    struct str *clear)
{
	struct err e = { 0 };
	int rc = sealed_text_open(f->a, &f->key, &f->place, sealed, clear, &e);

	assert_true((rc == 0) == (e.kind == NULL));
	assert_true(rc == 0 || e.kind == &err_corrupt);
	return rc;
}

/* tests/vectors/events, made by another program. */
static void
test_frozen(void **state)
{
	struct fixture f = fixture();
	struct sealed_text name, account;
	struct err e = { 0 };
	struct str text, clear;
	struct json *v;

	(void)state;
	assert_int_equal(
	    io_read_file(f.a,
		"tests/vectors/events/counterparty.registered.json", 65536,
		&text, &e),
	    0);
	assert_int_equal(
	    json_parse(f.a, text, &json_limits_default, &v, &e), 0);
	assert_int_equal(shape_decode_json(&sealed_text_shape,
			     json_get(v, "name"), f.a, &name, &e),
	    0);
	assert_int_equal(shape_decode_json(&sealed_text_shape,
			     json_get(v, "account"), f.a, &account, &e),
	    0);
	assert_int_equal(open_text(&f, &name, &clear), 0);
	assert_true(str_is(clear, "Erika Musterfrau"));
	/* A value does not pass for another member's. */
	assert_int_equal(open_text(&f, &account, &clear), -1);
	f.place.member = "account";
	assert_int_equal(open_text(&f, &account, &clear), 0);
	assert_true(str_is(clear, "DE89370400440532013000"));
	arena_free(f.a);
}

static void
test_bound_to_its_place(void **state)
{
	struct fixture f = fixture(), other = f;
	const struct sealed_text *s =
	    sealed_text_make(f.a, &f.key, &f.place, STR("Erika"));
	struct str clear;

	(void)state;
	assert_int_equal(open_text(&f, s, &clear), 0);
	assert_true(str_is(clear, "Erika"));
	other.place.origin = STR("ledger.example.com/acme/production");
	assert_int_equal(open_text(&other, s, &clear), -1);
	other.place = f.place;
	other.place.subject.b[15] ^= 1;
	assert_int_equal(open_text(&other, s, &clear), -1);
	other.place = f.place;
	other.key.secret[31] ^= 1;
	assert_int_equal(open_text(&other, s, &clear), -1);
	arena_free(f.a);
}

/* Hash and commitment are held against what is opened. */
static void
test_held_against_the_event(void **state)
{
	struct fixture f = fixture();
	const struct sealed_text *one =
	    sealed_text_make(f.a, &f.key, &f.place, STR("same"));
	const struct sealed_text *two =
	    sealed_text_make(f.a, &f.key, &f.place, STR("same"));
	struct sealed_text mixed = *one;
	struct str clear;

	(void)state;
	mixed.commitment = two->commitment;
	assert_int_equal(open_text(&f, &mixed, &clear), -1);
	mixed = *one;
	mixed.ciphertext_sha256 = two->ciphertext_sha256;
	assert_int_equal(open_text(&f, &mixed, &clear), -1);
	mixed = *one;
	mixed.ciphertext = STR("AAAA");
	assert_int_equal(open_text(&f, &mixed, &clear), -1);
	mixed.ciphertext = STR("not base64");
	assert_int_equal(open_text(&f, &mixed, &clear), -1);
	arena_free(f.a);
}

/* Equal texts look different everywhere, and the commitment is that of salt and
 * text: who has both can show it, who has the text alone cannot even guess. */
static void
test_commitment(void **state)
{
	struct fixture f = fixture();
	const struct sealed_text *one =
	    sealed_text_make(f.a, &f.key, &f.place, STR("same"));
	const struct sealed_text *two =
	    sealed_text_make(f.a, &f.key, &f.place, STR("same"));
	uint8_t salted[SEALED_SALT + 4];
	char hex[DIGEST_HEX + 1], aad[200];
	struct err e = { 0 };
	struct str box;

	(void)state;
	assert_false(str_eq(one->ciphertext, two->ciphertext));
	assert_false(str_eq(one->commitment.hex, two->commitment.hex));
	digest_hex(sha256(STR("same")), hex);
	assert_false(str_is(one->commitment.hex, hex));

	assert_int_equal(sealed_text_box(f.a, one, &box, &e), 0);
	assert_int_equal(box.n, SEALED_OVERHEAD + 4);
	snprintf(aad, sizeof aad,
	    "probity-content/v1\n%.*s\n" SUBJECT "\nname\n",
	    STR_ARGS(f.place.origin));
	assert_true(aead_decrypt(f.key.secret, (const uint8_t *)box.p,
	    str_from(aad), str_slice(box, AEAD_NONCE, box.n), salted));
	assert_memory_equal(salted + SEALED_SALT, "same", 4);
	digest_hex(
	    sha256((struct str){ (const char *)salted, sizeof salted }), hex);
	assert_true(str_is(one->commitment.hex, hex));
	arena_free(f.a);
}

static void
test_payload(void **state)
{
	struct fixture f = fixture();
	const struct sealed_text *about;
	size_t n = 1 << 20;
	char *content = arena_alloc(f.a, n), *changed;
	struct str box, clear;
	struct err e = { 0 };

	(void)state;
	random_bytes(content, n);
	box = sealed_payload_make(
	    f.a, &f.key, &f.place, (struct str){ content, n }, &about);
	assert_null(about->ciphertext.p);
	assert_int_equal(
	    sealed_payload_open(f.a, &f.key, &f.place, about, box, &clear, &e),
	    0);
	assert_int_equal(clear.n, n);
	assert_memory_equal(clear.p, content, n);
	changed = arena_alloc(f.a, box.n);
	memcpy(changed, box.p, box.n);
	changed[n / 2] ^= 1;
	assert_int_equal(sealed_payload_open(f.a, &f.key, &f.place, about,
			     (struct str){ changed, box.n }, &clear, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	/* And the empty content has a place too. */
	box = sealed_payload_make(f.a, &f.key, &f.place, STR(""), &about);
	assert_int_equal(
	    sealed_box_open(f.a, &f.key, &f.place, box, &clear, NULL), 0);
	assert_int_equal(clear.n, 0);
	arena_free(f.a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published_vectors),
		cmocka_unit_test(test_changed_bits),
		cmocka_unit_test(test_frozen),
		cmocka_unit_test(test_bound_to_its_place),
		cmocka_unit_test(test_held_against_the_event),
		cmocka_unit_test(test_commitment),
		cmocka_unit_test(test_payload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
