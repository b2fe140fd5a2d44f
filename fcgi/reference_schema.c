#include "fcgi/reference.h"

#define DEPTH_MAX 12

static void fields(
    const struct html *h, const struct json *schema, unsigned depth);

static bool
holds(const struct json *list, struct str word)
{
	if (!list || list->type != JSON_ARRAY)
		return false;
	for (const struct json *item = list->first; item; item = item->next)
		if (str_eq(item->text, word))
			return true;
	return false;
}

static void
add_words(const struct html *h, const struct json *list, const char *between)
{
	for (const struct json *item = list->first; item; item = item->next) {
		if (item != list->first)
			html_cstr(h, between);
		if (item->type == JSON_NULL)
			html_cstr(h, "null");
		else
			html_text(h, item->text);
	}
}

/* A bound that stands in the schema, after its words. */
static void
add_bound(const struct html *h, const struct json *schema, const char *name,
    const char *words)
{
	const struct json *v = json_get(schema, name);

	if (!v)
		return;
	html_addf(h, ", %s ", words);
	if (v->type == JSON_TRUE || v->type == JSON_FALSE)
		html_cstr(h, v->type == JSON_TRUE ? "true" : "false");
	else
		html_text(h, v->text);
}

static void
add_last_part(const struct html *h, struct str reference)
{
	struct str name = reference;

	while (reference.p)
		name = str_take(&reference, '/');
	html_addf(h, "<a href=\"");
	html_text(h, h->prefix);
	html_addf(h, "/docs/#");
	html_text(h, name);
	html_addf(h, "\">");
	html_text(h, name);
	html_addf(h, "</a>");
}

void
reference_type(const struct html *h, const struct json *schema)
{
	const struct json *type = json_get(schema, "type");
	const struct json *items = json_get(schema, "items");
	struct str reference = json_get_str(schema, "$ref");

	if (reference.p) {
		add_last_part(h, reference);
		return;
	}
	if (!type)
		html_cstr(h, "any value");
	else if (type->type == JSON_ARRAY)
		add_words(h, type, " or ");
	else
		html_text(h, type->text);
	add_bound(h, schema, "format", "format");
	if (json_get(schema, "enum")) {
		html_cstr(h, ", one of ");
		add_words(h, json_get(schema, "enum"), ", ");
	} else {
		add_bound(h, schema, "minLength", "at least this long:");
		add_bound(h, schema, "maxLength", "at most this long:");
	}
	add_bound(h, schema, "minimum", "from");
	add_bound(h, schema, "maximum", "to");
	add_bound(h, schema, "minItems", "items from");
	add_bound(h, schema, "maxItems", "items to");
	add_bound(h, schema, "pattern", "pattern");
	add_bound(h, schema, "default", "default");
	if (items) {
		html_cstr(h, " of ");
		reference_type(h, items);
	}
}

static void
field(const struct html *h, const struct json *member, bool required,
    unsigned depth)
{
	const struct json *items = json_get(member, "items");

	html_addf(h, "<dt><code>");
	html_text(h, member->name);
	html_addf(h, "</code> <span class=\"type\">");
	reference_type(h, member);
	html_addf(h, "</span>%s</dt>\n<dd>",
	    required ? " <strong>required</strong>" : "");
	html_text(h, json_get_str(member, "description"));
	html_addf(h, "\n");
	fields(h, items ? items : member, depth + 1);
	html_addf(h, "</dd>\n");
}

static void
fields(const struct html *h, const struct json *schema, unsigned depth)
{
	const struct json *properties = json_get(schema, "properties");

	if (!properties || !properties->first || depth > DEPTH_MAX)
		return;
	html_addf(h, "<dl>\n");
	for (const struct json *m = properties->first; m; m = m->next)
		field(
		    h, m, holds(json_get(schema, "required"), m->name), depth);
	html_addf(h, "</dl>\n");
}

void
reference_fields(const struct html *h, const struct json *schema)
{
	fields(h, schema, 0);
}
