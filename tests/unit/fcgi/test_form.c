#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fcgi/oauth.h"
#include "ledger/codec/text.h"

static struct arena *a;

static int
setup(void **state)
{
	(void)state;
	a = arena_new();
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_free(a);
	return 0;
}

static struct form
decode(const char *body)
{
	struct form form;
	struct err e = { 0 };

	assert_int_equal(form_decode(a, str_from(body), &form, &e), 0);
	return form;
}

static void
assert_value(const struct form *form, const char *name, const char *value)
{
	assert_true(str_is(form_get(form, name), value));
}

static void
test_names_and_values(void **state)
{
	struct form form =
	    decode("a=1&b=two+words&c%20d=%2B%26%3D&&e&f=&g=h=i");

	(void)state;
	assert_int_equal(form.n, 6);
	assert_value(&form, "a", "1");
	assert_value(&form, "b", "two words");
	assert_value(&form, "c d", "+&=");
	assert_value(&form, "g", "h=i");
	/* Without a value it is as if it were not there. */
	assert_null(form_get(&form, "e").p);
	assert_null(form_get(&form, "f").p);
	assert_null(form_get(&form, "x").p);
	assert_int_equal(decode("").n, 0);
}

static void
test_what_is_no_form(void **state)
{
	static const char *const bad[] = { "%", "a=%", "a=%4", "a=%zz", "a=%00",
		"%ff=1", "a=%c3", "a=1&b=%x0" };
	struct form form;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct err e = { 0 };

		assert_int_equal(
		    form_decode(a, str_from(bad[i]), &form, &e), -1);
		assert_ptr_equal(e.kind, &err_malformed);
	}
}

static void
test_number_is_bounded(void **state)
{
	struct buf body;
	struct form form;
	struct err e = { 0 };

	(void)state;
	buf_init(&body, 4096);
	for (int i = 0; i < FORM_PARAMS_MAX; i++)
		buf_addf(&body, "p%d=1&", i);
	assert_int_equal(form_decode(a, buf_str(&body), &form, &e), 0);
	assert_int_equal(form.n, FORM_PARAMS_MAX);
	buf_add_cstr(&body, "more=1");
	assert_int_equal(form_decode(a, buf_str(&body), &form, &e), -1);
	assert_ptr_equal(e.kind, &err_malformed);
	buf_fini(&body);
}

static void
test_repeats(void **state)
{
	struct form form = decode("a=1&r=x&b=2&r=y&r=");
	struct str values[2];
	struct err e = { 0 };

	(void)state;
	assert_int_equal(form_check_single(&form, "r", &e), 0);
	assert_int_equal(form_get_all(&form, "r", values, 2), 2);
	assert_true(str_is(values[1], "y"));
	/* More than there is room for are counted. */
	assert_int_equal(form_get_all(&form, "r", values, 1), 2);
	assert_int_equal(form_check_single(&form, "a", &e), -1);
	assert_ptr_equal(e.kind, &err_malformed);
	/* An empty one counts too: which of them was meant? */
	err_clear(&e);
	form = decode("a=1&a=");
	assert_int_equal(form_check_single(&form, "r", &e), -1);
}

static const char *
header(const char *scheme, const char *pair)
{
	char *text = arena_alloc(a, BASE64_LENGTH(strlen(pair)) + 1);

	base64_encode(pair, strlen(pair), text);
	return arena_printf(a, "%s %s", scheme, text);
}

static void
test_basic(void **state)
{
	static const struct {
		const char *pair, *id, *secret;
	} fine[] = {
		{ "id:secret", "id", "secret" },
		{ "%69d:s%65cret", "id", "secret" },
		{ "a%3Ab:c%25", "a:b", "c%" },
		{ "id:a:b", "id", "a:b" },
		{ "i+d:", "i d", "" },
	};
	static const char *const bad[] = { "id", "%:secret", "id:%", "id:%4",
		"%zz:secret", "id:%00", "id:%ff" };
	struct str id, secret;
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
		assert_int_equal(
		    oauth_read_basic(str_from(header("basic", fine[i].pair)), a,
			&id, &secret, &e),
		    0);
		assert_true(str_is(id, fine[i].id));
		assert_true(str_is(secret, fine[i].secret));
	}
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		err_clear(&e);
		assert_int_equal(
		    oauth_read_basic(
			str_from(header("Basic", bad[i])), a, &id, &secret, &e),
		    -1);
		assert_ptr_equal(e.kind, &err_oauth_client);
	}
}

static void
test_no_basic(void **state)
{
	static const char *const bad[] = { "", "Basic", "Basic ", "Basic %",
		"Basic aWQ", "Bearer aWQ6cw==", "Basicx aWQ6cw==" };
	struct str id, secret;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct err e = { 0 };

		assert_int_equal(
		    oauth_read_basic(str_from(bad[i]), a, &id, &secret, &e),
		    -1);
		assert_ptr_equal(e.kind, &err_oauth_client);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_values),
		cmocka_unit_test(test_what_is_no_form),
		cmocka_unit_test(test_number_is_bounded),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_basic),
		cmocka_unit_test(test_no_basic),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
