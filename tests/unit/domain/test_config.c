#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "domain/addresses.h"
#include "domain/config.h"
#include "domain/config_shape.h"
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
	assert_non_null(strstr(f->e.detail, ":2:1: is not `name = value`"));
	assert_int_equal(load(f, "threads = many\n"), -1);
	assert_non_null(strstr(f->e.detail, "threads"));
	assert_int_equal(load(f, "log_level = loud\n"), -1);
	assert_int_equal(load(f, "verify_hours = 0\n"), -1);
	assert_int_equal(
	    load(f, "timestamp_url = http://tsa.example.com/\n"), -1);
	assert_non_null(strstr(f->e.detail, "timestamp_url: "));
	assert_int_equal(load(f, "confine = maybe\n"), -1);
	assert_int_equal(load(f, "writable = /srv/a,srv/b\n"), -1);
	assert_non_null(strstr(f->e.detail, "must be an absolute path"));
	assert_int_equal(load(f, "writable = /srv/a,/srv/b\n"), 0);
	assert_int_equal(f->config.writable.n, 2);
	assert_true(str_is(f->config.confine, "yes"));
	assert_int_equal(load(f, "timestamp_url = https://a.example/\n"), 0);
}

static void
write_settings(struct fixture *f, const char *text)
{
	assert_int_equal(
	    io_write_file(f->path, str_from(text), 0600, &f->e), 0);
}

static void
expect_faults(struct fixture *f, const char *text, const char *const *wanted)
{
	const struct err_field *field;
	char line[400];

	assert_int_equal(load(f, text), -1);
	assert_ptr_equal(f->e.kind, &err_invalid);
	for (field = f->e.fields; *wanted; field = field->next, wanted++) {
		assert_non_null(field);
		snprintf(line, sizeof line, "%s: %s",
		    str_has_prefix(str_from(field->at), str_from(f->path))
			? field->at + strlen(f->path) + 1
			: field->at,
		    field->detail);
		assert_string_equal(line, *wanted);
	}
	assert_null(field);
}

/* Exactly what a browser writes in Origin. */
static void
test_web_origins(void **state)
{
	static const char *const bad[] = { "*", "null", "https://",
		"https://a.example/", "https://a.example/x",
		"https://A.example", "https://a.example:443",
		"http://a.example:80", "https://a.example:0",
		"https://a.example:65536",
		"https://a.example:", "ftp://a.example", "a.example",
		"https://*.a.example", "https://u@a.example", "https://[::1",
		"https://a.example, https://b.example", "https://a.example,," };
	struct fixture *f = *state;

	assert_int_equal(load(f, "cors_origins =\n"), 0);
	assert_int_equal(f->config.cors_origins.n, 0);
	assert_int_equal(load(f, "cors_origins = https://a.example,"
				 "http://localhost:3000,https://[::1]:8443,"
				 "https://b.example:80\n"),
	    0);
	assert_int_equal(f->config.cors_origins.n, 4);
	assert_true(
	    str_is(f->config.cors_origins.items[1], "http://localhost:3000"));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		if (load(f,
			arena_printf(f->a, "cors_origins = %s\n", bad[i])) == 0)
			fail_msg("%s", bad[i]);
		assert_non_null(strstr(f->e.detail, "cors_origins"));
	}
}

static void
expect_each_refused(
    struct fixture *f, const char *name, const char *const *values)
{
	for (; *values; values++) {
		if (load(f, arena_printf(f->a, "%s = %s\n", name, *values)) ==
		    0)
			fail_msg("%s = %s", name, *values);
		assert_non_null(strstr(f->e.detail, name));
	}
}

/* Links and the ledgers' names begin with them. */
static void
test_own_names(void **state)
{
	struct fixture *f = *state;

	expect_each_refused(f, "base_url",
	    VALUES("api.example.com", "ftp://api.example.com", "https://",
		"https:///path", "https://a b.example", "https://u@a.example",
		"https://a.example/?x=1", "https://a.example/#x",
		"https://a.example/\xc3\xa4", "https://a.example/\"x"));
	assert_int_equal(load(f, "base_url = http://127.0.0.1:8080/a/\n"), 0);
	assert_true(str_is(f->config.base_url, "http://127.0.0.1:8080/a"));
	expect_each_refused(f, "origin_host",
	    VALUES("localhost", "Ledger.example.com", "ledger example.com",
		"ledger.example.com:80", "https://ledger.example.com",
		"ledger..com", "a.b+c"));
	assert_int_equal(load(f, "origin_host = ledger.example.com\n"), 0);
}

