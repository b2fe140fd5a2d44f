#ifndef DOMAIN_TIMESTAMPS_GROUP_H
#define DOMAIN_TIMESTAMPS_GROUP_H

#include "domain/job.h"
#include "domain/operation.h"

/* Data of `checkpoint.timestamped`. Its payloads are PAYLOAD_NOTE, the signed
 * note that was stamped, and PAYLOAD_TOKEN, the authority's TimeStampResp. */
struct checkpoint_timestamped {
	int64_t size;            /* events that the checkpoint covers */
	struct digest_text root; /* of the Merkle tree of that size */
	struct str authority;    /* URL that was asked */
	struct instant gen_time; /* the authority's, whole seconds */
	struct str policy;       /* the authority's, an object identifier */
};

#define PAYLOAD_NOTE  "checkpoint"
#define PAYLOAD_TOKEN "token"

extern const struct operation op_ledger_timestamp_list;
extern const struct job_kind job_ledger_timestamp;
extern const struct event_type event_checkpoint_timestamped;

#endif
