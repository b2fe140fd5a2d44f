/*
 * The screen of clients' URLs: each row of tests/vectors/ssrf.json, asked of a
 * resolver of the test's own; and that a request goes to the addresses that
 * were screened, and nowhere else. All of it with a proxy in the environment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "domain/outbound.h"
#include "ledger/base/io.h"
#include "ledger/codec/json.h"
#include "tests/support/resolver.h"
#include "tests/support/tls_peer.h"

#define ROWS_MIN 60

#define REPLY                                                                     \
	"HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nLocation: https://127.0.0.1/\r\n" \
	"Connection: close\r\nContent-Length: 10\r\n\r\n0123456789"

struct fixture {
	struct arena *a;
	struct resolver *resolver;
	struct tls_peer *peer;
	char dir[64], loopback[64];
	struct outbound_rules rules;
	struct screened screened;
	struct outbound_reply reply;
	struct err e;
};

static void
answer(struct fixture *f, const char *record)
{
	resolver_answer(f->resolver, &record, 1);
}

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	char ca[96];

	f->a = arena_new();
	f->resolver = resolver_start();
	snprintf(f->dir, sizeof f->dir, "/tmp/probity-outbound-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->peer = tls_peer_start(f->dir, REPLY);
	snprintf(f->loopback, sizeof f->loopback, "hook.test:%d other.test:%d",
	    tls_peer_port(f->peer), tls_peer_port(f->peer));
	snprintf(ca, sizeof ca, "%s/ca.pem", f->dir);
	assert_int_equal(outbound_rules_make(f->a, str_from(f->loopback),
			     str_from(resolver_address(f->resolver)),
			     arena_str(f->a, str_from(ca)), &f->rules, &f->e),
	    0);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	tls_peer_stop(f->peer);
	resolver_stop(f->resolver);
	assert_int_equal(system(arena_printf(f->a, "rm -rf %s", f->dir)), 0);
	arena_free(f->a);
	free(f);
	return 0;
}

static void
set_answers(struct fixture *f, const struct json *list)
{
	const char *records[RESOLVER_RECORDS] = { NULL };
	size_t n = 0;

	assert_non_null(list);
	assert_true(list->n <= RESOLVER_RECORDS);
	for (const struct json *v = list->first; v; v = v->next)
		records[n++] = arena_cstr(f->a, v->text);
	resolver_answer(f->resolver, records, n);
}

static const char *
verdict_of(const struct err *e)
{
	if (!e->kind)
		return "accepted";
	if (e->kind == &err_invalid)
		return "refused";
	return e->kind == &err_unavailable ? "unresolved" : e->kind->slug;
}

static void
check_row(struct fixture *f, const struct json *row)
{
	struct str url = json_get_str(row, "url");
	struct str loopback = json_get_str(row, "loopback");
	const char *wanted = arena_cstr(f->a, json_get_str(row, "verdict"));
	struct outbound_rules rules;
	struct err e = { 0 };
	struct screened s;

	if (!loopback.p)
		loopback = STR("");
	assert_int_equal(outbound_rules_make(f->a, loopback, f->rules.resolver,
			     STR(""), &rules, &f->e),
	    0);
	set_answers(f, json_get(row, "answers"));
	outbound_screen_url(url, &rules, &s, &e);
	if (strcmp(verdict_of(&e), wanted) != 0)
		fail_msg("%.*s is %s, not %s: %s", STR_ARGS(url),
		    verdict_of(&e), wanted, e.detail);
	if (e.kind &&
	    !strstr(e.detail, arena_cstr(f->a, json_get_str(row, "reason"))))
		fail_msg("%.*s: %s", STR_ARGS(url), e.detail);
	if (!e.kind && (!str_is(json_get_str(row, "canonical"), s.url) ||
			   s.n_addresses == 0))
		fail_msg("%.*s becomes %s", STR_ARGS(url), s.url);
}

static void
test_vectors(void **state)
{
	struct fixture *f = *state;
	struct str text;
	struct json *rows;

	assert_int_equal(
	    io_read_file(f->a, "tests/vectors/ssrf.json", 65536, &text, &f->e),
	    0);
	assert_int_equal(
	    json_parse(f->a, text, &json_limits_default, &rows, &f->e), 0);
	assert_true(rows->n >= ROWS_MIN);
	for (const struct json *row = rows->first; row; row = row->next)
		check_row(f, row);
}

/* The address of a refused name is not told: who asks is a client. */
static void
test_reason_names_no_address(void **state)
{
	struct fixture *f = *state;

	answer(f, "10.11.12.13");
	assert_int_equal(
	    outbound_screen_url(STR("https://hook.example.com/k?s=1"),
		&f->rules, &f->screened, &f->e),
	    -1);
	assert_null(strstr(f->e.detail, "10.11"));
	assert_null(strstr(f->e.detail, "s=1"));
}

static void
test_rules_are_checked(void **state)
{
	static const struct {
		const char *loopback, *resolver, *reason;
	} rows[] = {
		{ "127.0.0.1", "", "outbound_loopback: 127.0.0.1 has no port" },
		{ "8.8.8.8:443", "", "is not a loopback address" },
		{ "10.0.0.1:443", "", "is not a loopback address" },
		{ "127.0.0.1:0", "", "outbound_loopback" },
		{ "127.0.0.1:443,127.0.0.1:444", "", "outbound_loopback" },
		{ "", "dns.example.com:53", "outbound_resolver" },
		{ "", "127.0.0.1", "outbound_resolver" },
	};
	struct fixture *f = *state;
	struct outbound_rules rules;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct err e = { 0 };

		assert_int_equal(
		    outbound_rules_make(f->a, str_from(rows[i].loopback),
			str_from(rows[i].resolver), STR(""), &rules, &e),
		    -1);
		assert_non_null(strstr(e.detail, rows[i].reason));
	}
}

