#include "domain/lineage/rendering.h"

#include <strings.h>

#define DEPTH_MAX 64
#define NODES_MAX 4000000
#define BYTES_MAX (16u << 20)

static struct str
trim(struct str s)
{
	while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t'))
		s = str_slice(s, 1, s.n);
	while (s.n > 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
		s.n--;
	return s;
}

static bool
is_word(struct str s, struct str word)
{
	return s.n == word.n && strncasecmp(s.p, word.p, word.n) == 0;
}

/* Thousandths of a weight: "1", "0.8", "0.125". */
static int
weight(struct str s)
{
	int w = s.n > 0 && s.p[0] == '1' ? 1000 : 0, unit = 100;

	for (size_t i = 2; i < s.n && i < 5 && w < 1000; i++, unit /= 10)
		if (s.p[i] >= '0' && s.p[i] <= '9')
			w += (s.p[i] - '0') * unit;
	return w;
}

/* One media range: what it asks for and how much; -1: none of ours. */
struct range {
	int rendering;
	int weight;
};

static struct range
range_of(struct str text)
{
	struct str type = trim(str_take(&text, ';'));
	struct range r = { -1, 1000 };
	bool is_prov = false;

	while (text.p) {
		struct str value = trim(str_take(&text, ';'));
		struct str name = trim(str_take(&value, '='));

		value = trim(value);
		if (is_word(name, STR("q")))
			r.weight = weight(value);
		if (is_word(name, STR("profile")))
			is_prov = is_word(value, STR("prov")) ||
				  is_word(value, STR("\"prov\""));
	}
	if (is_word(type, STR("text/html")))
		r.rendering = RENDERING_REPORT;
	else if (is_word(type, STR("application/json")))
		r.rendering = is_prov ? RENDERING_PROV : RENDERING_MANIFEST;
	else if (is_word(type, STR("*/*")) ||
		 is_word(type, STR("application/*")))
		r.rendering = RENDERING_MANIFEST;
	return r;
}

enum rendering
rendering_choose(struct str name, struct str accept)
{
	struct range best = { RENDERING_MANIFEST, 0 };

	if (str_is(name, "prov"))
		return RENDERING_PROV;
	if (str_is(name, "html"))
		return RENDERING_REPORT;
	if (name.p)
		return RENDERING_MANIFEST;
	while (accept.p) {
		struct range r = range_of(str_take(&accept, ','));

		if (r.rendering >= 0 && r.weight > best.weight)
			best = r;
	}
	return (enum rendering)best.rendering;
}

int
rendering_parse(
    struct arena *a, struct str manifest, struct json **out, struct err *e)
{
	static const struct json_limits limits = { BYTES_MAX, DEPTH_MAX,
		NODES_MAX };

	return json_parse(a, manifest, &limits, out, e);
}

/* The line is "<signatures> SP <event>". */
static int
parse_line(struct arena *a, struct str line, struct json **out, struct err *e)
{
	str_take(&line, ' ');
	if (!line.p)
		return err_set(e, &err_corrupt, "a line holds no event");
	return json_parse(a, line, &json_limits_default, out, e);
}

int
told_read(struct arena *a, const struct json *run_event,
    const struct json *evidence, struct told *out, struct err *e)
{
	const struct json *run = json_get(run_event, "run");
	const struct json *facets = json_get(run, "facets");
	const struct json *actor;
	struct json *event;

	if (parse_line(a, json_get_str(evidence, "line"), &event, e))
		return -1;
	actor = json_get(event, "actor");
	*out = (struct told){
		.actor_kind = json_get_str(actor, "kind"),
		.actor_id = json_get_str(actor, "id"),
		.uid = json_get_str(run, "runId"),
		.at = json_get_str(run_event, "eventTime"),
		.type = json_get_str(json_get(run_event, "job"), "name"),
		.hash = json_get_str(json_get(facets, "probity_event"), "hash"),
	};
	if (!json_get_int(evidence, "seq", &out->seq) || !out->uid.p ||
	    !out->actor_id.p)
		return err_set(e, &err_corrupt, "a manifest is not complete");
	return 0;
}
