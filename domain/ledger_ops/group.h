#ifndef DOMAIN_LEDGER_OPS_GROUP_H
#define DOMAIN_LEDGER_OPS_GROUP_H

#include "domain/job.h"
#include "domain/operation.h"

extern const struct operation op_ledger_status, op_ledger_confirm_clock;
extern const struct job_kind job_ledger_pack, job_ledger_verify;
extern const struct event_type event_ledger_verified;

#endif
