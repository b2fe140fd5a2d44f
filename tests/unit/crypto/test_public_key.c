#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/codec/text.h"
#include "ledger/crypto/note.h"

/* RFC 8032 test 1's key in each form, made with ssh-keygen and openssl pkey. */
#define BLOB \
	"AAAAC3NzaC1lZDI1NTE5AAAAINdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea"
#define PEM                                                              \
	"-----BEGIN PUBLIC KEY-----\n"                                   \
	"MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n" \
	"-----END PUBLIC KEY-----\n"
#define OTHER \
	"AAAAC3NzaC1lZDI1NTE5AAAAID1AF8PoQ4lakrcKp00bfrycmCzPLsSWjMDNVfEq9GYM"

static const char key_hex[] =
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

static struct public_key
test_key(void)
{
	struct public_key k;

	assert_true(hex_decode(str_from(key_hex), k.b, sizeof k.b));
	return k;
}

static void
expect_key(const char *text)
{
	struct err e = { 0 };
	struct public_key k;

	if (public_key_parse(str_from(text), &k, &e))
		fail_msg("%s: %s", text, e.detail);
	assert_true(public_key_eq(k, test_key()));
}

static void
expect_none(const char *text)
{
	struct err e = { 0 };
	struct public_key k;

	if (public_key_parse(str_from(text), &k, &e) == 0)
		fail_msg("accepted: %s", text);
	assert_ptr_equal(e.kind, &err_malformed);
}

static void
test_ssh_lines(void **state)
{
	(void)state;
	expect_key("ssh-ed25519 " BLOB);
	expect_key("ssh-ed25519 " BLOB " someone@example.com\n");
	expect_key("  ssh-ed25519\t" BLOB "\tA comment of words\r\n");
	expect_key("restrict,command=\"run ssh-ed25519 " OTHER
		   "\" ssh-ed25519 " BLOB " c");
	expect_key("command=\"say \\\" ssh-ed25519 " OTHER
		   " \\\"\" ssh-ed25519 " BLOB);
	expect_key("a@example.com,b@example.com ssh-ed25519 " BLOB);
	expect_key("a@example.com namespaces=\"git,file\" ssh-ed25519 " BLOB);
}

static void
test_ssh_lines_refused(void **state)
{
	(void)state;
	expect_none("");
	expect_none("ssh-ed25519");
	expect_none(BLOB);
	expect_none("ssh-ed25519 AAAA");
	expect_none("ssh-rsa " BLOB);
	/* A comment is not a key. */
	expect_none("ssh-rsa AAAA ssh-ed25519 " BLOB);
	expect_none("sk-ssh-ed25519@openssh.com AAAA ssh-ed25519 " BLOB);
	expect_none("a b c ssh-ed25519 " BLOB);
	/* One key, not two. */
	expect_none("ssh-ed25519 " BLOB "\nssh-ed25519 " OTHER "\n");
	expect_none("\"ssh-ed25519 " BLOB "\"");
}

static void
test_pem(void **state)
{
	(void)state;
	expect_key(PEM);
	expect_key("\n" PEM "\n");
	expect_none(PEM PEM);
	expect_none("-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n");
	expect_none("-----BEGIN PUBLIC KEY-----");
	/* X25519's identifier. */
	expect_none("-----BEGIN PUBLIC KEY-----\n"
		    "MCowBQYDK2VuAyEA11qYAYKxCrfVS/"
		    "7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
		    "-----END PUBLIC KEY-----\n");
}

static void
test_verifier_key(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 1000);
	note_verifier_key(&b, STR("example.com/log"), test_key());
	buf_add_byte(&b, '\0');
	assert_false(buf_failed(&b));
	expect_key(b.p);
	b.p[0] = 'f'; /* another name: the hash no longer fits */
	expect_none(b.p);
	buf_fini(&b);
	expect_none("+00000000+AQ==");
	expect_none("a+b");
}

/* Points of small order, and bytes that are no point. */
static void
test_bad_points(void **state)
{
	char text[PUBLIC_KEY_SSH + 1];
	struct public_key bad[] = { { { 1 } }, { { 0 } }, { { 2 } } };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		public_key_ssh(bad[i], text);
		expect_none(text);
	}
}

static void
test_too_long(void **state)
{
	static char text[20000];
	struct err e = { 0 };
	struct public_key k;

	(void)state;
	memset(text, ' ', sizeof text);
	memcpy(text, "ssh-ed25519 " BLOB, sizeof "ssh-ed25519 " BLOB - 1);
	assert_int_equal(
	    public_key_parse((struct str){ text, sizeof text }, &k, &e), -1);
	assert_ptr_equal(e.kind, &err_malformed);
}

static void
test_forms(void **state)
{
	char text[PUBLIC_KEY_SSH + 1];
	uint8_t blob[PUBLIC_KEY_BLOB];
	uint8_t expected[PUBLIC_KEY_BLOB];
	size_t n;

	(void)state;
	public_key_ssh(test_key(), text);
	assert_string_equal(text, "ssh-ed25519 " BLOB);
	assert_int_equal(strlen(text), PUBLIC_KEY_SSH);
	public_key_blob(test_key(), blob);
	assert_true(base64_decode(STR(BLOB), expected, sizeof expected, &n));
	assert_memory_equal(blob, expected, sizeof blob);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ssh_lines),
		cmocka_unit_test(test_ssh_lines_refused),
		cmocka_unit_test(test_pem),
		cmocka_unit_test(test_verifier_key),
		cmocka_unit_test(test_bad_points),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