/* As the front reads it. */
static void
test_listen(void **state)
{
	struct fixture *f = *state;

	expect_each_refused(f, "listen",
	    VALUES("bogus", "127.0.0.1:99999", "127.0.0.1:0", "127.0.0.1:http",
		":80", "127.0.0.1:", "unix:", "unix:relative",
		"unix:/x,mode=9999", "unix:/x,mode=0888", "unix:/x,mode=1777",
		"unix:/x,backlog=3"));
	assert_int_equal(load(f, "listen = unix:/run/a,mode=0600\n"), 0);
	assert_int_equal(load(f, "listen = [::1]:9000\n"), 0);
	assert_int_equal(load(f, "listen = unix:relative\n"), -1);
	assert_non_null(strstr(f->e.detail, ":1:10: listen: unix: needs"));
}

/* A request that is on its way must end before others send it. */
static void
test_lease_outlasts_a_request(void **state)
{
	static const char *const wanted[] = {
		"2:25: webhook_lease_seconds: must be at least twice "
		"webhook_seconds, which is 10: a request that is still on its "
		"way would be sent again",
		NULL,
	};
	struct fixture *f = *state;

	expect_faults(
	    f, "webhook_seconds = 10\nwebhook_lease_seconds = 1\n", wanted);
	assert_int_equal(load(f, "webhook_lease_seconds = 39\n"), -1);
	assert_int_equal(load(f, "webhook_lease_seconds = 40\n"), 0);
	assert_int_equal(load(f, "webhook_seconds = 30\n"), 0);
	setenv("PROBITY_WEBHOOK_SECONDS", "4", 1);
	assert_int_equal(load(f, "webhook_lease_seconds = 8\n"), 0);
	setenv("PROBITY_WEBHOOK_LEASE_SECONDS", "7", 1);
	assert_int_equal(load(f, "webhook_lease_seconds = 8\n"), -1);
	assert_non_null(
	    strstr(f->e.detail, "PROBITY_WEBHOOK_LEASE_SECONDS: webhook_"));
}

static void
test_comment_behind_a_value(void **state)
{
	struct fixture *f = *state;

	expect_faults(f, "limit_burst = 10 # enough\n",
	    VALUES("1:15: limit_burst: must be an integer; a comment has a "
		   "line of its own"));
	expect_faults(f, "base_url = ftp://x\n",
	    VALUES("1:12: base_url: must begin with https:// or http://"));
}

static size_t
count_missing(struct fixture *f, const char *text)
{
	struct err e = { 0 };
	size_t n = 0;

	write_settings(f, text);
	assert_int_equal(config_load_from(f->a, NULL, &f->config, NULL, &e), 0);
	config_check_from(f->a, NULL, &f->config, NULL, &e);
	for (const struct err_field *at = e.fields; at; at = at->next) {
		assert_true(
		    str_has_prefix(str_from(at->at), str_from(f->path)));
		n++;
	}
	return n;
}

static void
test_places(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(count_missing(f, "state = /nowhere\n"), 0);
	assert_false(config_state_is_there(f->a, &f->config));
	assert_int_equal(count_missing(f, "outbound_ca = /nowhere/ca.pem\n"
					  "timestamp_ca = /nowhere/ca.pem\n"
					  "witness_file = /nowhere/witnesses\n"
					  "mirror_file = /tmp\n"
					  "git = no-such-program\n"
					  "access_log = /nowhere/access.log\n"),
	    6);
	assert_int_equal(
	    count_missing(f, "git = /nowhere/git\naccess_log = /tmp\n"), 2);
	assert_int_equal(count_missing(f, arena_printf(f->a,
					      "state = /tmp\nmirror_file = %s\n"
					      "access_log = -\ngit = sh\n",
					      f->path)),
	    0);
	assert_true(config_state_is_there(f->a, &f->config));
}

/* A variable that is empty counts as one that is not set. */
static void
test_empty_file_name(void **state)
{
	struct fixture *f = *state;
	struct config_origins origins;

	setenv("PROBITY_CONFIG", "", 1);
	assert_int_equal(
	    config_load_from(f->a, NULL, &f->config, &origins, &f->e), 0);
}

