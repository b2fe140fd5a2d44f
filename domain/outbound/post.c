#include <curl/curl.h>
#include <pthread.h>

#include "domain/outbound.h"
#include "ledger/base/buf.h"

static pthread_once_t library_once = PTHREAD_ONCE_INIT;
static CURLcode library;

static void
start_library(void)
{
	library = curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* Taking less than was offered ends the transfer. */
static size_t
take(char *bytes, size_t size, size_t n, void *arg)
{
	struct buf *body = arg;

	buf_add(body, (struct str){ bytes, size * n });
	return buf_failed(body) ? 0 : size * n;
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
	       curl_easy_setopt(curl, CURLOPT_TIMEOUT, seconds) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, seconds) ==
		   CURLE_OK;
}

static bool
set_request(CURL *curl, const struct outbound_request *request,
    struct curl_slist *headers, struct arena *a, struct buf *body)
{
	return curl_easy_setopt(curl, CURLOPT_URL,
		   arena_cstr(a, request->url)) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
		   (curl_off_t)request->body.n) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_POSTFIELDS,
		   request->body.p ? request->body.p : "") == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers) ==
		   CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take) ==
		   CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_WRITEDATA, body) == CURLE_OK;
}

static int
take_reply(CURL *curl, const struct buf *body, struct arena *a,
    struct outbound_reply *reply)
{
	const char *type = NULL;
	long status = 0;

	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
	*reply = (struct outbound_reply){
		.status = (int)status,
		.content_type = type ? arena_str(a, str_from(type)) : STR_NONE,
		.body = arena_str(a, buf_str(body)),
	};
	return 0;
}

static int
perform(CURL *curl, const struct outbound_request *request,
    struct curl_slist *headers, struct arena *a, struct outbound_reply *reply,
    struct err *e)
{
	struct buf body;
	CURLcode code;
	int failed;

	buf_init(&body, request->max_reply);
	if (!set_limits(curl, request->seconds) ||
	    !set_request(curl, request, headers, a, &body))
		failed = err_set(e, &err_internal, "cannot prepare a request");
	else if ((code = curl_easy_perform(curl)) == CURLE_OK)
		failed = take_reply(curl, &body, a, reply);
	else if (buf_failed(&body))
		failed = err_set(e, &err_unavailable,
		    "%.*s answers with more than %zu bytes",
		    STR_ARGS(request->url), request->max_reply);
	else
		failed = err_set(e, &err_unavailable, "%.*s: %s",
		    STR_ARGS(request->url), curl_easy_strerror(code));
	buf_fini(&body);
	return failed;
}

/* An empty "Expect" keeps the body from waiting for a word of the peer. */
static struct curl_slist *
make_headers(const struct outbound_request *request, struct arena *a)
{
	struct curl_slist *list = curl_slist_append(NULL, "Expect:");
	struct curl_slist *more;

	if (!list)
		return NULL;
	more = curl_slist_append(list, arena_printf(a, "Content-Type: %.*s",
					   STR_ARGS(request->content_type)));
	if (!more)
		curl_slist_free_all(list);
	return more;
}

int
outbound_post(const struct outbound_request *request, struct arena *a,
    struct outbound_reply *reply, struct err *e)
{
	struct curl_slist *headers;
	CURL *curl;
	int failed;

	if (outbound_check_url(request->url, e))
		return -1;
	pthread_once(&library_once, start_library);
	if (library != CURLE_OK)
		return err_set(e, &err_internal, "cannot start libcurl");
	curl = curl_easy_init();
	headers = make_headers(request, a);
	failed = curl && headers
		     ? perform(curl, request, headers, a, reply, e)
		     : err_set(e, &err_unavailable, "no memory for a request");
	curl_slist_free_all(headers);
	curl_easy_cleanup(curl);
	return failed;
}
