#include "domain/outbound.h"
#include "domain/outbound/curl_library.h"

/* The part's text for curl_free; NULL when the URL does not have it. */
static char *
part_of(CURLU *url, CURLUPart part)
{
	char *text = NULL;

	return curl_url_get(url, part, &text, 0) == CURLUE_OK ? text : NULL;
}

static bool
has(CURLU *url, CURLUPart part)
{
	char *text = part_of(url, part);
	bool found = text != NULL;

	curl_free(text);
	return found;
}

static bool
part_is(CURLU *url, CURLUPart part, const char *wanted)
{
	char *text = part_of(url, part);
	bool same = str_is(str_from(text), wanted);

	curl_free(text);
	return same;
}

/* Without a certificate only this machine is who it seems to be. */
static bool
is_private_enough(CURLU *url)
{
	return part_is(url, CURLUPART_SCHEME, "https") ||
	       (part_is(url, CURLUPART_SCHEME, "http") &&
		   (part_is(url, CURLUPART_HOST, "127.0.0.1") ||
		       part_is(url, CURLUPART_HOST, "[::1]")));
}

static int
check(CURLU *url, const char *text, struct err *e)
{
	if (curl_url_set(url, CURLUPART_URL, text, 0) != CURLUE_OK)
		return err_set(e, &err_invalid, "%s is not a URL", text);
	if (has(url, CURLUPART_USER) || has(url, CURLUPART_PASSWORD) ||
	    has(url, CURLUPART_FRAGMENT))
		return err_set(e, &err_invalid,
		    "the URL must have no user, password or fragment");
	if (!is_private_enough(url))
		return err_set(e, &err_invalid,
		    "%s must begin with https://, or with http:// at 127.0.0.1"
		    " or [::1]",
		    text);
	return 0;
}

int
outbound_check_url(struct str text, struct err *e)
{
	struct arena *a;
	CURLU *url;
	int failed;

	if (text.n == 0 || text.n > OUTBOUND_URL_MAX ||
	    str_find(text, '\0') < text.n)
		return err_set(e, &err_invalid, "a URL has 1 to %d characters",
		    OUTBOUND_URL_MAX);
	if (curl_library_load(e))
		return -1;
	a = arena_new();
	url = curl_url();
	failed = url ? check(url, arena_cstr(a, text), e)
		     : err_set(e, &err_unavailable, "no memory for a URL");
	curl_url_cleanup(url);
	arena_free(a);
	return failed;
}
