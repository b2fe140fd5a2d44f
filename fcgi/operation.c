#include "domain/call.h"
#include "domain/paging.h"
#include "fcgi/conditions.h"
#include "fcgi/deprecation.h"
#include "fcgi/front_state.h"
#include "fcgi/limits.h"
#include "fcgi/negotiation.h"
#include "fcgi/trace.h"
#include "ledger/codec/text.h"

static bool
body_is_empty_object(const struct json *body)
{
	return body->n == 0;
}

/* What the row wants of the body, and nothing else. */
static int
read_input(struct front *front, struct request *r, struct call *call,
    struct arena *a, struct err *e)
{
	const struct operation *op = call->op;
	struct json *body = NULL;

	if (request_read_query(r, a, e) ||
	    negotiation_check_reply(&r->headers, op, e) ||
	    header_idempotency_key(&r->headers, a, &call->idempotency_key, e) ||
	    request_read_body(r, front->max_body, a, e) ||
	    negotiation_check_body(r, e))
		return -1;
	if (r->body.n > 0 || (!op->no_body && !op->body_optional))
		if (request_parse_body(r, front->max_body, a, &body, e))
			return -1;
	/* Some clients send {} wherever a request has nothing to say. */
	if (op->no_body && body && !body_is_empty_object(body))
		return err_set(
		    e, &err_malformed, "this operation takes no body");
	call->body = r->body;
	call->input = (struct input){
		.body = op->no_body ? NULL : body,
		.params = r->params,
		.n_params = r->n_params,
	};
	call->accept = headers_get(&r->headers, "accept");
	if (op->effect != EFFECT_READ)
		conditions_expect(front, r, a, call);
	return 0;
}

/*
 * Whether the caller may is answered before what is wrong with the request.
 * The row's own run asks it first of all, so here only a fault needs asking.
 */
static int
refuse(
    struct call *call, const struct err *fault, struct arena *a, struct err *e)
{
	struct reading reading;
	int rc;

	if (call->ledger) {
		if (ledger_read_begin(call->ledger, &reading, e))
			return -1;
		rc = call_authorize(reading.db, call->caller, call->op,
		    clock_system.wall(&clock_system), a, e);
		ledger_read_end(&reading);
		if (rc)
			return -1;
	}
	*e = *fault;
	return -1;
}

/* The catalog's check holds a row's record against the rows that read. */
static void
add_location(const struct front *front, const struct operation *op,
    const struct reply *reply, struct arena *a, struct response *response)
{
	struct str uid = json_get_str(reply->body, "uid");
	struct str path = str_from(op->record);

	if (!op->record || !uid.p ||
	    (reply->status != 201 && reply->status != 202))
		return;
	path = str_take(&path, '{');
	response_add(response, a, "Location", "%.*s%.*s%.*s",
	    STR_ARGS(front->prefix), STR_ARGS(path), STR_ARGS(uid));
}

/* The same query from there on, as RFC 8288 has it. */
static void
add_next_link(const struct operation *op, const struct request *r,
    const struct reply *reply, struct arena *a, struct response *response)
{
	const struct field *member = paging_member(op);
	const struct json *next =
	    member ? json_get(reply->body, member->name) : NULL;
	const char *name;
	struct buf query;

	if (!next || next->type == JSON_NULL)
		return;
	name = paging_parameter(member);
	buf_init(&query, 1024);
	for (size_t i = 0; i < r->n_params; i++) {
		const struct param *p = &r->params[i];

		if (p->place != IN_QUERY || str_is(p->name, name))
			continue;
		percent_add(&query, p->name);
		buf_add_byte(&query, '=');
		percent_add(&query, p->value);
		buf_add_byte(&query, '&');
	}
	buf_addf(&query, "%s=", name);
	percent_add(&query, next->text);
	if (!buf_failed(&query) && r->path.n < 512)
		response_add(response, a, "Link", "<%.*s?%.*s>; rel=\"next\"",
		    STR_ARGS(r->path), STR_ARGS(buf_str(&query)));
	buf_fini(&query);
}

/* A source of the domain's as one of this layer. */
struct streamed {
	struct response_source source;
	struct content_source *from;
};

static struct streamed *
streamed_of(struct response_source *source)
{
	return (struct streamed *)(void *)source; /* its first member */
}

static struct str
next_part(struct response_source *source)
{
	struct content_source *from = streamed_of(source)->from;

	return from->next(from);
}

static void
close_source(struct response_source *source)
{
	struct content_source *from = streamed_of(source)->from;

	from->close(from);
}

static void
set_source(
    const struct content *content, struct arena *a, struct response *response)
{
	struct streamed *streamed = ARENA_NEW(a, struct streamed);

	streamed->source = (struct response_source){ next_part, close_source };
	streamed->from = content->source;
	response->source = &streamed->source;
}

