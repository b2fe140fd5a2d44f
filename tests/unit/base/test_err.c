#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "ledger/base/arena.h"
#include "ledger/base/err.h"

static void
test_first_wins(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(err_set(&e, &err_conflict, "first %d", 1), -1);
	assert_int_equal(err_set(&e, &err_internal, "second"), -1);
	assert_ptr_equal(e.kind, &err_conflict);
	assert_string_equal(e.detail, "first 1");
	err_clear(&e);
	assert_null(e.kind);
	assert_string_equal(e.detail, "");
	assert_int_equal(err_set(NULL, &err_internal, "nobody listens"), -1);
	err_clear(NULL);
}

static void
test_errno(void **state)
{
	struct err e = { 0 };

	(void)state;
	errno = EACCES;
	err_errno(&e, &err_internal, "cannot open %s", "x");
	assert_ptr_equal(e.kind, &err_internal);
	assert_string_equal(e.detail, "cannot open x: Permission denied");
	assert_int_equal(errno, EACCES);
	err_clear(&e);
	errno = ENOSPC;
	err_errno(&e, &err_internal, "write");
	assert_ptr_equal(e.kind, &err_no_space);
	err_clear(&e);
	errno = EDQUOT;
	err_errno(&e, &err_internal, "write");
	assert_ptr_equal(e.kind, &err_no_space);
}

/* A detail that is cut does not end in half a character. */
static void
test_long_detail(void **state)
{
	char text[600];
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i + 3 < sizeof text; i += 3)
		memcpy(text + i, "\xe2\x82\xac", 4);
	err_set(&e, &err_invalid, "%s", text);
	assert_true(str_is_utf8(str_from(e.detail)));
	assert_int_equal(strlen(e.detail), 510);
	err_clear(&e);
	errno = EIO;
	err_errno(&e, &err_internal, "%s", text);
	assert_true(str_is_utf8(str_from(e.detail)));
}

static void
test_fields(void **state)
{
	struct arena *a = arena_new();
	struct err e = { 0 };
	char at[16] = "#/amount";
	size_t n = 0;

	(void)state;
	assert_int_equal(
	    err_add_field(&e, a, "pointer", at, "minimum", "above %d", 0), -1);
	memset(at, 'x', 8);
	for (int i = 0; i < 100; i++)
		err_add_field(&e, a, "parameter", "limit", "type", "x");
	assert_ptr_equal(e.kind, &err_invalid);
	assert_string_equal(e.detail, "#/amount: above 0");
	assert_string_equal(e.fields->place, "pointer");
	assert_string_equal(e.fields->at, "#/amount");
	assert_string_equal(e.fields->code, "minimum");
	assert_string_equal(e.fields->detail, "above 0");
	assert_string_equal(e.fields->next->at, "limit");
	for (struct err_field *f = e.fields; f; f = f->next)
		n++;
	assert_int_equal(n, 64);
	arena_free(a);
}

/* Our own files' faults are no client's; what is worse than that stays. */
static void
test_own(void **state)
{
	struct err why = { 0 }, e = { 0 };

	(void)state;
	err_set(&why, &err_malformed, "key file %s is junk", "k");
	assert_int_equal(err_own(&e, &err_unavailable, &why), -1);
	assert_ptr_equal(e.kind, &err_unavailable);
	assert_string_equal(e.detail, "key file k is junk");
	why = e = (struct err){ 0 };
	err_set(&why, &err_no_space, "full");
	err_own(&e, &err_unavailable, &why);
	assert_ptr_equal(e.kind, &err_no_space);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_wins),
		cmocka_unit_test(test_errno),
		cmocka_unit_test(test_long_detail),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
