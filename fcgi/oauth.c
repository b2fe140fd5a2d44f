#include "fcgi/oauth.h"

#include "domain/words.h"

const struct err_kind err_oauth_grant = { "unsupported_grant_type",
	"The grant type is not offered", 400, false,
	"Send grant_type=client_credentials." };
const struct err_kind err_oauth_response = { "unsupported_response_type",
	"Nobody can be asked for consent here", 400, false,
	"Take the client credentials grant at the token endpoint." };

typedef int (*answer)(struct front *, struct request *, struct oauth_visit *,
    struct arena *, struct response *, struct err *);

/* Everything between a form and its reply. What went wrong is told in OAuth's
 * own words, and left in *e for the log. */
static int
serve(struct front *front, struct request *r, struct oauth_visit *visit,
    answer f, struct arena *a, struct response *response, struct err *e)
{
	int rc = oauth_visit_begin(front, r, a, response, visit, e);

	if (rc == 0)
		rc = f(front, r, visit, a, response, e);
	oauth_visit_end(front, visit);
	if (rc)
		oauth_error_reply(e, visit->challenge, a, response);
	return 0;
}

static int
read_resources(
    struct oauth_visit *v, struct arena *a, struct str_list *out, struct err *e)
{
	struct str *items = arena_array(a, TOKEN_RESOURCES_MAX, sizeof *items);
	size_t n =
	    form_get_all(&v->form, "resource", items, TOKEN_RESOURCES_MAX);

	if (n > TOKEN_RESOURCES_MAX)
		return err_set(e, &err_oauth_target,
		    "a token may be for %d resources", TOKEN_RESOURCES_MAX);
	*out = (struct str_list){ items, n };
	return 0;
}

static int
answer_token(struct front *front, struct request *r, struct oauth_visit *v,
    struct arena *a, struct response *response, struct err *e)
{
	struct str type = form_get(&v->form, "grant_type");
	struct token_request asked = {
		.client = &v->client,
		.scope = form_get(&v->form, "scope"),
		.request = r->id,
	};
	struct json *body = json_object(a);
	struct token_grant grant;

	if (!type.p)
		return err_set(e, &err_malformed, "grant_type is not there");
	if (!str_is(type, "client_credentials"))
		return err_set(e, &err_oauth_grant,
		    "the grant type is not client_credentials");
	if (read_resources(v, a, &asked.resource, e) ||
	    access_token_issue(front->service, v->ledger, &asked, a, &grant, e))
		return -1;
	r->served.first_seq = r->served.last_seq = grant.seq;
	json_put_str(a, body, "access_token", grant.token);
	json_put_str(a, body, "token_type", STR("Bearer"));
	json_put_int(a, body, "expires_in", grant.expires_in_s);
	json_put_str(a, body, "scope", grant.scope);
	response_add(response, a, "Pragma", "no-cache");
	return response_set_json(response, 200, body, a, e);
}

static struct json *
audience(struct arena *a, struct str_list list)
{
	struct json *v = json_array(a);

	if (list.n == 1)
		return json_string(a, list.items[0]);
	for (size_t i = 0; i < list.n; i++)
		json_push(v, json_string(a, list.items[i]));
	return v;
}

/* RFC 7662, 2.2. */
static struct json *
describe(const struct front *front, const struct access_token *token,
    struct arena *a)
{
	const struct credential *credential = &token->credential;
	struct json *v = json_object(a);

	json_put(v, "active", json_bool(a, true));
	json_put_str(a, v, "scope", words_join(a, credential->scopes));
	json_put_str(a, v, "client_id", credential->public_id);
	json_put_str(a, v, "token_type", STR("Bearer"));
	json_put_int(a, v, "exp", credential->expires_at.us / 1000000);
	json_put_int(a, v, "iat", token->issued_at.us / 1000000);
	json_put_str(a, v, "sub", credential->public_id);
	json_put(v, "aud", audience(a, token->audience));
	json_put_str(a, v, "iss", oauth_issuer(a, front->base_url));
	return v;
}

static int
need_token(const struct oauth_visit *v, struct str *text, struct err *e)
{
	*text = form_get(&v->form, "token");
	if (!text->p)
		return err_set(e, &err_malformed, "token is not there");
	return 0;
}

static int
answer_introspect(struct front *front, struct request *r, struct oauth_visit *v,
    struct arena *a, struct response *response, struct err *e)
{
	struct access_token token;
	struct json *body = json_object(a);
	struct str text;
	int found;

	(void)r;
	if (need_token(v, &text, e))
		return -1;
	found = access_token_introspect(
	    front->service, v->ledger, &v->client, text, a, &token, e);
	if (found < 0)
		return -1;
	if (found == 1)
		body = describe(front, &token, a);
	else
		json_put(body, "active", json_bool(a, false));
	response_add(response, a, "Pragma", "no-cache");
	return response_set_json(response, 200, body, a, e);
}

static int
answer_revoke(struct front *front, struct request *r, struct oauth_visit *v,
    struct arena *a, struct response *response, struct err *e)
{
	struct str text;
	uint64_t seq;

	if (need_token(v, &text, e) ||
	    access_token_surrender(
		front->service, v->ledger, &v->client, text, r->id, a, &seq, e))
		return -1;
	r->served.first_seq = r->served.last_seq = seq;
	/* No word, as RFC 7009, 2.2 has it; some clients want a type all the
	 * same. */
	return response_set_bytes(
	    response, 200, "application/json", STR(""), e);
}

int
oauth_token_page(struct front *front, struct request *r, struct arena *a,
    struct response *response, struct err *e)
{
	struct oauth_visit visit = { .issues = true };

	return serve(front, r, &visit, answer_token, a, response, e);
}

int
oauth_introspect_page(struct front *front, struct request *r, struct arena *a,
    struct response *response, struct err *e)
{
	struct oauth_visit visit = { 0 };

	return serve(front, r, &visit, answer_introspect, a, response, e);
}

int
oauth_revoke_page(struct front *front, struct request *r, struct arena *a,
    struct response *response, struct err *e)
{
	struct oauth_visit visit = { 0 };

	return serve(front, r, &visit, answer_revoke, a, response, e);
}

int
oauth_authorize_page(struct front *front, struct request *r, struct arena *a,
    struct response *response, struct err *e)
{
	(void)front;
	(void)r;
	err_set(e, &err_oauth_response,
	    "only the client credentials grant is offered, at the token "
	    "endpoint");
	oauth_error_reply(e, false, a, response);
	return 0;
}
