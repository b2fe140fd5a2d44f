#ifndef DOMAIN_LEDGER_READS_GROUP_H
#define DOMAIN_LEDGER_READS_GROUP_H

#include "domain/operation.h"

extern const struct operation op_ledger_checkpoint, op_ledger_event_list,
    op_ledger_event_show, op_ledger_record_list, op_ledger_proof_inclusion,
    op_ledger_proof_consistency, op_ledger_evidence, op_ledger_pack,
    op_ledger_key_list;

/* A reply of bytes would be longer than this service gives. */
extern const struct err_kind err_pack_too_large;

#endif
