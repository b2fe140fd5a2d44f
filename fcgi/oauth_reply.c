#include "fcgi/oauth.h"

/* RFC 6749, 5.2: %x20-21 / %x23-5B / %x5D-7E. */
static struct str
description(struct arena *a, const struct err *e)
{
	char *text;

	if (e->kind->status >= 500)
		return STR("The operator finds the cause in the log, by the "
			   "request id.");
	text = arena_cstr(a, str_from(e->detail));
	for (char *p = text; *p; p++)
		if (*p < 0x20 || *p > 0x7e || *p == '"' || *p == '\\')
			*p = '?';
	return str_from(text);
}

/* The kinds of domain/oauth.h are named as the standard has it. */
static const char *
code_of(const struct err_kind *kind)
{
	if (kind == &err_oauth_client || kind == &err_oauth_unauthorized ||
	    kind == &err_oauth_scope || kind == &err_oauth_target ||
	    kind == &err_oauth_grant || kind == &err_oauth_response)
		return kind->slug;
	if (kind->status == 503 || kind->status == 429)
		return "temporarily_unavailable";
	return kind->status >= 500 ? "server_error" : "invalid_request";
}

void
oauth_error_reply(
    const struct err *e, bool challenge, struct arena *a, struct response *r)
{
	struct json *v = json_object(a);

	json_put_str(a, v, "error", str_from(code_of(e->kind)));
	json_put_str(a, v, "error_description", description(a, e));
	/* So short a body always has room. */
	(void)response_set_json(r, e->kind->status, v, a, NULL);
	response_add(r, a, "Pragma", "no-cache");
	if (e->kind->status == 401 && challenge)
		response_add(
		    r, a, "WWW-Authenticate", "Basic realm=\"probity\"");
	if (e->kind->status == 503 || e->kind->status == 429)
		response_add(r, a, "Retry-After", "%u",
		    e->retry_after_s > 0 ? e->retry_after_s : 5);
}
