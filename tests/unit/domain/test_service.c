#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "domain/pool.h"
#include "ledger/base/io.h"
#include "tests/support/desk.h"

#define LEDGERS 4

static const char *const names[LEDGERS] = { "one", "two", "three", "four" };

struct fixture {
	struct desk desk;
	struct service *service; /* keeps two ledgers open */
	struct place places[LEDGERS];
};

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct config config;
	struct err e = { 0 };

	desk_open(&f->desk, "sandbox");
	for (size_t i = 0; i < LEDGERS; i++) {
		desk_move(&f->desk, names[i]);
		f->places[i] = f->desk.place;
	}
	config = *service_config(f->desk.service);
	config.max_ledgers = 2;
	assert_int_equal(service_new(&config, &f->service, &e), 0);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	service_free(f->service);
	desk_close(&f->desk);
	free(f);
	return 0;
}

static struct ledger *
acquire(struct fixture *f, size_t i)
{
	struct ledger *ledger;
	struct err e = { 0 };

	assert_int_equal(
	    service_acquire(f->service, &f->places[i], &ledger, &e), 0);
	return ledger;
}

static void
test_one_ledger_is_opened_once(void **state)
{
	struct fixture *f = *state;
	struct ledger *a = acquire(f, 0), *b = acquire(f, 0);

	assert_ptr_equal(a, b);
	assert_int_equal(service_open_count(f->service), 1);
	service_release(f->service, a);
	service_release(f->service, b);
	assert_int_equal(service_open_count(f->service), 1);
	assert_ptr_equal(acquire(f, 0), a);
	service_release(f->service, a);
}

static void
test_number_is_bounded(void **state)
{
	struct fixture *f = *state;
	struct ledger *a = acquire(f, 0), *b = acquire(f, 1), *c = NULL;
	struct err e = { 0 };

	assert_int_equal(
	    service_acquire(f->service, &f->places[2], &c, &e), -1);
	assert_ptr_equal(e.kind, &err_capacity);
	assert_null(c);
	service_release(f->service, a);
	c = acquire(f, 2); /* instead of the idle one */
	assert_int_equal(service_open_count(f->service), 2);
	assert_ptr_equal(acquire(f, 1), b);
	service_release(f->service, b);
	service_release(f->service, b);
	service_release(f->service, c);
}

/* Of two idle ones, the one used the longest ago is closed. */
static void
test_least_recently_used_is_closed(void **state)
{
	struct fixture *f = *state;
	struct ledger *one, *two;

	one = acquire(f, 0);
	service_release(f->service, one);
	two = acquire(f, 1);
	service_release(f->service, two);
	assert_ptr_equal(acquire(f, 0), one);
	service_release(f->service, one);
	service_release(f->service, acquire(f, 2));
	/* Had the first been closed, all its readers would be gone: it is
	 * still the same one, without an opening. */
	assert_ptr_equal(acquire(f, 0), one);
	service_release(f->service, one);
}

static void
test_unknown_places_make_nothing(void **state)
{
	static const struct place places[] = {
		{ { "nobody", 6 }, { "sandbox", 7 }, 0 },
		{ { "one", 3 }, { "production", 10 }, 0 },
		{ { "one", 3 }, { "staging", 7 }, 0 },
		{ { "..", 2 }, { "sandbox", 7 }, 0 },
		{ { "a/b", 3 }, { "sandbox", 7 }, 0 },
		{ { "", 0 }, { "sandbox", 7 }, 0 },
	};
	struct fixture *f = *state;
	struct stat st;

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		struct ledger *ledger;
		struct err e = { 0 };

		assert_int_equal(
		    service_acquire(f->service, &places[i], &ledger, &e), -1);
		assert_ptr_equal(e.kind, &err_not_found);
	}
	assert_int_equal(service_open_count(f->service), 0);
	assert_int_not_equal(
	    stat(arena_printf(f->desk.a, "%s/var/ledgers/nobody", f->desk.dir),
		&st),
	    0);
}

static void
expect_unavailable(struct fixture *f, size_t i, const char *detail)
{
	struct ledger *ledger;
	struct err e = { 0 };

	assert_int_equal(
	    service_acquire(f->service, &f->places[i], &ledger, &e), -1);
	assert_ptr_equal(e.kind, &err_unavailable);
	if (!strstr(e.detail, detail))
		fail_msg("%s: not %s", e.detail, detail);
}

/* The operator's faults are told as such: neither as a credential that is not
 * in force nor as a request that is bad. */
static void
test_broken_keys_are_the_operators_matter(void **state)
{
	static const char *const key_files[] = { "signing.key",
		"fingerprint.key" };
	struct fixture *f = *state;
	struct arena *a = arena_new();
	struct err e = { 0 };

	for (size_t i = 0; i < 2; i++) {
		const char *path = arena_printf(
		    a, "%s/keys/one/sandbox/%s", f->desk.dir, key_files[i]);
		const char *aside = arena_printf(a, "%s.aside", path);

		assert_int_equal(rename(path, aside), 0);
		expect_unavailable(f, 0, key_files[i]);
		assert_int_equal(
		    io_write_file(path, STR("junk\n"), 0600, &e), 0);
		expect_unavailable(f, 0, path);
		assert_int_equal(rename(aside, path), 0);
	}
	service_release(f->service, acquire(f, 0));
	arena_free(a);
}

