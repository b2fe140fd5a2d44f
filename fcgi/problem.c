#include "fcgi/problem.h"

#include <string.h>

#include "domain/service.h"

#define REGISTERED "https://iana.org/assignments/http-problem-types"

/* Seconds, where a retry may help and nothing better is known. */
#define RETRY_AFTER_DEFAULT_S 5

static struct str
code_of(struct arena *a, const struct err_kind *kind)
{
	char *code = arena_cstr(a, str_from(kind->slug));

	for (char *p = code; *p; p++)
		if (*p == '-')
			*p = '_';
	return str_from(code);
}

static struct json *
field_list(struct arena *a, const struct err *e)
{
	struct json *list = json_array(a);

	for (const struct err_field *f = e->fields; f; f = f->next) {
		struct json *item = json_object(a);

		json_put_str(a, item, f->place, str_from(f->at));
		json_put_str(a, item, "detail", str_from(f->detail));
		json_put_str(a, item, "code", str_from(f->code));
		json_push(list, item);
	}
	return list;
}

/* The standard's own members stay as they are. */
static void
add_extension(struct arena *a, struct json *problem, const struct json *more)
{
	if (!more || more->type != JSON_OBJECT)
		return;
	for (const struct json *m = more->first; m; m = m->next) {
		const char *name = arena_cstr(a, m->name);

		if (!json_get(problem, name))
			json_put(problem, name, json_copy(a, m));
	}
}

/* These come from below, with paths and the like in what they say. */
static bool
is_for_the_log(const struct err_kind *kind)
{
	return kind == &err_internal || kind == &err_unavailable ||
	       kind == &err_corrupt || kind == &err_rolled_back ||
	       kind == &err_view_damaged || kind == &err_no_space;
}

static struct str
detail_of(const struct err *e)
{
	if (is_for_the_log(e->kind))
		return STR("The operator finds the cause in the log, by the "
			   "request id.");
	return str_from(e->detail);
}

/* Registered with IANA where there is one for it; otherwise a page of ours. */
static struct str
type_of(const struct err *e, struct str base_url, struct arena *a)
{
	if (e->kind == &err_rate)
		return STR(REGISTERED "#quota-exceeded");
	if (e->kind == &err_capacity)
		return STR(REGISTERED "#temporary-reduced-capacity");
	return arena_strf(
	    a, "%.*s/problems/%s", STR_ARGS(base_url), e->kind->slug);
}

struct json *
problem_json(const struct err *e, struct str base_url, struct uid request,
    struct arena *a)
{
	struct json *v = json_object(a);
	char id[UID_TEXT + 1];

	uid_format(request, id);
	json_put_str(a, v, "type", type_of(e, base_url, a));
	json_put_str(a, v, "title", str_from(e->kind->title));
	json_put_int(a, v, "status", e->kind->status);
	json_put_str(a, v, "detail", detail_of(e));
	json_put_str(a, v, "instance", arena_strf(a, "urn:uuid:%s", id));
	json_put_str(a, v, "code", code_of(a, e->kind));
	if (e->fields)
		json_put(v, "errors", field_list(a, e));
	add_extension(a, v, e->extension);
	return v;
}

void
problem_reply(const struct err *e, struct str base_url, struct uid request,
    struct arena *a, struct response *r)
{
	struct json *v = problem_json(e, base_url, request, a);
	int status = e->kind->status;

	if (response_set_json(r, status, v, a, NULL)) {
		r->status = status;
		r->body = STR("{}");
	}
	r->type = "application/problem+json";
	if ((status == 429 || status == 503) &&
	    (e->kind->retryable || e->retry_after_s > 0))
		response_add(r, a, "Retry-After", "%u",
		    e->retry_after_s > 0 ? e->retry_after_s
					 : RETRY_AFTER_DEFAULT_S);
}
