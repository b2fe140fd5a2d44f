#include "fcgi/reference.h"

/* The text of a value as a path or query has it. */
static struct str
as_text(const struct json *v)
{
	if (v->type == JSON_TRUE)
		return STR("true");
	if (v->type == JSON_FALSE)
		return STR("false");
	return v->text;
}

static const struct json *
parameter_find(const struct json *operation, const char *place, struct str name)
{
	const struct json *list = json_get(operation, "parameters");

	for (const struct json *p = list ? list->first : NULL; p; p = p->next)
		if (str_is(json_get_str(p, "in"), place) &&
		    str_eq(json_get_str(p, "name"), name))
			return p;
	return NULL;
}

static void
add_path(const struct html *h, struct str path, const struct json *operation)
{
	while (path.p) {
		struct str name;
		const struct json *parameter;

		html_text(h, str_take(&path, '{'));
		if (!path.p)
			return;
		name = str_take(&path, '}');
		parameter = parameter_find(operation, "path", name);
		if (parameter && json_get(parameter, "example"))
			html_text(h, as_text(json_get(parameter, "example")));
		else
			html_text(h, name);
	}
}

static void
add_query(const struct html *h, const struct json *operation)
{
	const struct json *list = json_get(operation, "parameters");
	const char *between = "?";

	for (const struct json *p = list ? list->first : NULL; p; p = p->next) {
		const struct json *value = json_get(p, "example");

		if (!value || !str_is(json_get_str(p, "in"), "query"))
			continue;
		html_cstr(h, between);
		html_text(h, json_get_str(p, "name"));
		html_cstr(h, "=");
		html_text(h, as_text(value));
		between = "&";
	}
}

/* Within single quotes of a shell. */
static void
add_quoted(const struct html *h, struct str s)
{
	while (s.p) {
		html_text(h, str_take(&s, '\''));
		if (s.p)
			html_cstr(h, "'\\''");
	}
}

static const struct json *
request_examples(const struct json *operation)
{
	const struct json *body = json_get(operation, "requestBody");

	return json_get(json_get(json_get(body, "content"), "application/json"),
	    "examples");
}

static void
add_body(const struct html *h, const struct json *operation)
{
	const struct json *examples = request_examples(operation);
	struct buf text;

	if (!examples || !examples->first)
		return;
	buf_init(&text, HTML_BYTES_MAX);
	json_write_pretty(json_get(examples->first, "value"), &text);
	html_cstr(h, " \\\n  -H 'Content-Type: application/json' \\\n  -d '");
	add_quoted(h, buf_str(&text));
	html_cstr(h, "'");
	buf_fini(&text);
}

static struct str
server_of(const struct json *document)
{
	const struct json *servers = json_get(document, "servers");

	return json_get_str(servers ? servers->first : NULL, "url");
}

static void
begin_command(const struct html *h)
{
	html_addf(h, "<pre tabindex=\"0\" role=\"region\" "
		     "aria-label=\"Command\"><code>");
	html_cstr(h, "curl ");
}

void
reference_token(const struct html *h, const struct json *document)
{
	static const char *const way[] = { "components", "securitySchemes",
		"oauth2", "flows", "clientCredentials" };
	const struct json *v = document;

	for (size_t i = 0; i < sizeof way / sizeof way[0]; i++)
		v = json_get(v, way[i]);
	html_addf(h, "<p>An access token is for clients that know OAuth 2.0: "
		     "the operator makes one by <code>probityctl oauth-client "
		     "create</code>, and it exchanges its id and secret for a "
		     "token that is good for some minutes "
		     "(<code>expires_in</code>).</p>\n");
	begin_command(h);
	html_cstr(h, "-u \"$CLIENT_ID:$CLIENT_SECRET\" \\\n"
		     "  -d grant_type=client_credentials \\\n  '");
	html_text(h, json_get_str(v, "tokenUrl"));
	html_addf(h, "'</code></pre>\n");
}

static void
command(const struct html *h, const struct json *document, struct str path,
    const struct json *operation)
{
	begin_command(h);
	if (!str_is(operation->name, "get")) {
		html_cstr(h, "-X ");
		for (size_t i = 0; i < operation->name.n; i++)
			html_addf(h, "%c", operation->name.p[i] - 'a' + 'A');
		html_cstr(h, " ");
	}
	html_cstr(h, "'");
	html_text(h, server_of(document));
	add_path(h, path, operation);
	add_query(h, operation);
	html_cstr(h, "' \\\n  -H \"Authorization: Bearer $API_KEY\"");
	add_body(h, operation);
	html_addf(h, "</code></pre>\n");
}

/* A reply's examples, each with the request's body where that was another one
 * than the command's. */
static void
replies(const struct html *h, const struct json *operation,
    const struct json *response)
{
	const struct json *requests = request_examples(operation);
	const struct json *content = json_get(response, "content");
	const struct json *list =
	    json_get(content ? content->first : NULL, "examples");

	for (const struct json *m = list ? list->first : NULL; m; m = m->next) {
		const char *name = arena_cstr(h->arena, m->name);
		const struct json *request = json_get(requests, name);

		html_addf(h, "<h4>");
		html_text(h, response->name);
		html_addf(h, " · ");
		html_text(h, json_get_str(m, "summary"));
		html_addf(h, "</h4>\n");
		if (request && request != requests->first)
			html_json(h, "Request", json_get(request, "value"));
		html_json(h, "Reply", json_get(m, "value"));
	}
}

void
reference_examples(const struct html *h, const struct json *document,
    struct str path, const struct json *operation)
{
	const struct json *responses = json_get(operation, "responses");

	html_addf(h, "<h3>Examples</h3>\n");
	command(h, document, path, operation);
	for (const struct json *r = responses->first; r; r = r->next)
		replies(h, operation, r);
}
