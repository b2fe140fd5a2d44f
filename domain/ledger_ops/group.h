#ifndef DOMAIN_LEDGER_OPS_GROUP_H
#define DOMAIN_LEDGER_OPS_GROUP_H

#include "domain/gauge.h"
#include "domain/job.h"
#include "domain/operation.h"

extern const struct operation op_ledger_status, op_ledger_confirm_clock;
extern const struct job_kind job_ledger_pack, job_ledger_verify,
    job_ledger_export_checkpoint, job_ledger_mirror, job_ledger_index,
    job_ledger_scrub;
extern const struct event_type event_ledger_verified, event_ledger_damage_found,
    event_ledger_damage_mended, event_ledger_scrubbed;

/* Whether the last job of the kind was queued at least so long ago. */
bool ledger_job_is_due(struct context *, const char *kind, int64_t minutes);

extern const struct gauge gauge_ledger_events, gauge_verified_at,
    gauge_verified_well, gauge_damage;

#endif