/* What is shown is what writers keep to. */
static void
test_no_floor_is_the_usual_one(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(load(f, "free_floor = 0\n"), 0);
	assert_int_equal(f->config.free_floor, 64 << 20);
	assert_int_equal(load(f, "free_floor = 1\n"), 0);
	assert_int_equal(f->config.free_floor, 1);
}

/* Programs that are started for one request have no time to load it. */
static void
test_libcurl_is_not_loaded(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(load(f, "timestamp_url = https://a.example/\n"), 0);
	assert_null(dlopen("libcurl.so.4", RTLD_NOW | RTLD_NOLOAD));
}

static void
test_named_file_must_be_there(void **state)
{
	struct fixture *f = *state;

	setenv("PROBITY_CONFIG", "/nowhere/probity.conf", 1);
	assert_int_equal(config_load(f->a, &f->config, &f->e), -1);
	assert_non_null(strstr(f->e.detail, "/nowhere/probity.conf"));
}

/* Columns count characters. */
static void
test_all_faults_at_once(void **state)
{
	struct fixture *f = *state;
	static const char *const wanted[] = {
		"6:1: max_body: is set on line 5 already",
		"8:1: is not `name = value`; a comment begins with #",
		"9:1: is not `name = value`; a comment begins with #",
		"10:1: holds control characters, or is not UTF-8; write plain "
		"text",
		"2:11: threads: must be at most 1024",
		"3:3: tread: there is no such setting; the nearest is threads",
		"4:1: \xc3\xa4\xc3\xb6: there is no such setting",
		"7:13: log_level: must be one of debug, info, warn, error",
		"11:17: metrics_allow: 10.0.0.0/33 is no address and no "
		"network such as 10.0.0.0/8",
		"PROBITY_MAX_CLONES: max_clones: must be an integer",
		NULL,
	};

	setenv("PROBITY_MAX_CLONES", "many", 1);
	expect_faults(f,
	    "# first\n"
	    "threads = 2000\n"
	    "  tread = 8\n"
	    "\xc3\xa4\xc3\xb6 = 1\n"
	    "max_body=1048576\r\n"
	    "max_body = 2097152\n"
	    "log_level = loud\n"
	    "just words\n"
	    "= 7\n"
	    "git = a\x01"
	    "b\n"
	    "metrics_allow = 127.0.0.1, 10.0.0.0/33\n",
	    wanted);
}

/* What the environment replaces is judged even so. */
static void
test_hidden_fault(void **state)
{
	struct fixture *f = *state;

	setenv("PROBITY_THREADS", "8", 1);
	expect_faults(
	    f, "threads = 0\n", VALUES("1:11: threads: must be at least 1"));
}

static void
test_origins(void **state)
{
	struct fixture *f = *state;
	struct config_origins origins;
	struct err e = { 0 };

	assert_int_equal(load(f, "\n\xc3\xa4 = 1\n"), -1);
	assert_int_equal(load(f, "\n  git =  hg\nthreads = 9\n"), 0);
	setenv("PROBITY_THREADS", "8", 1);
	assert_int_equal(
	    config_load_from(f->a, NULL, &f->config, &origins, &e), 0);
	assert_string_equal(origins.path, f->path);
	for (size_t i = 0; i < config_shape.n; i++) {
		const char *name = config_shape.fields[i].name;
		struct config_origin wanted = { .source = CONFIG_DEFAULT };

		if (strcmp(name, "git") == 0)
			wanted = (struct config_origin){ CONFIG_FILE, 2, 10 };
		else if (strcmp(name, "threads") == 0)
			wanted.source = CONFIG_ENVIRONMENT;
		assert_int_equal(origins.of[i].source, wanted.source);
		assert_int_equal(origins.of[i].line, wanted.line);
		assert_int_equal(origins.of[i].column, wanted.column);
	}
}

