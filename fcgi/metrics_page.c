/*
 * /metrics. Whoever asks is told by the web server (REMOTE_ADDR), so a proxy
 * before that would make everybody look like itself: what came through one is
 * refused, whatever the address.
 */
#include <string.h>

#include "domain/addresses.h"
#include "domain/catalog.h"
#include "domain/worker.h"
#include "fcgi/watch.h"
#include "ledger/base/io.h"

#define PAGE_MAX ((size_t)16 << 20)

static const struct metric build = { .name = "probity_build_info",
	.help = "The version that answers",
	.kind = METRIC_GAUGE };
static const struct metric started = { .name = "process_start_time_seconds",
	.help = "When the process that answers was started",
	.kind = METRIC_GAUGE,
	.micro = true };
static const struct metric uptime = { .name = "probity_uptime_seconds",
	.help = "How long the process that answers has been running",
	.kind = METRIC_GAUGE,
	.micro = true };
static const struct metric open_ledgers = { .name = "probity_open_ledgers",
	.help = "Ledgers open in the process that answers",
	.kind = METRIC_GAUGE };
static const struct metric free_bytes = { .name = "probity_free_bytes",
	.help = "Room left on the disk of the state",
	.kind = METRIC_GAUGE };
static const struct metric free_floor = { .name = "probity_free_floor_bytes",
	.help = "Below so much room writes are refused",
	.kind = METRIC_GAUGE };

static bool
is_allowed(const struct front *front, const struct request *r)
{
	static const char *const marks[] = { "forwarded", "x-forwarded-for",
		"x-real-ip", "via" };

	for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
		if (headers_get(&r->headers, marks[i]).p)
			return false;
	return addresses_have(service_config(front->service)->metrics_allow,
	    transport_param(r->transport->params, "REMOTE_ADDR"));
}

struct metrics_text {
	struct buf text;
	const struct metric_reading *all;
	size_t n;
	bool open;
};

static void
add_families(struct metrics_text *p, const struct metric *const *metric)
{
	for (; *metric; metric++)
		metrics_text_family(&p->text, *metric, p->all, p->n, p->open);
}

static void
add_gauges(struct metrics_text *p)
{
	for (size_t i = 0; catalog_groups[i]; i++) {
		const struct gauge *const *gauge = catalog_groups[i]->gauges;

		for (; gauge && *gauge; gauge++)
			metrics_text_family(
			    &p->text, &(*gauge)->metric, p->all, p->n, p->open);
	}
}

static void
add_one(struct metrics_text *p, const struct metric *metric, int64_t value)
{
	metrics_text_one(&p->text, metric, "", value, p->open);
}

/* Of the process that answers, and of this moment. */
static void
add_own(struct metrics_text *p, const struct front *front, struct arena *a)
{
	const struct config *config = service_config(front->service);
	int64_t up_us =
	    clock_system.steady(&clock_system).us - front->started_us;
	uint64_t room;

	metrics_text_one(
	    &p->text, &build, "version=\"" PROBITY_VERSION "\"", 1, p->open);
	add_one(p, &started, clock_system.wall(&clock_system).us - up_us);
	add_one(p, &uptime, up_us);
	add_one(p, &open_ledgers, (int64_t)service_open_count(front->service));
	if (io_free_bytes(arena_cstr(a, config->state), &room, NULL) == 0)
		add_one(p, &free_bytes, (int64_t)room);
	add_one(p, &free_floor, config->free_floor);
}

static void
fill(struct metrics_text *p, struct front *front, struct arena *a)
{
	struct metric_reading *all;

	metrics_read(service_metrics(front->service), a, &all, &p->n);
	p->all = all;
	add_own(p, front, a);
	add_families(p, request_metrics);
	add_families(p, access_log_metrics);
	add_families(p, ledger_metrics);
	add_families(p, worker_metrics);
	add_gauges(p);
	if (p->open)
		buf_add_cstr(&p->text, "# EOF\n");
}

int
metrics_page(struct front *front, struct request *request, struct arena *a,
    struct response *response, struct err *e)
{
	struct str accept = headers_get(&request->headers, "accept");
	struct metrics_text p = {
		.open = accept.p && memmem(accept.p, accept.n,
					"application/openmetrics-text", 28)
	};
	int rc = 0;

	if (!is_allowed(front, request))
		return err_set(e, &err_not_found, "there is no such path");
	buf_init(&p.text, PAGE_MAX);
	fill(&p, front, a);
	if (buf_failed(&p.text))
		rc = err_set(e, &err_internal, "the counters are too many");
	response->status = 200;
	response->type = p.open ? "application/openmetrics-text; "
				  "version=1.0.0; charset=utf-8"
				: "text/plain; version=0.0.4; charset=utf-8";
	response->body = arena_str(a, buf_str(&p.text));
	buf_fini(&p.text);
	return rc;
}
