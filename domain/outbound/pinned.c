#include "domain/outbound/pinned.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "domain/outbound/parts.h"
#include "ledger/base/buf.h"

#define RESOLVE_MAX               \
	(OUTBOUND_HOST_MAX + 16 + \
	    OUTBOUND_ADDRESSES_MAX * (OUTBOUND_ADDRESS_MAX + 3))

/* host:port:address,[address],… as CURLOPT_RESOLVE has it. */
static const char *
resolve_line(const struct screened *s, struct arena *a)
{
	struct buf b;
	char *line;

	buf_init(&b, RESOLVE_MAX);
	buf_addf(&b, "%s:%d:", s->host, s->port);
	for (size_t i = 0; i < s->n_addresses; i++) {
		bool brackets = strchr(s->addresses[i], ':') != NULL;

		buf_addf(&b, "%s%s%s%s", i > 0 ? "," : "", brackets ? "[" : "",
		    s->addresses[i], brackets ? "]" : "");
	}
	line = buf_failed(&b) ? NULL : arena_cstr(a, buf_str(&b));
	buf_fini(&b);
	return line;
}

/* An address in the URL itself is not looked up. */
static bool
needs_no_name(const struct screened *s)
{
	return s->n_addresses == 1 && strcmp(s->host, s->addresses[0]) == 0;
}

bool
pin_init(struct pin *pin, const struct screened *screened, struct arena *a)
{
	const char *line = resolve_line(screened, a);

	*pin = (struct pin){ .screened = screened };
	if (needs_no_name(screened))
		return true;
	if (line)
		pin->resolve = curl_slist_append(NULL, line);
	return pin->resolve != NULL;
}

void
pin_fini(struct pin *pin)
{
	curl_slist_free_all(pin->resolve);
}

static bool
is_screened(const struct screened *s, const struct sockaddr *address)
{
	const struct sockaddr_in *v4 = (const void *)address;
	const struct sockaddr_in6 *v6 = (const void *)address;

	if (address->sa_family == AF_INET)
		return ntohs(v4->sin_port) == s->port &&
		       screened_has(s, AF_INET, &v4->sin_addr);
	return address->sa_family == AF_INET6 &&
	       ntohs(v6->sin6_port) == s->port &&
	       screened_has(s, AF_INET6, &v6->sin6_addr);
}

/* The last word: whatever libcurl made of URL, names and options before. */
static curl_socket_t
open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *to)
{
	struct pin *pin = arg;

	(void)purpose;
	if (is_screened(pin->screened, &to->addr))
		return socket(
		    to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
	pin->strayed = true;
	return CURL_SOCKET_BAD;
}

static bool
set_authorities(CURL *curl, const struct screened *s, struct arena *a)
{
	return s->ca.n == 0 || curl_easy_setopt(curl, CURLOPT_CAINFO,
				   arena_cstr(a, s->ca)) == CURLE_OK;
}

bool
pin_set(CURL *curl, struct pin *pin)
{
	struct arena *a = arena_new();
	bool set =
	    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https") ==
		CURLE_OK &&
	    curl_easy_setopt(curl, CURLOPT_RESOLVE, pin->resolve) == CURLE_OK &&
	    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket) ==
		CURLE_OK &&
	    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, pin) == CURLE_OK &&
	    set_authorities(curl, pin->screened, a);

	arena_free(a); /* libcurl keeps a copy */
	return set;
}
