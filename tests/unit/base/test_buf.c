#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/base/buf.h"

static void
test_appending(void **state)
{
	struct buf b;
	char wide[1000];

	(void)state;
	buf_init(&b, 65536);
	assert_true(str_is(buf_str(&b), ""));
	buf_add(&b, STR("a\0b"));
	buf_add(&b, STR_NONE);
	buf_add_cstr(&b, "-");
	buf_add_byte(&b, 0xff);
	buf_add_u32be(&b, 0x01020304);
	buf_add_u64be(&b, 0x05060708090a0b0c);
	assert_true(str_eq(
	    buf_str(&b), STR("a\0b-\xff\1\2\3\4\5\6\7\x08\x09\x0a\x0b\x0c")));
	buf_reset(&b);
	memset(wide, 'w', sizeof wide - 1);
	wide[sizeof wide - 1] = '\0';
	buf_addf(&b, "%d<%s>", 7, wide);
	assert_int_equal(b.n, sizeof wide + 2);
	assert_int_equal(b.p[b.n - 1], '>');
	assert_false(buf_failed(&b));
	buf_fini(&b);
}

static void
test_maximum(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 4);
	buf_add_cstr(&b, "abcd");
	assert_false(buf_failed(&b));
	buf_add_byte(&b, 'e');
	assert_true(buf_failed(&b));
	assert_true(str_is(buf_str(&b), "abcd"));
	buf_reset(&b);
	assert_false(buf_failed(&b));
	buf_addf(&b, "%s", "12345");
	assert_true(buf_failed(&b));
	assert_int_equal(b.n, 0);
	/* What would fit is not appended behind a gap. */
	buf_add_byte(&b, 'x');
	assert_int_equal(b.n, 0);
	assert_null(buf_grow(&b, 1));
	buf_fini(&b);
	buf_init(&b, 0);
	assert_non_null(buf_grow(&b, 0));
	assert_null(buf_grow(&b, SIZE_MAX));
	buf_fini(&b);
}

/* Never more memory than the maximum, however it grows. */
static void
test_room(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 100001);
	for (int i = 0; i < 100001; i++)
		buf_add_byte(&b, (unsigned char)i);
	assert_false(buf_failed(&b));
	assert_int_equal(b.room, 100001);
	for (int i = 0; i < 100001; i++)
		assert_int_equal((unsigned char)b.p[i], (unsigned char)i);
	buf_fini(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_appending),
		cmocka_unit_test(test_maximum),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
