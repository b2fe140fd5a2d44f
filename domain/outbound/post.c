#include "domain/outbound.h"
#include "domain/outbound/curl_library.h"
#include "domain/outbound/pinned.h"
#include "ledger/base/buf.h"

#define HEADERS_MAX 32

/* One exchange, with what libcurl borrows while it lasts. */
struct exchange {
	const struct outbound_request *request;
	const char *url;
	struct curl_slist *headers;
	struct pin pin;
	struct buf body;
	bool cut; /* the reply was longer */
};

/* Taking less than was offered ends the transfer. */
static size_t
take(char *bytes, size_t size, size_t n, void *arg)
{
	struct exchange *x = arg;
	size_t room = x->request->max_reply - x->body.n, all = size * n;

	if (all > room)
		x->cut = true;
	buf_add(&x->body, (struct str){ bytes, all < room ? all : room });
	return x->cut ? 0 : all;
}

/* What every request has: no redirect, no proxy, no other protocol, and a
 * time after which it ends whatever the peer does. */
static bool
set_limits(CURL *curl, long seconds)
{
	return curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") ==
		   CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_PROXY, "") == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
	       curl_easy_setopt(
		   curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_TIMEOUT, seconds) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, seconds) ==
		   CURLE_OK;
}

static bool
set_request(CURL *curl, struct exchange *x)
{
	const struct outbound_request *request = x->request;

	return curl_easy_setopt(curl, CURLOPT_URL, x->url) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
		   (curl_off_t)request->body.n) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_POSTFIELDS,
		   request->body.p ? request->body.p : "") == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_HTTPHEADER, x->headers) ==
		   CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take) ==
		   CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_WRITEDATA, x) == CURLE_OK &&
	       (!request->screened || pin_set(curl, &x->pin));
}

static int
take_reply(CURL *curl, const struct exchange *x, struct arena *a,
    struct outbound_reply *reply)
{
	curl_off_t retry_after = 0, duration_us = 0;
	const char *type = NULL;
	long status = 0;

	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
	curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &retry_after);
	curl_easy_getinfo(curl, CURLINFO_TOTAL_TIME_T, &duration_us);
	*reply = (struct outbound_reply){
		.status = (int)status,
		.content_type = type ? arena_str(a, str_from(type)) : STR_NONE,
		.body = arena_str(a, buf_str(&x->body)),
		.retry_after_s = retry_after,
		.duration_ms = duration_us / 1000,
	};
	return 0;
}

/* A client's URL may hold a secret: only its host is told. */
static int
refuse(const struct exchange *x, CURLcode code, struct err *e)
{
	const struct screened *screened = x->request->screened;
	struct str peer = screened ? str_from(screened->host) : x->request->url;

	if (x->cut)
		return err_set(e, &err_unavailable,
		    "%.*s answers with more than %zu bytes", STR_ARGS(peer),
		    x->request->max_reply);
	if (x->pin.strayed)
		return err_set(e, &err_unavailable,
		    "%.*s would be asked at an address that was not screened",
		    STR_ARGS(peer));
	return err_set(e, &err_unavailable, "%.*s: %s", STR_ARGS(peer),
	    curl_easy_strerror(code));
}

static int
perform(CURL *curl, struct exchange *x, struct arena *a,
    struct outbound_reply *reply, struct err *e)
{
	CURLcode code;

	if (!set_limits(curl, x->request->seconds) || !set_request(curl, x))
		return err_set(e, &err_internal, "cannot prepare a request");
	code = curl_easy_perform(curl);
	if (code == CURLE_OK || (x->cut && x->request->cut_reply))
		return take_reply(curl, x, a, reply);
	return refuse(x, code, e);
}

static bool
append(struct curl_slist **list, const char *line)
{
	struct curl_slist *more = curl_slist_append(*list, line);

	if (more)
		*list = more;
	return more != NULL;
}

static bool
is_one_line(struct str value)
{
	return str_find(value, '\r') == value.n &&
	       str_find(value, '\n') == value.n &&
	       str_find(value, '\0') == value.n;
}

/* An empty "Expect" keeps the body from waiting for a word of the peer. */
static int
make_headers(const struct outbound_request *request, struct arena *a,
    struct curl_slist **list, struct err *e)
{
	bool made = append(list, "Expect:") &&
		    append(list, arena_printf(a, "Content-Type: %.*s",
				     STR_ARGS(request->content_type)));

	if (request->n_headers > HEADERS_MAX)
		return err_set(e, &err_internal, "a request has %zu headers",
		    request->n_headers);
	for (size_t i = 0; made && i < request->n_headers; i++) {
		const struct outbound_header *h = &request->headers[i];

		if (!is_one_line(h->value))
			return err_set(e, &err_internal,
			    "the header %s has more than a line", h->name);
		made = append(list,
		    arena_printf(a, "%s: %.*s", h->name, STR_ARGS(h->value)));
	}
	return made ? 0
		    : err_set(e, &err_unavailable, "no memory for a request");
}

static int
exchange(CURL *curl, struct exchange *x, struct arena *a,
    struct outbound_reply *reply, struct err *e)
{
	const struct screened *screened = x->request->screened;

	if (!curl || (screened && !pin_init(&x->pin, screened, a)))
		return err_set(e, &err_unavailable, "no memory for a request");
	if (make_headers(x->request, a, &x->headers, e))
		return -1;
	return perform(curl, x, a, reply, e);
}

int
outbound_post(const struct outbound_request *request, struct arena *a,
    struct outbound_reply *reply, struct err *e)
{
	struct exchange x = { .request = request };
	CURL *curl;
	int failed;

	if (request->screened && request->screened->n_addresses == 0)
		return err_set(e, &err_internal, "no address was screened");
	if (!request->screened && outbound_check_url(request->url, e))
		return -1;
	if (curl_library_load(e))
		return -1;
	x.url = request->screened ? request->screened->url
				  : arena_cstr(a, request->url);
	buf_init(&x.body, request->max_reply);
	curl = curl_easy_init();
	failed = exchange(curl, &x, a, reply, e);
	curl_slist_free_all(x.headers);
	curl_easy_cleanup(curl);
	pin_fini(&x.pin);
	buf_fini(&x.body);
	return failed;
}
