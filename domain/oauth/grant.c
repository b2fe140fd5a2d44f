/*
 * What a token may carry: scopes and resources. A scope is given where it is
 * asked for, the client and its application have it, and both application and
 * workspace are entitled to a product that it belongs to.
 */
#include "domain/catalog.h"
#include "domain/oauth/group.h"
#include "domain/words.h"

#define RESOURCE_BYTES_MAX 512
#define SCOPE_BYTES_MAX    4096 /* all that there are take less than half */

static bool
is_entitled(const struct credential *client, struct str entitlement)
{
	return words_have(client->entitlements, entitlement) &&
	       words_have(client->workspace_entitlements, entitlement);
}

/* An older ledger may name a scope that there is no more. */
static bool
is_open(const struct credential *client, struct str name)
{
	const struct scope *scope = catalog_scope(name);
	struct str rest = scope ? str_from(scope->entitlements) : STR_NONE;

	if (scope && rest.n == 0)
		return true;
	while (rest.p)
		if (is_entitled(client, str_take(&rest, ' ')))
			return true;
	return false;
}

/* RFC 6749, 3.3: %x21 / %x23-5B / %x5D-7E, with spaces between. */
static bool
is_scope_text(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < 0x20 || s.p[i] > 0x7e || s.p[i] == '"' ||
		    s.p[i] == '\\')
			return false;
	return s.n <= SCOPE_BYTES_MAX;
}

static bool
is_asked_for(struct str asked, struct str scope)
{
	if (!asked.p)
		return true;
	while (asked.p)
		if (str_eq(str_take(&asked, ' '), scope))
			return true;
	return false;
}

int
token_scopes(struct arena *a, const struct credential *client, struct str asked,
    struct str_list *out, struct err *e)
{
	struct str *items;

	if (asked.p && !is_scope_text(asked))
		return err_set(e, &err_oauth_scope,
		    "the scope is not a list of names in "
		    "4,096 bytes");
	items = arena_array(a, client->scopes.n + 1, sizeof *items);
	*out = (struct str_list){ items, 0 };
	for (size_t i = 0; i < client->scopes.n; i++) {
		struct str scope = client->scopes.items[i];

		if (is_asked_for(asked, scope) &&
		    words_have(client->application_scopes, scope) &&
		    is_open(client, scope))
			items[out->n++] = scope;
	}
	if (out->n == 0)
		return err_set(e, &err_oauth_scope,
		    "the client may have none of the scopes asked for");
	return 0;
}

struct str
oauth_issuer(struct arena *a, struct str base_url)
{
	return arena_strf(a, "%.*s/api/v2", STR_ARGS(base_url));
}

/* At our public URL or below it; no fragment (RFC 8707, 2). */
static bool
is_ours(struct str base_url, struct str url)
{
	if (url.n > RESOURCE_BYTES_MAX || !str_has_prefix(url, base_url) ||
	    (url.n > base_url.n && url.p[base_url.n] != '/'))
		return false;
	for (size_t i = 0; i < url.n; i++)
		if (url.p[i] <= 0x20 || url.p[i] >= 0x7f || url.p[i] == '#')
			return false;
	return true;
}

int
token_audience(struct arena *a, struct str base_url, struct str_list asked,
    struct str_list *out, struct err *e)
{
	struct str *items = arena_array(a, asked.n + 1, sizeof *items);

	for (size_t i = 0; i < asked.n; i++)
		if (!is_ours(base_url, asked.items[i]))
			return err_set(e, &err_oauth_target,
			    "the resource is not a URL of this service");
	*out = asked;
	if (asked.n > 0)
		return 0;
	items[0] = oauth_issuer(a, base_url);
	*out = (struct str_list){ items, 1 };
	return 0;
}
