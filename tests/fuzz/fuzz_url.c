/*
 * A URL that passes the screen's form has one reading: written anew it passes
 * as itself, libcurl sees the same host and port in it, and its host is of a
 * few plain characters.
 */
#include <stdlib.h>
#include <string.h>

#include "domain/outbound.h"
#include "domain/outbound/curl_library.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

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

	if (curl_library_load(&e) || !(url = curl_url()) ||
	    curl_url_set(url, CURLUPART_URL, s->url, 0) ||
	    curl_url_get(url, CURLUPART_HOST, &host, 0) ||
	    curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) ||
	    !is_host(host, s->host) || atoi(port) != s->port ||
	    curl_url_get(url, CURLUPART_USER, &user, 0) != CURLUE_NO_USER)
		abort();
	curl_free(host);
	curl_free(port);
	curl_url_cleanup(url);
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
		if (curl_library_load(&e) || !(url = curl_url()))
			abort();
		if (curl_url_set(url, CURLUPART_URL, arena_cstr(a, input), 0) ==
			CURLUE_OK &&
		    (curl_url_get(url, CURLUPART_USER, &user, 0) !=
			    CURLUE_NO_USER ||
			curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) ||
			curl_url_get(url, CURLUPART_HOST, &host, 0) ||
			(strcmp(scheme, "https") != 0 &&
			    strcmp(host, "127.0.0.1") != 0 &&
			    strcmp(host, "[::1]") != 0)))
			abort();
		curl_free(scheme);
		curl_free(host);
		curl_url_cleanup(url);
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
