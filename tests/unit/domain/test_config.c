#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "domain/config_shape.h"
#include "domain/service.h"
#include "ledger/base/io.h"

struct fixture {
	char path[64];
	struct arena *a;
	struct config config;
	struct err e;
};

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	int fd;

	strcpy(f->path, "/tmp/probity-config-XXXXXX");
	fd = mkstemp(f->path);
	if (fd < 0)
		return -1;
	close(fd);
	f->a = arena_new();
	clearenv();
	setenv("PROBITY_CONFIG", f->path, 1);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	arena_free(f->a);
	free(f);
	return 0;
}

static int
load(struct fixture *f, const char *text)
{
	struct err e = { 0 };

	f->e = (struct err){ 0 };
	assert_int_equal(io_write_file(f->path, str_from(text), 0600, &e), 0);
	return config_load(f->a, &f->config, &f->e);
}

static void
test_defaults(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(load(f, "# nothing\n\n"), 0);
	assert_true(str_is(f->config.state, "./var"));
	assert_true(str_is(f->config.keys, "./var/keys"));
	assert_int_equal(f->config.threads, 64);
	assert_int_equal(f->config.max_body, 1 << 20);
	assert_int_equal(f->config.free_floor, 64 << 20);
	assert_int_equal(f->config.max_ledgers, 64);
	assert_int_equal(f->config.pack_threshold, 6700);
	assert_int_equal(f->config.verify_hours, 24);
	assert_int_equal(f->config.listen.n, 0);
	assert_true(str_is(f->config.log_level, "info"));
}

static void
test_environment_goes_before_file(void **state)
{
	struct fixture *f = *state;

	setenv("PROBITY_STATE", "/srv/b", 1);
	assert_int_equal(load(f, "state = /srv/a\n threads=8\n"
				 "base_url = https://api.example.com/\n"
				 "listen = unix:/run/a=b\n"),
	    0);
	assert_true(str_is(f->config.state, "/srv/b"));
	assert_true(str_is(f->config.keys, "/srv/b/keys"));
	assert_int_equal(f->config.threads, 8);
	assert_true(str_is(f->config.base_url, "https://api.example.com"));
	assert_true(str_is(f->config.listen, "unix:/run/a=b"));
}

static void
test_faults_are_named(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(load(f, "thread = 8\nmax_body = 12\n"), -1);
	assert_ptr_equal(f->e.kind, &err_invalid);
	assert_non_null(strstr(f->e.detail, "thread:"));
	assert_non_null(strstr(f->e.detail, "max_body:"));
	assert_int_equal(load(f, "# one\njust words\n"), -1);
	assert_non_null(strstr(f->e.detail, "line 2"));
	assert_int_equal(load(f, "threads = many\n"), -1);
	assert_non_null(strstr(f->e.detail, "threads"));
	assert_int_equal(load(f, "log_level = loud\n"), -1);
	assert_int_equal(load(f, "verify_hours = 0\n"), -1);
	assert_int_equal(
	    load(f, "timestamp_url = http://tsa.example.com/\n"), -1);
	assert_non_null(strstr(f->e.detail, "timestamp_url: "));
	assert_int_equal(load(f, "timestamp_url = https://a.example/\n"), 0);
}

static void
test_named_file_must_be_there(void **state)
{
	struct fixture *f = *state;

	setenv("PROBITY_CONFIG", "/nowhere/probity.conf", 1);
	assert_int_equal(config_load(f->a, &f->config, &f->e), -1);
	assert_non_null(strstr(f->e.detail, "/nowhere/probity.conf"));
}

/* The page and the example name every setting with its default. */
static void
test_documents_agree(void **state)
{
	struct fixture *f = *state;
	struct str page, example;

	assert_int_equal(
	    io_read_file(f->a, "docs/configuration.md", 65536, &page, &f->e),
	    0);
	assert_int_equal(
	    io_read_file(f->a, "conf/probity.conf", 65536, &example, &f->e), 0);
	for (size_t i = 0; i < config_shape.n; i++) {
		const struct field *field = &config_shape.fields[i];
		const char *row = arena_printf(f->a, "| `%s` | %s", field->name,
		    field->def ? field->def : "");
		const char *quoted = arena_printf(f->a, "| `%s` | `%s`",
		    field->name, field->def ? field->def : "");

		if (!strstr(arena_cstr(f->a, page), row) &&
		    !strstr(arena_cstr(f->a, page), quoted))
			fail_msg("docs/configuration.md: %s", field->name);
		row = arena_printf(f->a, "#%s =%s%s", field->name,
		    field->def ? " " : "", field->def ? field->def : "");
		if (!strstr(arena_cstr(f->a, example), row))
			fail_msg("conf/probity.conf: %s", field->name);
	}
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(test_defaults),
		WITH_FILE(test_environment_goes_before_file),
		WITH_FILE(test_faults_are_named),
		WITH_FILE(test_named_file_must_be_there),
		WITH_FILE(test_documents_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
