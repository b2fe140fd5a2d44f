/* Who sent an OAuth form. */
#include <strings.h>

#include "fcgi/limits.h"
#include "fcgi/oauth.h"
#include "ledger/codec/text.h"

static int
refuse(struct err *e, const char *why)
{
	return err_set(e, &err_oauth_client, "%s", why);
}

int
oauth_read_basic(struct str authorization, struct arena *a,
    struct str *client_id, struct str *secret, struct err *e)
{
	struct str rest = authorization, scheme = str_take(&rest, ' ');
	char *pair = arena_alloc(a, HEADER_BYTES_MAX);
	size_t n;

	if (scheme.n != 5 || strncasecmp(scheme.p, "basic", 5) != 0)
		return refuse(e, "the Authorization header's scheme is not "
				 "Basic");
	if (!base64_decode(header_trim(rest), pair, HEADER_BYTES_MAX, &n))
		return refuse(e, "the Authorization header is not base64");
	rest = (struct str){ pair, n };
	*client_id = str_take(&rest, ':');
	/* Some clients encode both, some do not; ids and secrets have no
	 * character that it would change. */
	if (!rest.p || !percent_decode(a, *client_id, true, client_id) ||
	    !percent_decode(a, rest, true, secret))
		return refuse(e,
		    "the Authorization header is not a form-encoded "
		    "id and secret");
	return 0;
}

static int
read_form(struct request *r, struct arena *a, struct form *form, struct err *e)
{
	struct str type = headers_get(&r->headers, "content-type");

	if (request_read_body(r, OAUTH_FORM_MAX, a, e))
		return -1;
	if (!media_type_is_form(type))
		return err_set(e, &err_malformed,
		    "the body must be application/x-www-form-urlencoded");
	return form_decode(a, r->body, form, e) ||
		       form_check_single(form, "resource", e)
		   ? -1
		   : 0;
}

/* The header's, or else the form's. */
static int
find_secret(const struct request *r, struct oauth_visit *v, struct arena *a,
    struct str *client_id, struct str *secret, struct err *e)
{
	struct str header = headers_get(&r->headers, "authorization");
	struct str named = form_get(&v->form, "client_id");

	*secret = form_get(&v->form, "client_secret");
	*client_id = named;
	if (header.n == 0)
		return named.p && secret->p
			   ? 0
			   : refuse(e, "no client id and secret were sent");
	v->challenge = true;
	if (secret->p)
		return err_set(e, &err_malformed,
		    "the client authenticated in two ways at once");
	if (oauth_read_basic(header, a, client_id, secret, e))
		return -1;
	if (named.p && !str_eq(named, *client_id))
		return err_set(e, &err_malformed,
		    "client_id is not that of the Authorization header");
	return 0;
}

/* Issuing tokens without end would fill the ledger. */
static int
count(struct front *front, const struct oauth_client *client, struct arena *a,
    struct response *response, struct err *e)
{
	const struct credential *credential = &client->credential;
	struct limits_party party = {
		.place = client->place,
		.application = credential->application,
		.credential = credential->public_id,
		.limits = credential->limits,
	};

	return limits_count(front, &party, a, response, e);
}

/* For the access log. */
static void
keep_client(struct request *r, const struct oauth_client *client)
{
	struct caller caller = {
		.place = client->place,
		.application = client->credential.application,
		.credential = client->credential.public_id,
	};

	request_serve(r, &caller);
}

int
oauth_visit_begin(struct front *front, struct request *r, struct arena *a,
    struct response *response, struct oauth_visit *v, struct err *e)
{
	struct str client_id, secret;
	struct err fault = { 0 };

	*v = (struct oauth_visit){ .issues = v->issues };
	/* Who may not is told so before what is wrong with the form, unless the
	 * form is what would say who it is. */
	if (read_form(r, a, &v->form, &fault) &&
	    (r->gone || headers_get(&r->headers, "authorization").n == 0)) {
		*e = fault;
		return -1;
	}
	if (find_secret(r, v, a, &client_id, &secret, e) ||
	    oauth_client_authenticate(front->service, client_id, secret, a,
		&v->client, &v->ledger, e))
		return -1;
	keep_client(r, &v->client);
	if ((v->issues && oauth_client_check(&v->client, e)) ||
	    count(front, &v->client, a, response, e))
		return -1;
	if (fault.kind) {
		*e = fault;
		return -1;
	}
	return 0;
}

void
oauth_visit_end(struct front *front, struct oauth_visit *v)
{
	service_release(front->service, v->ledger);
	v->ledger = NULL;
}
