#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/base/shared.h"

#define BYTES 4096

static char folder[] = "/tmp/probity-shared-XXXXXX";
static char path[64];

static int
setup(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof path, "%s/table", folder);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	return io_remove_tree(folder);
}

static struct shared
open_table(const char *name, size_t bytes)
{
	struct shared s = { 0 };
	struct err e = { 0 };

	assert_int_equal(shared_open(path, bytes, name, &s, &e), 0);
	assert_int_equal(s.bytes, bytes);
	return s;
}

static void
test_what_one_writes_others_see(void **state)
{
	struct shared mine = open_table("counts/1", BYTES);
	struct shared yours = open_table("counts/1", BYTES);

	(void)state;
	assert_int_equal(((char *)mine.p)[BYTES - 1], 0);
	((char *)mine.p)[BYTES - 1] = 7;
	assert_int_equal(((char *)yours.p)[BYTES - 1], 7);
	shared_close(&mine);
	shared_close(&yours);
	mine = open_table("counts/1", BYTES);
	assert_int_equal(((char *)mine.p)[BYTES - 1], 7);
	shared_close(&mine);
}

static void
test_another_version_begins_empty(void **state)
{
	struct shared old = open_table("counts/1", BYTES), new;

	(void)state;
	((char *)old.p)[0] = 7;
	new = open_table("counts/2", BYTES);
	assert_int_equal(((char *)new.p)[0], 0);
	assert_int_equal(((char *)old.p)[0], 7);
	shared_close(&new);
	new = open_table("counts/2", 2 * BYTES);
	shared_close(&new);
	shared_close(&old);
}

static void *
add_thousand(void *arg)
{
	struct shared s = open_table("race/1", BYTES);
	atomic_int *counter = s.p;

	(void)arg;
	for (int i = 0; i < 1000; i++)
		atomic_fetch_add(counter, 1);
	shared_close(&s);
	return NULL;
}

/* All who begin at once share one file. */
static void
test_begun_together(void **state)
{
	pthread_t threads[8];
	struct shared s;

	(void)state;
	for (int i = 0; i < 8; i++)
		assert_int_equal(
		    pthread_create(&threads[i], NULL, add_thousand, NULL), 0);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	s = open_table("race/1", BYTES);
	assert_int_equal(atomic_load((atomic_int *)s.p), 8000);
	shared_close(&s);
}

static void
test_no_place(void **state)
{
	struct shared s = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(
	    shared_open("/nowhere/table", BYTES, "counts/1", &s, &e), -1);
	assert_ptr_equal(e.kind, &err_unavailable);
	shared_close(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_one_writes_others_see),
		cmocka_unit_test(test_another_version_begins_empty),
		cmocka_unit_test(test_begun_together),
		cmocka_unit_test(test_no_place),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
