/*
 * Prometheus' text format 0.0.4 and OpenMetrics 1.0.0. They differ in what
 * stands before a family of counters, and at the end.
 */
#include "fcgi/watch.h"

#include <inttypes.h>
#include <stdio.h>

#define MILLION 1000000

/* Counters' families have no _total in OpenMetrics. */
static struct str
family_name(const struct metric *metric, bool open)
{
	struct str name = str_from(metric->name);

	if (open && metric->kind == METRIC_COUNTER &&
	    str_has_suffix(name, STR("_total")))
		name.n -= sizeof "_total" - 1;
	return name;
}

static void
add_head(struct buf *b, const struct metric *metric, bool open)
{
	static const char *const types[] = { "counter", "gauge", "histogram" };
	struct str name = family_name(metric, open);

	buf_addf(b, "# HELP %.*s %s\n", STR_ARGS(name), metric->help);
	buf_addf(b, "# TYPE %.*s %s\n", STR_ARGS(name), types[metric->kind]);
}

/* Always with a point where it is no count: OpenMetrics wants one in `le`. */
static void
add_number(struct buf *b, const struct metric *metric, int64_t v)
{
	char text[32];
	size_t n;

	if (!metric->micro) {
		buf_addf(b, "%" PRId64, v);
		return;
	}
	n = (size_t)snprintf(text, sizeof text, "%s%" PRIu64 ".%06" PRIu64,
	    v < 0 ? "-" : "", (v < 0 ? -(uint64_t)v : (uint64_t)v) / MILLION,
	    (v < 0 ? -(uint64_t)v : (uint64_t)v) % MILLION);
	while (n > 2 && text[n - 1] == '0' && text[n - 2] != '.')
		n--;
	buf_add(b, (struct str){ text, n });
}

static void
add_sample(struct buf *b, const struct metric *metric, const char *suffix,
    struct str labels, int64_t v)
{
	buf_addf(b, "%s%s", metric->name, suffix);
	if (labels.n > 0)
		buf_addf(b, "{%.*s}", STR_ARGS(labels));
	buf_add_byte(b, ' ');
	add_number(b, metric, v);
	buf_add_byte(b, '\n');
}

static void
add_count(struct buf *b, const struct metric *metric, const char *suffix,
    struct str labels, uint64_t v)
{
	struct metric counted = *metric;

	counted.micro = false;
	add_sample(b, &counted, suffix, labels, (int64_t)v);
}

static void
add_bucket(struct buf *b, const struct metric *metric, struct str labels,
    const uint64_t *bound, uint64_t count)
{
	buf_addf(b, "%s_bucket{%.*s%sle=\"", metric->name, STR_ARGS(labels),
	    labels.n > 0 ? "," : "");
	if (!bound)
		buf_add_cstr(b, "+Inf");
	else
		add_number(b, metric, (int64_t)*bound);
	if (bound && !metric->micro)
		buf_add_cstr(b, ".0");
	buf_addf(b, "\"} %" PRIu64 "\n", count);
}

static void
add_histogram(
    struct buf *b, const struct metric *metric, const struct metric_reading *r)
{
	uint64_t count = 0;

	for (size_t i = 0; i <= metric->n_bounds; i++) {
		count += atomic_load(&r->values[i]);
		add_bucket(b, metric, r->labels,
		    i < metric->n_bounds ? &metric->bounds[i] : NULL, count);
	}
	add_sample(b, metric, "_sum", r->labels,
	    (int64_t)atomic_load(&r->values[metric->n_bounds + 1]));
	add_count(b, metric, "_count", r->labels, count);
}

void
metrics_text_family(struct buf *b, const struct metric *metric,
    const struct metric_reading *all, size_t n, bool open)
{
	add_head(b, metric, open);
	for (size_t i = 0; i < n; i++) {
		if (!str_is(all[i].name, metric->name) ||
		    all[i].n != metric_values(metric))
			continue;
		if (metric->kind == METRIC_HISTOGRAM)
			add_histogram(b, metric, &all[i]);
		else
			add_sample(b, metric, "", all[i].labels,
			    (int64_t)atomic_load(&all[i].values[0]));
	}
}

void
metrics_text_one(struct buf *b, const struct metric *metric, const char *labels,
    int64_t value, bool open)
{
	add_head(b, metric, open);
	add_sample(b, metric, "", str_from(labels), value);
}
