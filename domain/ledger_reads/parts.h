/*
 * What several of the auditors' reads are made of.
 */
#ifndef DOMAIN_LEDGER_READS_PARTS_H
#define DOMAIN_LEDGER_READS_PARTS_H

#include "domain/ledger_proofs.h"
#include "domain/operation.h"

#define PRODUCT "Core Platform"
#define SEQ_MAX 9007199254740991

struct digest_text digest_as_text(struct arena *, struct digest);
struct str commit_as_text(struct arena *, struct oid);
struct str_list hashes_as_text(struct arena *, const struct merkle_proof *);

#endif
