#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <zlib.h>

#include "ledger/base/library.h"

static struct {
	__typeof__(&zlibVersion) version;
} z;

static void
test_loads_once(void **state)
{
	const struct library_symbol symbols[] = {
		{ "zlibVersion", &z.version },
		{ 0 },
	};
	struct library library = { "libz.so.1", symbols, NULL };
	struct err e = { 0 };
	void *handle;

	(void)state;
	assert_int_equal(library_load(&library, &e), 0);
	handle = library.handle;
	assert_non_null(handle);
	assert_int_equal(z.version()[0], '1');
	assert_int_equal(library_load(&library, &e), 0);
	assert_ptr_equal(library.handle, handle);
}

static void
test_says_what_is_missing(void **state)
{
	const struct library_symbol symbols[] = {
		{ "zlibVersionOfTomorrow", &z.version },
		{ 0 },
	};
	struct library no_function = { "libz.so.1", symbols, NULL };
	struct library no_file = { "libnowhere.so.1", symbols, NULL };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(library_load(&no_function, &e), -1);
	assert_ptr_equal(e.kind, &err_unavailable);
	assert_non_null(strstr(e.detail, "zlibVersionOfTomorrow"));
	assert_null(no_function.handle);
	err_clear(&e);
	assert_int_equal(library_load(&no_file, &e), -1);
	assert_ptr_equal(e.kind, &err_unavailable);
	assert_non_null(strstr(e.detail, "libnowhere.so.1"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads_once),
		cmocka_unit_test(test_says_what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
