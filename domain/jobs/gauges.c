#include "domain/jobs/group.h"

static int read_open(struct context *, int64_t *, struct err *);
static int read_waiting(struct context *, int64_t *, struct err *);

const struct gauge gauge_jobs_open = {
	{ .name = "probity_jobs_open",
	    .help = "Jobs that are queued or being done",
	    .kind = METRIC_GAUGE },
	read_open,
};

const struct gauge gauge_jobs_waiting = {
	{ .name = "probity_jobs_oldest_seconds",
	    .help = "How long the oldest open job has been waiting; 0: none is "
		    "open",
	    .kind = METRIC_GAUGE,
	    .micro = true },
	read_waiting,
};

static int
read_open(struct context *c, int64_t *value, struct err *e)
{
	return db_get_int(c->db, value, 0, e,
		   "SELECT count(*) FROM job"
		   " WHERE status IN ('queued', 'claimed')",
		   "")
		   ? -1
		   : 1;
}

static int
read_waiting(struct context *c, int64_t *value, struct err *e)
{
	int64_t oldest;

	if (db_get_int(c->db, &oldest, c->now.us, e,
		"SELECT min(queued_at) FROM job"
		" WHERE status IN ('queued', 'claimed')",
		""))
		return -1;
	*value = oldest < c->now.us ? c->now.us - oldest : 0;
	return 1;
}
