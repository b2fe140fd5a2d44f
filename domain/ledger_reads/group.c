#include "domain/ledger_reads/group.h"

#include "domain/catalog.h"

const struct err_kind err_pack_too_large = {
	.slug = "pack-too-large",
	.title = "The batch is too large for one reply",
	.status = 422,
	.remedy = "Clone the ledger's repository; it holds the batch.",
};

static const struct operation *const operations[] = {
	&op_ledger_checkpoint,
	&op_ledger_event_list,
	&op_ledger_event_show,
	&op_ledger_record_list,
	&op_ledger_proof_inclusion,
	&op_ledger_proof_consistency,
	&op_ledger_evidence,
	&op_ledger_pack,
	&op_ledger_key_list,
	NULL,
};

static const struct err_kind *const problems[] = {
	&err_pack_too_large,
	NULL,
};

extern const struct group group_ledger_reads;
const struct group group_ledger_reads = {
	.name = "ledger_reads",
	.title = "Auditors' reads",
	.operations = operations,
	.problems = problems,
};
