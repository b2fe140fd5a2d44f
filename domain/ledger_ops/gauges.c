#include "domain/ledger_ops.h"
#include "domain/ledger_ops/group.h"

static int read_events(struct context *, int64_t *, struct err *);
static int read_verified_at(struct context *, int64_t *, struct err *);
static int read_verified_well(struct context *, int64_t *, struct err *);
static int read_damage(struct context *, int64_t *, struct err *);

const struct gauge gauge_ledger_events = {
	{ .name = "probity_ledger_events",
	    .help = "Events in the ledger",
	    .kind = METRIC_GAUGE },
	read_events,
};

const struct gauge gauge_verified_at = {
	{ .name = "probity_ledger_verified_timestamp_seconds",
	    .help = "When the last full verification ended",
	    .kind = METRIC_GAUGE,
	    .micro = true },
	read_verified_at,
};

const struct gauge gauge_verified_well = {
	{ .name = "probity_ledger_verified",
	    .help = "Whether the last full verification passed: 1 or 0",
	    .kind = METRIC_GAUGE },
	read_verified_well,
};

const struct gauge gauge_damage = {
	{ .name = "probity_ledger_damaged_objects",
	    .help = "What of the repository is known to be damaged",
	    .kind = METRIC_GAUGE },
	read_damage,
};

static int
read_events(struct context *c, int64_t *value, struct err *e)
{
	uint64_t size;

	if (ledger_read_size(c->reading, &size, e))
		return -1;
	*value = (int64_t)size;
	return 1;
}

static int
read_verified_at(struct context *c, int64_t *value, struct err *e)
{
	struct verification last;
	int found = ledger_last_verification(c, &last, e);

	if (found == 1)
		*value = last.finished_at.us;
	return found;
}

static int
read_verified_well(struct context *c, int64_t *value, struct err *e)
{
	struct verification last;
	int found = ledger_last_verification(c, &last, e);

	if (found == 1)
		*value = str_is(last.result, "passed");
	return found;
}

static int
read_damage(struct context *c, int64_t *value, struct err *e)
{
	return db_get_int(c->db, value, 0, e,
		   "SELECT count(*) FROM damage WHERE mended_at IS NULL", "")
		   ? -1
		   : 1;
}
