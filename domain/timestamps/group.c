#include "domain/timestamps/group.h"

#include "domain/catalog.h"
#include "ledger/base/embed.h"

EMBED(timestamps_view_sql, "domain/timestamps/view.sql");

/* clang-format off */
SHAPE(checkpoint_timestamped, "A checkpoint was stamped with a time",
	FIELD(checkpoint_timestamped, size, .required = true, .min = 1, .doc = "Events that the checkpoint covers"),
	FIELD(checkpoint_timestamped, root, .required = true, .doc = "Root of the Merkle tree of that size"),
	FIELD(checkpoint_timestamped, authority, .required = true, .max = 1000, .doc = "URL of the authority"),
	FIELD(checkpoint_timestamped, gen_time, .required = true, .doc = "The authority's time, whole seconds"),
	FIELD(checkpoint_timestamped, policy, .required = true, .max = 127, .doc = "The authority's policy, an object identifier"));
/* clang-format on */

EVENT_TYPE(checkpoint_timestamped, "checkpoint.timestamped",
    checkpoint_timestamped,
    "An authority stamped a checkpoint of the ledger with a time (RFC 3161)");

static int
project_checkpoint_timestamped(struct db *db, const struct event *ev,
    const struct checkpoint_timestamped *d, struct err *e)
{
	return db_run(db, e,
	    "INSERT INTO checkpoint_timestamp (seq, size, root, authority,"
	    " gen_time, policy) VALUES (?, ?, ?, ?, ?, ?)",
	    "iissts", (int64_t)ev->seq, d->size, d->root.hex, d->authority,
	    d->gen_time, d->policy);
}

static const struct event_type *const types[] = {
	&event_checkpoint_timestamped,
	NULL,
};

static const struct operation *const operations[] = {
	&op_ledger_timestamp_list,
	NULL,
};

static const struct job_kind *const jobs[] = {
	&job_ledger_timestamp,
	NULL,
};

static const struct view view = { types, timestamps_view_sql };

extern const struct group group_timestamps;
const struct group group_timestamps = {
	.name = "timestamps",
	.title = "Time-stamps",
	.operations = operations,
	.view = &view,
	.jobs = jobs,
};
