#include "domain/job.h"
#include "domain/jobs/events.h"

int
job_queue(struct context *c, const struct job_kind *kind,
    const struct json *input, struct uid *uid, struct err *e)
{
	struct job_queued data = { str_from(kind->name), input };
	struct uid own = tx_uid(c->tx);

	if (uid)
		*uid = own;
	return tx_emit(c->tx, &event_job_queued, "job", own, &data, NULL, 0, e);
}

int
job_last_queued(struct context *c, const struct job_kind *kind,
    struct instant *at, struct err *e)
{
	return db_get_int(c->db, &at->us, 0, e,
	    "SELECT max(queued_at) FROM job WHERE kind = ?", "s",
	    str_from(kind->name));
}
