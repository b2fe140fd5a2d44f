/*
 * The group's records as replies show them.
 */
#ifndef DOMAIN_PARTIES_RECORDS_H
#define DOMAIN_PARTIES_RECORDS_H

#include "ledger/codec/shape.h"

struct connector_record {
	int64_t id;
	struct uid uid;
	struct str name, kind;
	struct str_list modes;
	struct str status;
	struct instant created_at;
};

struct counterparty_record {
	int64_t id;
	struct uid uid;
	struct str name, account, lei, status; /* erased: no name, account */
	struct instant created_at, erased_at;
	struct opt_int erased_by_event;
};

struct arrangement_record {
	int64_t id;
	struct uid uid;
	int64_t counterparty_id;
	struct str kind, currency;
	struct decimal limit;
	struct str status;
	struct instant created_at;
};

extern const struct shape connector_record_shape, counterparty_record_shape,
    arrangement_record_shape;

#endif
