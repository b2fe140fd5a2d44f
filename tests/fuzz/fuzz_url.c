/*
 * A URL that passes the screen's form has one reading: written anew it passes
 * as itself, libcurl sees the same host and port in it, and its host is of a
 * few plain characters.
 */
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "domain/outbound.h"
#include "ledger/base/library.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static struct {
	__typeof__(&curl_free) free;
	__typeof__(&curl_url) new;
	__typeof__(&curl_url_cleanup) cleanup;
	__typeof__(&curl_url_get) get;
	__typeof__(&curl_url_set) set;
} curl;
static const struct library_symbol symbols[] = {
	{ "curl_free", &curl.free },
	{ "curl_url", &curl.new },
	{ "curl_url_cleanup", &curl.cleanup },
	{ "curl_url_get", &curl.get },
	{ "curl_url_set", &curl.set },
	{ 0 },
};
static struct library library = { "libcurl.so.4", symbols, NULL };

static void
check_again(const struct screened *s, const struct outbound_rules *rules)
{
	struct screened again;
	struct err e = { 0 };

	if (outbound_screen_form(str_from(s->url), rules, &again, &e) ||
	    strcmp(s->url, again.url) != 0 ||
	    strcmp(s->host, again.host) != 0 || s->port != again.port)
		abort();
}

static void
check_host(const char *host)
{
	size_t plain = strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789-.:");

	if (!*host || host[plain])
		abort();
}

static bool
is_host(const char *seen, const char *host)
{
	size_t n = strlen(host);

	if (seen[0] == '[')
		return strncmp(seen + 1, host, n) == 0 &&
		       strcmp(seen + 1 + n, "]") == 0;
	return strcmp(seen, host) == 0;
}

static void
check_curl(const struct screened *s)
{
	char *host = NULL, *port = NULL, *user = NULL;
	struct err e = { 0 };
	CURLU *url;

	if (library_load(&library, &e) || !(url = curl.new()) ||
	    curl.set(url, CURLUPART_URL, s->url, 0) ||
	    curl.get(url, CURLUPART_HOST, &host, 0) ||
	    curl.get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) ||
	    !is_host(host, s->host) || atoi(port) != s->port ||
	    curl.get(url, CURLUPART_USER, &user, 0) != CURLUE_NO_USER)
		abort();
	curl.free(host);
	curl.free(port);
	curl.cleanup(url);
}

/* An operator's URL is screened without libcurl, which then asks for it. */
static void
check_operators(struct str input)
{
	char *user = NULL, *scheme = NULL, *host = NULL;
	struct arena *a = arena_new();
	struct err e = { 0 };
	CURLU *url;

	if (outbound_check_url(input, &e) == 0) {
		if (library_load(&library, &e) || !(url = curl.new()))
			abort();
		if (curl.set(url, CURLUPART_URL, arena_cstr(a, input), 0) ==
			CURLUE_OK &&
		    (curl.get(url, CURLUPART_USER, &user, 0) !=
			    CURLUE_NO_USER ||
			curl.get(url, CURLUPART_SCHEME, &scheme, 0) ||
			curl.get(url, CURLUPART_HOST, &host, 0) ||
			(strcmp(scheme, "https") != 0 &&
			    strcmp(host, "127.0.0.1") != 0 &&
			    strcmp(host, "[::1]") != 0)))
			abort();
		curl.free(scheme);
		curl.free(host);
		curl.cleanup(url);
	}
	arena_free(a);
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static const struct str allowed[] = { { "127.0.0.1:1", 11 },
		{ "hook.test:9", 11 } };
	const struct outbound_rules rules = { .loopback_allowed = allowed,
		.n = 2 };
	struct str input = { (const char *)p, n };
	struct screened s;
	struct err e = { 0 };

	check_operators(input);
	if (outbound_screen_form(input, &rules, &s, &e)) {
		if (e.kind != &err_invalid)
			abort();
		return 0;
	}
	if (s.n_addresses > 0)
		abort();
	check_again(&s, &rules);
	check_host(s.host);
	check_curl(&s);
	return 0;
}
