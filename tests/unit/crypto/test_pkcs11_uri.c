#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/crypto/pkcs11_uri.h"

static struct pkcs11_uri uri;

static void
parse(const char *text)
{
	struct err e = { 0 };

	if (pkcs11_uri_parse(str_from(text), &uri, &e))
		fail_msg("%s: %s", text, e.detail);
}

static void
expect(struct str value, const char *wanted)
{
	if (!wanted)
		assert_null(value.p);
	else if (!str_is(value, wanted))
		fail_msg("%.*s is not %s", STR_ARGS(value), wanted);
}

static void
refuse(struct str text)
{
	struct err e = { 0 };

	if (pkcs11_uri_parse(text, &uri, &e) != -1)
		fail_msg("taken: %.*s", STR_ARGS(text));
	assert_ptr_equal(e.kind, &err_malformed);
}

/* Every example of section 4. */
static void
test_rfc_examples(void **state)
{
	(void)state;
	parse("pkcs11:");
	expect(uri.token, NULL);
	parse("pkcs11:object=my-pubkey;type=public");
	expect(uri.object, "my-pubkey");
	expect(uri.type, "public");
	parse("pkcs11:object=my-key;type=private?pin-source=file:/etc/token");
	expect(uri.pin_source, "file:/etc/token");
	parse("pkcs11:token=The%20Software%20PKCS%2311%20Softtoken;"
	      "manufacturer=Snake%20Oil,%20Inc.;model=1.0;"
	      "object=my-certificate;type=cert;"
	      "id=%69%95%3E%5C%F4%BD%EC%91;serial="
	      "?pin-source=file:/etc/token_pin");
	expect(uri.token, "The Software PKCS#11 Softtoken");
	expect(uri.manufacturer, "Snake Oil, Inc.");
	expect(uri.model, "1.0");
	expect(uri.id, "i\x95>\\\xf4\xbd\xec\x91");
	expect(uri.serial, "");
	assert_null(uri.unmatched);
	parse("pkcs11:object=my-sign-key;type=private?module-name=mypkcs11");
	assert_string_equal(uri.unmatched, "module-name");
	parse("pkcs11:object=my-sign-key;type=private"
	      "?module-path=/mnt/libmypkcs11.so.1");
	expect(uri.module_path, "/mnt/libmypkcs11.so.1");
	parse("pkcs11:token=Software%20PKCS%2311%20softtoken;"
	      "manufacturer=Snake%20Oil,%20Inc.?pin-value=the-pin");
	expect(uri.pin_value, "the-pin");
	parse("pkcs11:slot-description=Sun%20Metaslot");
	assert_string_equal(uri.unmatched, "slot-description");
	parse(
	    "pkcs11:library-manufacturer=Snake%20Oil,%20Inc.;"
	    "library-description=Soft%20Token%20Library;library-version=1.23");
	assert_string_equal(uri.unmatched, "library-version");
	parse("pkcs11:token=My%20token%25%20created%20by%20Joe;"
	      "library-version=3;id=%01%02%03%Ba%dd%Ca%fe%04%05%06");
	expect(uri.token, "My token% created by Joe");
	expect(uri.id, "\x01\x02\x03\xba\xdd\xca\xfe\x04\x05\x06");
	parse("pkcs11:token=A%20name%20with%20a%20substring%20%25%3B;"
	      "object=my-certificate;type=cert");
	expect(uri.token, "A name with a substring %;");
	parse("pkcs11:token=Name%20with%20a%20small%20A%20with%20acute:%20"
	      "%C3%A1;object=my-certificate;type=cert");
	expect(uri.token, "Name with a small A with acute: \u00e1");
	parse("pkcs11:token=my-token;object=my-certificate;type=cert;"
	      "vendor-aaa=value-a?pin-source=file:/etc/token_pin"
	      "&vendor-bbb=value-b");
	expect(uri.pin_source, "file:/etc/token_pin");
	assert_string_equal(uri.unmatched, "a vendor's attribute");
}

static void
test_edges(void **state)
{
	char id[9] = { 0 };

	(void)state;
	/* An id is any bytes, NUL too. */
	parse("pkcs11:id=%00%ff");
	assert_int_equal(uri.id.n, 2);
	memcpy(id, uri.id.p, 2);
	assert_memory_equal(id, "\x00\xff", 2);
	/* Each part has its own plain characters. */
	parse("pkcs11:token=a&b?pin-value=a/b?c|d");
	expect(uri.token, "a&b");
	expect(uri.pin_value, "a/b?c|d");
	parse("pkcs11:token=a=b:[]@!$'()*+,-._~?");
	expect(uri.token, "a=b:[]@!$'()*+,-._~");
	parse("pkcs11:?");
	parse("pkcs11:slot-id=17");
	/* What belongs to the other part is a vendor's here. */
	parse("pkcs11:pin-value=1234");
	expect(uri.pin_value, NULL);
	assert_string_equal(uri.unmatched, "a vendor's attribute");
}

static void
test_refused(void **state)
{
	static const char *const bad[] = { "", "pkcs11",
		"pkcs12:", "PKCS11:", " pkcs11:", "pkcs11:token", "pkcs11:=a",
		"pkcs11:;", "pkcs11:token=a;", "pkcs11:;token=a",
		"pkcs11:token=a;;object=b", "pkcs11:token=a;token=a",
		"pkcs11:token=a;token=b", "pkcs11:?pin-value=1&pin-value=1",
		"pkcs11:?&", "pkcs11:?pin-value=1&", "pkcs11:token=%",
		"pkcs11:token=%4", "pkcs11:token=%4g", "pkcs11:token=%zz",
		"pkcs11:token=a b", "pkcs11:token=a/b", "pkcs11:token=a#b",
		"pkcs11:token=\"a\"", "pkcs11:token=a\n", "pkcs11:token=%00",
		"pkcs11:token=%ff", "pkcs11:token=\u00e1",
		"pkcs11:type=", "pkcs11:type=Private",
		"pkcs11:slot-id=", "pkcs11:slot-id=1x",
		"pkcs11:library-version=1.", "pkcs11:library-version=.1",
		"pkcs11:library-version=1.2.3", "pkcs11:to%6ben=a",
		"pkcs11:vendor.x=a", "pkcs11:vendor=%g0" };
	static char large[PKCS11_URI_MAX + 2];

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		refuse(str_from(bad[i]));
	refuse((struct str){ "pkcs11:token=a\0", 15 });
	memset(large, 'a', sizeof large);
	memcpy(large, "pkcs11:token=", 13);
	assert_int_equal(
	    pkcs11_uri_parse((struct str){ large, PKCS11_URI_MAX }, &uri, NULL),
	    0);
	refuse((struct str){ large, PKCS11_URI_MAX + 1 });
}

/* A PIN is in no message. */
static void
test_says_no_value(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(
	    pkcs11_uri_parse(STR("pkcs11:?pin-value=s3cret%"), &uri, &e), -1);
	assert_null(strstr(e.detail, "s3cret"));
	assert_non_null(strstr(e.detail, "pin-value"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rfc_examples),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_says_no_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
