#include "domain/ledger_ops.h"
#include "domain/ledger_ops/group.h"

/* clang-format off */
SHAPE(verification, "A full verification of the ledger",
	FIELD(verification, size, .doc = "Events in the ledger that was checked"),
	FIELD(verification, root, .doc = "Root of its Merkle tree"),
	FIELD(verification, head, .doc = "Hash of its last event"),
	FIELD(verification, result, .required = true, .values = VALUES("passed", "failed"), .doc = "passed or failed"),
	FIELD(verification, events, .doc = "Events checked"),
	FIELD(verification, reason, .max = 600, .doc = "Why it failed"),
	FIELD(verification, failed_seq, .doc = "The first event that fails"),
	FIELD(verification, started_at, .required = true, .doc = "When it began"),
	FIELD(verification, finished_at, .required = true, .doc = "When it ended"));
/* clang-format on */

EVENT_TYPE(ledger_verified, "ledger.verified", verification,
    "The whole ledger was verified, with this outcome");

static int
project_ledger_verified(struct db *db, const struct event *ev,
    const struct verification *d, struct err *e)
{
	(void)ev;
	return db_run(db, e,
	    "INSERT INTO verification (size, root, head, result, events,"
	    " reason, failed_seq, started_at, finished_at)"
	    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
	    "isssisott", d->size, d->root.hex, d->head.hex, d->result,
	    d->events, d->reason, d->failed_seq, d->started_at, d->finished_at);
}

int
ledger_last_verification(
    struct context *c, struct verification *out, struct err *e)
{
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT size, root, head, result, events, reason, failed_seq,"
		" started_at, finished_at FROM verification"
		" ORDER BY id DESC LIMIT 1",
		""))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = (struct verification){
			.size = rows_int(&r, 0),
			.root = { rows_str(&r, 1, c->arena) },
			.head = { rows_str(&r, 2, c->arena) },
			.result = rows_str(&r, 3, c->arena),
			.events = rows_int(&r, 4),
			.reason = rows_str(&r, 5, c->arena),
			.failed_seq = rows_opt_int(&r, 6),
			.started_at = rows_instant(&r, 7),
			.finished_at = rows_instant(&r, 8),
		};
	if (rows_end(&r, e))
		return -1;
	return found;
}
