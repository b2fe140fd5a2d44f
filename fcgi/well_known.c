/*
 * What clients find by themselves: the authorization server (RFC 8414) and the
 * resources it guards (RFC 9728). The name of either document stands in front
 * of the path that it is about.
 */
#include "domain/catalog.h"
#include "fcgi/oauth.h"

/* Paths of what takes our tokens; each has a page in pages.c. */
static const char *const protected_resources[] = {
	"/api/v2",
};

static struct json *
texts(struct arena *a, const char *const *list)
{
	struct json *v = json_array(a);

	for (size_t i = 0; list[i]; i++)
		json_push(v, json_string(a, str_from(list[i])));
	return v;
}

static struct json *
scopes(struct arena *a)
{
	struct json *v = json_array(a);

	for (const struct scope *s = catalog_scopes; s->name; s++)
		json_push(v, json_string(a, str_from(s->name)));
	return v;
}

static void
put_endpoint(struct arena *a, struct json *v, const char *name,
    struct str issuer, const char *path)
{
	json_put_str(
	    a, v, name, arena_strf(a, "%.*s/oauth/%s", STR_ARGS(issuer), path));
}

static int
answer(const struct request *r, const struct json *v, struct arena *a,
    struct response *response, struct err *e)
{
	if (response_set_json(response, 200, v, a, e))
		return -1;
	response->public = true;
	response_set_etag(
	    response, a, headers_get(&r->headers, "if-none-match"));
	return 0;
}

int
oauth_server_page(struct front *front, struct request *r, struct arena *a,
    struct response *response, struct err *e)
{
	static const char *const grants[] = { "client_credentials", NULL };
	static const char *const methods[] = { "client_secret_basic",
		"client_secret_post", NULL };
	static const char *const authenticated[] = {
		"token_endpoint_auth_methods_supported",
		"introspection_endpoint_auth_methods_supported",
		"revocation_endpoint_auth_methods_supported"
	};
	struct str issuer = oauth_issuer(a, front->base_url);
	struct json *v = json_object(a);

	json_put_str(a, v, "issuer", issuer);
	put_endpoint(a, v, "authorization_endpoint", issuer, "authorize");
	put_endpoint(a, v, "token_endpoint", issuer, "token");
	put_endpoint(a, v, "introspection_endpoint", issuer, "introspect");
	put_endpoint(a, v, "revocation_endpoint", issuer, "revoke");
	json_put(v, "grant_types_supported", texts(a, grants));
	json_put(v, "response_types_supported", json_array(a));
	for (size_t i = 0; i < 3; i++)
		json_put(v, authenticated[i], texts(a, methods));
	json_put(v, "scopes_supported", scopes(a));
	return answer(r, v, a, response, e);
}

/* The one whose page was asked for. */
static const char *
resource_of(struct str path)
{
	for (size_t i = 0;
	     i < sizeof protected_resources / sizeof protected_resources[0];
	     i++)
		if (str_has_suffix(path, str_from(protected_resources[i])))
			return protected_resources[i];
	return NULL;
}

int
oauth_resource_page(struct front *front, struct request *r, struct arena *a,
    struct response *response, struct err *e)
{
	static const char *const bearer[] = { "header", NULL };
	const char *resource = resource_of(r->path);
	struct json *v = json_object(a), *servers = json_array(a);

	if (!resource)
		return err_set(e, &err_not_found, "there is no such path");
	json_push(servers, json_string(a, oauth_issuer(a, front->base_url)));
	json_put_str(a, v, "resource",
	    arena_strf(a, "%.*s%s", STR_ARGS(front->base_url), resource));
	json_put(v, "authorization_servers", servers);
	json_put(v, "scopes_supported", scopes(a));
	json_put(v, "bearer_methods_supported", texts(a, bearer));
	json_put_str(a, v, "resource_name", STR("Probity"));
	return answer(r, v, a, response, e);
}