static int
screen(struct fixture *f, const char *host)
{
	return outbound_screen_url(
	    arena_strf(f->a, "https://%s:%d/in", host, tls_peer_port(f->peer)),
	    &f->rules, &f->screened, &f->e);
}

static int
post(struct fixture *f)
{
	const struct outbound_header headers[] = { { "webhook-id",
	    STR("msg_1") } };
	const struct outbound_request request = {
		.screened = &f->screened,
		.content_type = STR("application/json"),
		.headers = headers,
		.n_headers = 1,
		.body = STR("{}"),
		.max_reply = 4,
		.cut_reply = true,
		.seconds = 20,
	};

	f->e = (struct err){ 0 };
	return outbound_post(&request, f->a, &f->reply, &f->e);
}

/* By name for the certificate, by address for the connection; no redirect
 * followed; a long reply cut. */
static void
test_request_and_reply(void **state)
{
	struct fixture *f = *state;
	const char *host;

	answer(f, "127.0.0.1");
	assert_int_equal(screen(f, "hook.test"), 0);
	if (post(f))
		fail_msg("%s", f->e.detail);
	assert_int_equal(f->reply.status, 503);
	assert_int_equal(f->reply.retry_after_s, 7);
	assert_true(str_is(f->reply.body, "0123"));
	assert_true(f->reply.duration_ms >= 0);
	assert_int_equal(tls_peer_connections(f->peer), 1);
	assert_string_equal(tls_peer_name(f->peer), "hook.test");
	host = arena_printf(
	    f->a, "\r\nHost: hook.test:%d\r\n", tls_peer_port(f->peer));
	assert_non_null(strstr(tls_peer_request(f->peer), host));
	assert_non_null(
	    strstr(tls_peer_request(f->peer), "\r\nwebhook-id: msg_1\r\n"));
	assert_non_null(strstr(tls_peer_request(f->peer), "\r\n\r\n{}"));
}

static void
test_certificate_must_fit(void **state)
{
	struct fixture *f = *state;

	answer(f, "127.0.0.1");
	assert_int_equal(screen(f, "other.test"), 0);
	assert_int_equal(post(f), -1);
	assert_ptr_equal(f->e.kind, &err_unavailable);
	f->rules.ca = STR_NONE;
	assert_int_equal(screen(f, "hook.test"), 0);
	assert_int_equal(post(f), -1);
	assert_ptr_equal(f->e.kind, &err_unavailable);
	assert_string_equal(tls_peer_request(f->peer), "");
}

/* Once screened, a name is not asked for again: what it means by then would
 * be another address. */
static void
test_name_is_not_resolved_again(void **state)
{
	struct fixture *f = *state;
	size_t queries;

	answer(f, "127.0.0.1");
	assert_int_equal(screen(f, "hook.test"), 0);
	queries = resolver_queries(f->resolver);
	answer(f, "NXDOMAIN");
	assert_int_equal(post(f), 0);
	assert_int_equal(tls_peer_connections(f->peer), 1);
	assert_int_equal(resolver_queries(f->resolver), queries);
}

/* Public when it was registered, this machine when it is sent to. */
static void
test_rebinding(void **state)
{
	struct fixture *f = *state;
	struct str url = STR("https://rebind.example.com:8443/");

	answer(f, "8.8.8.8");
	assert_int_equal(
	    outbound_screen_url(url, &f->rules, &f->screened, &f->e), 0);
	assert_string_equal(f->screened.addresses[0], "8.8.8.8");
	answer(f, "127.0.0.1");
	assert_int_equal(
	    outbound_screen_url(url, &f->rules, &f->screened, &f->e), -1);
	assert_ptr_equal(f->e.kind, &err_invalid);
	assert_int_equal(f->screened.n_addresses, 0);
	assert_int_equal(post(f), -1);
	assert_int_equal(tls_peer_connections(f->peer), 0);
}

/* Whatever came before, the socket itself is not opened. */
static void
test_socket_is_screened(void **state)
{
	struct fixture *f = *state;

	answer(f, "127.0.0.1");
	assert_int_equal(screen(f, "hook.test"), 0);
	f->screened.loopback = false;
	assert_int_equal(post(f), -1);
	assert_non_null(strstr(f->e.detail, "not screened"));
	f->screened.loopback = true;
	f->screened.port++;
	assert_int_equal(post(f), -1);
	f->screened.port--;
	snprintf(f->screened.url, sizeof f->screened.url,
	    "https://localhost:%d/", f->screened.port);
	snprintf(f->screened.addresses[0], sizeof f->screened.addresses[0],
	    "127.0.0.2");
	assert_int_equal(post(f), -1);
	assert_non_null(strstr(f->e.detail, "not screened"));
	assert_int_equal(tls_peer_connections(f->peer), 0);
}

#define WITH_PEER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PEER(test_vectors),
		WITH_PEER(test_reason_names_no_address),
		WITH_PEER(test_rules_are_checked),
		WITH_PEER(test_request_and_reply),
		WITH_PEER(test_certificate_must_fit),
		WITH_PEER(test_name_is_not_resolved_again),
		WITH_PEER(test_rebinding),
		WITH_PEER(test_socket_is_screened),
	};

	signal(SIGPIPE, SIG_IGN);
	setenv("https_proxy", "http://127.0.0.1:1", 1);
	setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
