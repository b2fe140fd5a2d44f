#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/codec/json.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/dsse.h"

static const uint8_t seed[32] = { 9 };

struct once {
	struct str all;
	bool given;
};

static int
once_rewind(void *arg, struct err *e)
{
	(void)e;
	((struct once *)arg)->given = false;
	return 0;
}

static int
once_next(void *arg, struct str *piece, struct err *e)
{
	struct once *o = arg;

	(void)e;
	*piece = o->given ? STR("") : o->all;
	o->given = true;
	return 0;
}

/* The example in the protocol's document. */
static void
test_pae(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 100);
	dsse_pae_head(&b, STR("http://example.com/HelloWorld"), 11);
	buf_add_cstr(&b, "hello world");
	assert_true(str_is(buf_str(&b),
	    "DSSEv1 29 http://example.com/HelloWorld 11 hello world"));
	buf_fini(&b);
}

static void
test_sign_and_verify(void **state)
{
	struct private_key *k = private_key_from_seed(seed);
	struct public_key key = private_key_public(k);
	struct once o = { .all = STR("{}") };
	struct ed25519_source source = { once_rewind, once_next, &o };
	struct str pae = STR("DSSEv1 28 " DSSE_IN_TOTO " 2 {}");
	struct ed25519_verifier *v;
	struct signature sig;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(
	    dsse_sign(k, STR(DSSE_IN_TOTO), 2, &source, &sig, NULL), 0);
	assert_true(ed25519_verify_openssl(key, pae, sig));
	v = dsse_verify_begin(key, STR(DSSE_IN_TOTO), 2, sig);
	ed25519_verify_add(v, STR("{}"));
	assert_true(ed25519_verify_end(v));
	v = dsse_verify_begin(key, STR("text/plain"), 2, sig);
	ed25519_verify_add(v, STR("{}"));
	assert_false(ed25519_verify_end(v));
	/* A length that is not the payload's. */
	for (uint64_t n = 1; n <= 3; n += 2, err_clear(&e)) {
		assert_int_equal(
		    dsse_sign(k, STR("t"), n, &source, &sig, &e), -1);
		assert_ptr_equal(e.kind, &err_internal);
	}
	private_key_free(k);
}

static void
test_envelope(void **state)
{
	struct private_key *k = private_key_from_seed(seed);
	struct public_key key = private_key_public(k);
	struct signature sig, got;
	struct arena *a = arena_new();
	char keyid[DSSE_KEYID + 1];
	const struct json *one;
	struct json *v;
	struct buf b;
	size_t n;

	assert_int_equal(private_key_sign(k, STR("x"), &sig, NULL), 0);
	(void)state;
	buf_init(&b, 1000);
	dsse_head(&b);
	base64_add(&b, STR("{}"));
	dsse_tail(&b, STR(DSSE_IN_TOTO), key, sig);
	assert_int_equal(
	    json_parse(a, buf_str(&b), &json_limits_default, &v, NULL), 0);
	assert_true(str_is(json_get_str(v, "payload"), "e30="));
	assert_true(str_is(json_get_str(v, "payloadType"), DSSE_IN_TOTO));
	one = json_get(v, "signatures")->first;
	dsse_keyid(key, keyid);
	assert_true(str_is(json_get_str(one, "keyid"), keyid));
	assert_true(
	    base64_decode(json_get_str(one, "sig"), got.b, sizeof got.b, &n));
	assert_memory_equal(got.b, sig.b, sizeof sig.b);
	buf_fini(&b);
	arena_free(a);
	private_key_free(k);
}

/* As `ssh-keygen -lf` prints it for the key of tests/vectors/ledger. */
static void
test_keyid(void **state)
{
	struct public_key key;
	char keyid[DSSE_KEYID + 1];

	(void)state;
	assert_int_equal(
	    public_key_parse(STR("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHm1Vi6P"
				 "5lT5QHixEuipi6eQH4U65pW+1+DjkQutBJZk"),
		&key, NULL),
	    0);
	dsse_keyid(key, keyid);
	assert_string_equal(
	    keyid, "SHA256:eVkCKHnc5RjanBduU2vmOecbFl3M9wOgHdk24INJytY");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pae),
		cmocka_unit_test(test_sign_and_verify),
		cmocka_unit_test(test_envelope),
		cmocka_unit_test(test_keyid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
