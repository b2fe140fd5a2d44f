#include "domain/webhooks/group.h"

static int read_queued(struct context *, int64_t *, struct err *);
static int read_lag(struct context *, int64_t *, struct err *);
static int read_dead(struct context *, int64_t *, struct err *);

const struct gauge gauge_deliveries_queued = {
	{ .name = "probity_webhook_deliveries_queued",
	    .help = "Webhook deliveries that are still to be made",
	    .kind = METRIC_GAUGE },
	read_queued,
};

const struct gauge gauge_delivery_lag = {
	{ .name = "probity_webhook_delivery_lag_seconds",
	    .help = "Age of the oldest event that is still to be delivered; 0: "
		    "none is",
	    .kind = METRIC_GAUGE,
	    .micro = true },
	read_lag,
};

const struct gauge gauge_dead_letters = {
	{ .name = "probity_webhook_dead_letters",
	    .help = "Webhook deliveries that were given up",
	    .kind = METRIC_GAUGE },
	read_dead,
};

/* Both are in indexes that hold nothing else. */
static int
read_queued(struct context *c, int64_t *value, struct err *e)
{
	return db_get_int(c->db, value, 0, e,
		   "SELECT count(*) FROM webhook_delivery"
		   " WHERE status = 'queued'",
		   "")
		   ? -1
		   : 1;
}

static int
read_dead(struct context *c, int64_t *value, struct err *e)
{
	return db_get_int(c->db, value, 0, e,
		   "SELECT count(*) FROM webhook_delivery"
		   " WHERE status = 'dead'",
		   "")
		   ? -1
		   : 1;
}

static int
read_lag(struct context *c, int64_t *value, struct err *e)
{
	int64_t oldest;

	if (db_get_int(c->db, &oldest, c->now.us, e,
		"SELECT min(at) FROM webhook_delivery WHERE status = 'queued'",
		""))
		return -1;
	*value = oldest < c->now.us ? c->now.us - oldest : 0;
	return 1;
}