static int
set_body(const struct call *call, const struct reply *reply, struct arena *a,
    struct response *response, struct err *e)
{
	const struct content *content = reply->content;

	if (!content)
		return response_set_json(
		    response, reply->status, reply->body, a, e);
	if (response_set_bytes(response, reply->status,
		content->media_type ? content->media_type
				    : call->op->media_type,
		content->bytes, e))
		return -1;
	if (content->source)
		set_source(content, a, response);
	return 0;
}

/* A client may keep what it read, and asks each time whether it still is so. */
static int
set_etag(const struct request *r, const struct content *content,
    struct arena *a, struct response *response, struct err *e)
{
	struct str etag =
	    content && content->source
		? arena_strf(a, "\"%.*s\"", STR_ARGS(content->etag))
		: response_etag(a, response->body);

	if (conditions_answer(&r->headers, etag, a, response, e))
		return -1;
	response->cache = "private, no-cache";
	return 0;
}

static void
add_fields_of_read(const struct request *r, const struct call *call,
    const struct reply *reply, struct arena *a, struct response *response)
{
	if (reply->content && reply->content->file_name.p)
		response_add_file_name(response, a, reply->content->file_name);
	if (call->ledger)
		response_add(response, a, "Ledger-Size", "%llu",
		    (unsigned long long)reply->ledger_size);
	add_next_link(call->op, r, reply, a, response);
}

/* What describes the reply comes after the conditions, which may refuse it. */
static int
answer(const struct front *front, const struct request *r,
    const struct call *call, const struct reply *reply, struct arena *a,
    struct response *response, struct err *e)
{
	bool is_read = call->op->effect == EFFECT_READ;

	if (set_body(call, reply, a, response, e) ||
	    (is_read && reply->status == 200 &&
		set_etag(r, reply->content, a, response, e)))
		return -1;
	if (reply->retry_after_s > 0)
		response_add(
		    response, a, "Retry-After", "%u", reply->retry_after_s);
	response_add(response, a, "Vary", "Authorization%s",
	    call->op->renderings ? ", Accept" : "");
	if (is_read) {
		add_fields_of_read(r, call, reply, a, response);
		return 0;
	}
	if (reply->replayed)
		response_add(response, a, "Idempotency-Replayed", "true");
	add_location(front, call->op, reply, a, response);
	return 0;
}

static int
run(struct front *front, struct request *r, struct call *call, struct arena *a,
    struct response *response, struct err *e)
{
	struct err fault = { 0 };
	struct reply reply;
	int rc;

	if (limits_pass(front, call->caller, call->op, a, response, e))
		return -1;
	if (read_input(front, r, call, a, &fault))
		return r->gone ? err_set(e, fault.kind, "%s", fault.detail)
			       : refuse(call, &fault, a, e);
	rc = call_run(front->service, call, a, &reply, e);
	r->served.first_seq = reply.first_seq;
	r->served.last_seq = reply.last_seq;
	if (rc)
		return -1;
	return answer(front, r, call, &reply, a, response, e);
}

/* What would have been right: RFC 6750, 3, and RFC 9110, 15.5.16. A client that
 * sent no bearer token is told no error of one. */
static void
add_remedy(const struct request *r, const struct err *e, struct arena *a,
    struct response *response)
{
	bool sent = header_has_bearer(&r->headers);

	if (e->kind == &err_media_type)
		negotiation_offer(response, a);
	else if (e->kind->status == 401)
		response_add(response, a, "WWW-Authenticate",
		    "Bearer realm=\"probity\"%s",
		    sent ? ", error=\"invalid_token\"" : "");
	else if (e->scope)
		response_add(response, a, "WWW-Authenticate",
		    "Bearer realm=\"probity\", error=\"insufficient_scope\", "
		    "scope=\"%s\"",
		    e->scope);
}

int
operation_serve(struct front *front, struct request *r,
    const struct route_match *match, struct arena *a, struct response *response,
    struct err *e)
{
	struct caller caller;
	struct ledger *ledger = NULL;
	struct call call = {
		.op = match->route->op,
		.target = r->target,
		.request = r->id,
		.trace = trace_read(&r->headers, a),
	};
	struct str token;
	int rc = -1;

	deprecation_announce(
	    call.op, r, front->base_url, front->prefix, a, response);
	if (header_bearer(&r->headers, &token, e) == 0 &&
	    call_authenticate(front->service, token, a, &caller, &ledger, e) ==
		0) {
		call.caller = &caller;
		call.ledger = ledger;
		request_serve(r, &caller);
		rc = run(front, r, &call, a, response, e);
		service_release(front->service, ledger);
	}
	if (rc)
		add_remedy(r, e, a, response);
	return rc;
}
