#include "fcgi/conditions.h"

const struct err_kind err_precondition = { "precondition-failed",
	"The record is not as the request says", 412, false,
	"Read the record again, and decide by what it is now." };

/* RFC 9110, 13.1.1: a strong comparison. */
static bool
holds_strongly(struct str list, struct str etag)
{
	if (str_is(header_trim(list), "*"))
		return true;
	while (list.p)
		if (str_eq(header_trim(str_take(&list, ',')), etag))
			return true;
	return false;
}

static int
match_alone(const struct headers *headers, struct str etag, struct err *e)
{
	struct str list = headers_get(headers, "if-match");

	if (!list.p || (etag.p && holds_strongly(list, etag)))
		return 0;
	return err_set(e, &err_precondition,
	    etag.p ? "If-Match names none of what is there now"
		   : "If-Match was sent, and this path has nothing to compare");
}

static bool
is_excluded(const struct headers *headers, struct str etag)
{
	struct str list = headers_get(headers, "if-none-match");

	return list.p && etag.p && header_etag_matches(list, etag);
}

int
conditions_match(const struct headers *headers, struct str etag, struct err *e)
{
	if (match_alone(headers, etag, e))
		return -1;
	if (is_excluded(headers, etag))
		return err_set(
		    e, &err_precondition, "If-None-Match names what is there");
	return 0;
}

int
conditions_answer(const struct headers *headers, struct str etag,
    struct arena *a, struct response *r, struct err *e)
{
	if (match_alone(headers, etag, e)) {
		response_close(r);
		return -1;
	}
	response_add(r, a, "ETag", "%.*s", STR_ARGS(etag));
	if (is_excluded(headers, etag)) {
		r->status = 304;
		r->type = NULL;
		r->body = STR_NONE;
	}
	return 0;
}

struct judgement {
	const struct headers *headers;
	struct arena *arena;
};

static int
judge(void *arg, const struct reply *now, struct err *e)
{
	const struct judgement *j = arg;
	struct response r = { 0 };

	if (!now)
		return conditions_match(j->headers, STR_NONE, e);
	if (now->content)
		return conditions_match(j->headers,
		    response_etag(j->arena, now->content->bytes), e);
	if (response_set_json(&r, now->status, now->body, j->arena, e))
		return -1;
	return conditions_match(j->headers, response_etag(j->arena, r.body), e);
}

/* The row that reads what is at the path; NULL: none does. */
static const struct operation *
find_read(const struct front *front, const struct request *r)
{
	struct route_match match;

	if (router_find(front->router, STR("GET"), r->segments, r->n_segments,
		&match, NULL))
		return NULL;
	return match.route->op;
}

void
conditions_expect(const struct front *front, const struct request *r,
    struct arena *a, struct call *call)
{
	struct judgement *j;
	struct expectation *x;

	if (!headers_get(&r->headers, "if-match").p &&
	    !headers_get(&r->headers, "if-none-match").p)
		return;
	j = ARENA_NEW(a, struct judgement);
	x = ARENA_NEW(a, struct expectation);
	*j = (struct judgement){ &r->headers, a };
	*x = (struct expectation){ find_read(front, r), judge, j };
	call->expects = x;
}