static void
test_reload(void **state)
{
	struct fixture *f = *state;
	const struct config *before;
	struct service *s;

	assert_int_equal(load(f, "git = one\nthreads = 8\n"), 0);
	assert_int_equal(service_new(&f->config, &s, &f->e), 0);
	before = service_config(s);
	assert_int_equal(service_reload(s, f->a, &f->e), 0);
	assert_ptr_equal(service_config(s), before);

	write_settings(f, "git = two\nthreads = 9\n");
	assert_int_equal(service_reload(s, f->a, &f->e), 0);
	assert_true(str_is(service_config(s)->git, "two"));
	assert_int_equal(service_config(s)->threads, 8);
	assert_true(str_is(before->git, "one"));

	write_settings(f, "git = three\nthreads = 0\n");
	assert_int_equal(service_reload(s, f->a, &f->e), -1);
	assert_ptr_equal(f->e.kind, &err_invalid);
	assert_true(str_is(service_config(s)->git, "two"));
	service_free(s);
}

static void *
read_config(void *arg)
{
	struct service *s = arg;

	while (!service_is_stopping(s)) {
		const struct config *config = service_config(s);

		/* Both of one file. */
		if (config->max_clones != (str_is(config->git, "one") ? 1 : 2))
			return s;
	}
	return NULL;
}

static void
test_reload_under_readers(void **state)
{
	struct fixture *f = *state;
	pthread_t threads[3];
	struct service *s;
	void *fault;

	assert_int_equal(load(f, "git = one\nmax_clones = 1\n"), 0);
	assert_int_equal(service_new(&f->config, &s, &f->e), 0);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, read_config, s);
	for (int i = 0; i < 20; i++) {
		write_settings(f, i % 2 ? "git = one\nmax_clones = 1\n"
					: "git = two\nmax_clones = 2\n");
		assert_int_equal(service_reload(s, f->a, &f->e), 0);
	}
	service_stop(s);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], &fault);
		assert_null(fault);
	}
	service_free(s);
}

static void
test_addresses(void **state)
{
	struct str list = STR("127.0.0.1, ::1 10.1.0.0/15\t2001:db8::/33");

	(void)state;
	assert_true(addresses_have(list, STR("127.0.0.1")));
	assert_true(addresses_have(list, STR("::ffff:127.0.0.1")));
	assert_true(addresses_have(list, STR("::1")));
	assert_true(addresses_have(list, STR("10.0.255.1")));
	assert_true(addresses_have(list, STR("2001:db8:7fff::1")));
	assert_false(addresses_have(list, STR("2001:db8:8000::1")));
	assert_false(addresses_have(list, STR("10.2.0.0")));
	assert_false(addresses_have(list, STR("127.0.0.2")));
	assert_false(addresses_have(list, STR("localhost")));
	assert_false(addresses_have(list, STR_NONE));
	assert_false(addresses_have(STR(""), STR("127.0.0.1")));
	assert_true(addresses_have(STR("0.0.0.0/0"), STR("192.0.2.1")));
	assert_false(addresses_have(STR("0.0.0.0/0"), STR("2001:db8::1")));
}

/* The page says of each setting whether a reload takes it. */
static void
test_page_says_what_waits(void **state)
{
	struct fixture *f = *state;
	struct str page;
	const char *text, *end;

	assert_int_equal(
	    io_read_file(f->a, "docs/configuration.md", 65536, &page, &f->e),
	    0);
	text = strstr(arena_cstr(f->a, page), "A change waits for a start");
	assert_non_null(text);
	end = strchr(text, ';');
	assert_non_null(end);
	for (size_t i = 0; i < config_shape.n; i++) {
		const char *name = config_shape.fields[i].name;
		const char *at = strstr(text, arena_printf(f->a, "`%s`", name));

		if (config_reloads(str_from(name)) == (at && at < end))
			fail_msg("docs/configuration.md: %s", name);
	}
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
		WITH_FILE(test_all_faults_at_once),
		WITH_FILE(test_hidden_fault),
		WITH_FILE(test_origins),
		WITH_FILE(test_reload),
		WITH_FILE(test_reload_under_readers),
		WITH_FILE(test_page_says_what_waits),
		cmocka_unit_test(test_addresses),
		WITH_FILE(test_web_origins),
		WITH_FILE(test_own_names),
		WITH_FILE(test_listen),
		WITH_FILE(test_lease_outlasts_a_request),
		WITH_FILE(test_comment_behind_a_value),
		WITH_FILE(test_places),
		WITH_FILE(test_empty_file_name),
		WITH_FILE(test_no_floor_is_the_usual_one),
		WITH_FILE(test_libcurl_is_not_loaded),
		WITH_FILE(test_named_file_must_be_there),
		WITH_FILE(test_documents_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
