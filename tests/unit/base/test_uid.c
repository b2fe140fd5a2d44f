#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>

#include "ledger/base/uid.h"

/* RFC 9562, appendix A.6. */
static void
test_version_7(void **state)
{
	static const uint8_t random[10] = { 0x0c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c,
		0x0c, 0x07, 0x39, 0x8f };
	struct instant at = { INT64_C(0x017f22e279b0) * 1000 + 999 };
	char text[UID_TEXT + 1];

	(void)state;
	uid_format(uid_from(at, random), text);
	assert_string_equal(text, "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
}

static void
test_text(void **state)
{
	static const char *const bad[] = { "",
		"017f22e279b07cc398c4dc0c0c07398f",
		"017f22e2-79b0-7cc3-98c4-dc0c0c07398",
		"017f22e2-79b0-7cc3-98c4-dc0c0c07398ff",
		"017f22e2-79b0-7cc3-98c4-dc0c0c07398g",
		"017f22e2x79b0-7cc3-98c4-dc0c0c07398f",
		"{17f22e2-79b0-7cc3-98c4-dc0c0c07398}",
		"017f22e-279b0-7cc3-98c4-dc0c0c07398f" };
	struct uid u, v;
	char text[UID_TEXT + 1];

	(void)state;
	assert_true(uid_parse(STR("017F22E2-79B0-7CC3-98C4-DC0C0C07398F"), &u));
	uid_format(u, text);
	assert_string_equal(text, "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(uid_parse(str_from(bad[i]), &v));
	assert_false(uid_is_none(u));
	assert_true(uid_is_none((struct uid){ { 0 } }));
	v = u;
	assert_true(uid_eq(u, v));
	v.b[15] ^= 1;
	assert_false(uid_eq(u, v));
}

#define THREADS 4
#define EACH    5000

static void *
make_many(void *into)
{
	struct uid *made = into;

	for (int i = 0; i < EACH; i++)
		made[i] = uid_new();
	return NULL;
}

static int
compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct uid));
}

/* Rising in each thread, and no two alike in the process. */
static void
test_rising(void **state)
{
	static struct uid made[THREADS * EACH];
	pthread_t threads[THREADS];

	(void)state;
	for (size_t t = 0; t < THREADS; t++)
		assert_int_equal(pthread_create(&threads[t], NULL, make_many,
				     made + t * EACH),
		    0);
	for (size_t t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	for (size_t i = 0; i < THREADS * EACH; i++) {
		assert_int_equal(made[i].b[6] >> 4, 7);
		assert_int_equal(made[i].b[8] >> 6, 2);
		if (i % EACH)
			assert_true(compare(&made[i - 1], &made[i]) < 0);
	}
	qsort(made, THREADS * EACH, sizeof made[0], compare);
	for (size_t i = 1; i < THREADS * EACH; i++)
		assert_false(uid_eq(made[i - 1], made[i]));
}

static void
test_random(void **state)
{
	uint8_t a[1000] = { 0 }, b[1000] = { 0 };
	int zeros = 0;

	(void)state;
	random_bytes(a, sizeof a);
	random_bytes(b, sizeof b);
	assert_memory_not_equal(a, b, sizeof a);
	for (size_t i = 0; i < sizeof a; i++)
		zeros += a[i] == 0;
	assert_true(zeros < 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version_7),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_rising),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