/* Only a ledger that is seen not to be there is none. */
static void
test_places_that_cannot_be_looked_at(void **state)
{
	static const char *const parts[] = { "keys", "var/ledgers/one",
		"var/ledgers/one/sandbox", "var" };
	struct fixture *f = *state;
	struct arena *a = arena_new();
	struct err e = { 0 };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		const char *path =
		    arena_printf(a, "%s/%s", f->desk.dir, parts[i]);
		const char *aside = arena_printf(a, "%s.aside", path);

		assert_int_equal(rename(path, aside), 0);
		assert_int_equal(io_write_file(path, STR(""), 0600, &e), 0);
		expect_unavailable(f, 0, "");
		assert_int_equal(unlink(path), 0);
		assert_int_equal(rename(aside, path), 0);
	}
	service_release(f->service, acquire(f, 0));
	arena_free(a);
}

static void
test_places_are_listed_by_name(void **state)
{
	static const char *const sorted[] = { "acme", "four", "one", "three",
		"two" };
	struct fixture *f = *state;
	struct place *places;
	struct err e = { 0 };
	size_t n;

	assert_int_equal(
	    service_places(f->service, f->desk.a, &places, &n, &e), 0);
	assert_int_equal(n, 5);
	for (size_t i = 0; i < n; i++) {
		assert_true(str_is(places[i].workspace, sorted[i]));
		assert_true(str_is(places[i].environment, "sandbox"));
	}
}

static void *
come_and_go(void *arg)
{
	struct fixture *f = arg;

	for (size_t i = 0; i < 40; i++) {
		struct ledger *ledger;
		struct reading reading;
		struct err e = { 0 };

		if (service_acquire(
			f->service, &f->places[i % LEDGERS], &ledger, &e)) {
			/* Others hold both; nothing else may be wrong. */
			if (e.kind != &err_capacity)
				return f;
			continue;
		}
		if (ledger_read_begin(ledger, &reading, &e))
			return f;
		ledger_read_end(&reading);
		service_release(f->service, ledger);
	}
	return NULL;
}

static void
test_threads_come_and_go(void **state)
{
	struct fixture *f = *state;
	pthread_t threads[4];
	void *failed;

	for (int i = 0; i < 4; i++)
		assert_int_equal(
		    pthread_create(&threads[i], NULL, come_and_go, f), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	assert_true(service_open_count(f->service) <= 2);
}

static void
test_names_of_workspaces(void **state)
{
	static const char *const good[] = { "a", "9", "acme", "a-b-c", "a-",
		"abcdefghijklmnopqrstuvwxyz0123456789-ab" };
	static const char *const bad[] = { "", "-a", "a--b", "A", "a_b", "a.b",
		"a/b", "a b", "abcdefghijklmnopqrstuvwxyz0123456789-abc" };

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		assert_true(workspace_name_is_valid(str_from(good[i])));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(workspace_name_is_valid(str_from(bad[i])));
}

static void
test_tokens_are_seen_in_the_key_files(void **state)
{
	struct fixture *f = *state;
	const struct config *config = service_config(f->service);
	struct config elsewhere = *config;
	struct arena *a = arena_new();
	const char *dir =
	    arena_printf(a, "%.*s/two/production", STR_ARGS(config->keys));
	const char *file = arena_printf(a, "%s/signing.key", dir);
	struct err e = { 0 };

	/* acme is there too. */
	assert_false(service_has_tokens(config, LEDGERS + 1));
	/* Too many to look at: nobody knows. */
	assert_true(service_has_tokens(config, LEDGERS));
	assert_int_equal(io_make_dirs(dir, 0700, &e), 0);
	assert_int_equal(
	    io_create_file(file,
		STR("pkcs11:token=t;object=o?module-path=/m.so\n"), 0600, &e),
	    0);
	assert_true(service_has_tokens(config, LEDGERS + 1));
	elsewhere.keys = STR("/nowhere/keys");
	assert_false(service_has_tokens(&elsewhere, 0));
	arena_free(a);
}

#define WITH_LEDGERS(test) \
	cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LEDGERS(test_one_ledger_is_opened_once),
		WITH_LEDGERS(test_number_is_bounded),
		WITH_LEDGERS(test_least_recently_used_is_closed),
		WITH_LEDGERS(test_unknown_places_make_nothing),
		WITH_LEDGERS(test_broken_keys_are_the_operators_matter),
		WITH_LEDGERS(test_places_that_cannot_be_looked_at),
		WITH_LEDGERS(test_places_are_listed_by_name),
		WITH_LEDGERS(test_threads_come_and_go),
		WITH_LEDGERS(test_tokens_are_seen_in_the_key_files),
		cmocka_unit_test(test_names_of_workspaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
