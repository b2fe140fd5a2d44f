#include "domain/config.h"
#include "fcgi/watch.h"
#include "ledger/base/log.h"

static const struct metric unwritten = {
	.name = "probity_access_log_failures_total",
	.help = "Lines of the access log that could not be written",
	.kind = METRIC_COUNTER,
};

const struct metric *const access_log_metrics[] = { &unwritten, NULL };

int
front_watch(struct front *front, const struct config *config, struct err *e)
{
	front->started_us = clock_system.steady(&clock_system).us;
	front->readiness = ARENA_NEW(front->arena, struct readiness);
	front->counts = counts_new(front->arena,
	    service_metrics(front->service), front->routes, front->n_routes);
	front->access_log = access_log_new(front->arena);
	return access_log_open(front->access_log, config->access_log, e);
}

void
front_unwatch(struct front *front)
{
	if (front->access_log)
		access_log_close(front->access_log);
}

void
front_reload(struct front *front)
{
	const struct config *config;
	struct err e = { 0 };

	service_reload_logged(front->service, "server");
	config = service_config(front->service);
	atomic_store(&front->max_body, (size_t)config->max_body);
	/* The same file too: it may have been moved aside. */
	if (access_log_open(front->access_log, config->access_log, &e))
		log_line(LOG_ERROR, "server", "%s", e.detail);
}

static struct watched *
watched_of(struct transport *t)
{
	return (struct watched *)(void *)t; /* its first member */
}

static ssize_t
read_counted(struct transport *t, void *out, size_t n)
{
	struct watched *w = watched_of(t);
	ssize_t got = w->real->read(w->real, out, n);

	if (got > 0)
		w->bytes_in += (uint64_t)got;
	return got;
}

static bool
write_counted(struct transport *t, struct str s)
{
	struct watched *w = watched_of(t);

	w->bytes_out += s.n;
	return w->real->write(w->real, s);
}

static bool
is_present(struct transport *t)
{
	struct watched *w = watched_of(t);

	return w->real->present(w->real);
}

void
watched_begin(struct watched *w, struct transport *t)
{
	*w = (struct watched){
		.transport = { .params = t->params,
		    .read = read_counted,
		    .write = write_counted,
		    .present = t->present ? is_present : NULL },
		.real = t,
		.since_us = clock_system.steady(&clock_system).us,
	};
}

/* What failed for the service's sake is told to its own log as well. */
static void
log_request(const struct request *r, int status, long long us,
    const struct err *e, struct arena *a)
{
	struct str path = log_text(a, r->path, 512);
	struct str theirs =
	    log_text(a, headers_get(&r->headers, "x-request-id"), 128);
	struct str detail = log_text(
	    a, e->kind ? str_from(e->detail) : STR_NONE, sizeof e->detail);
	char id[UID_TEXT + 1];

	uid_format(r->id, id);
	log_line(status >= 500 ? LOG_WARN : LOG_DEBUG, "request",
	    "%.*s %.*s %d %lld us request=%s theirs=%.*s%s%.*s",
	    STR_ARGS(r->method), STR_ARGS(path), status, us, id,
	    STR_ARGS(theirs), detail.n > 0 ? ": " : "", STR_ARGS(detail));
}

void
watched_end(struct watched *w, struct front *front, struct front_worker *worker,
    const struct request *r, const struct route *route, int status,
    const struct err *e)
{
	struct access access = {
		.request = r,
		.route = route,
		.status = status,
		.us = clock_system.steady(&clock_system).us - w->since_us,
		.bytes_in = w->bytes_in,
		.bytes_out = w->bytes_out,
	};

	counts_request(front->counts, route, status, access.us);
	if (!access_log_write(
		front->access_log, &access, worker->arena, &worker->out))
		metric_add(metrics_series(
			       service_metrics(front->service), &unwritten, ""),
		    1);
	log_request(r, status, access.us, e, worker->arena);
}
