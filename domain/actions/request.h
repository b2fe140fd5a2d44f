/*
 * A Financial Action request, and the rules on its fields alone.
 */
#ifndef DOMAIN_ACTIONS_REQUEST_H
#define DOMAIN_ACTIONS_REQUEST_H

#include "domain/money.h"
#include "ledger/codec/shape.h"

struct create_action {
	struct str action_key;
	struct uid source_uid, arrangement_uid;
	int64_t connector_id, counterparty_id;
	struct str currency;
	struct decimal amount;
	struct str purpose, external_reference;
	struct str calculation_source, calculation_reference;
	struct str execution_mode;
};

extern const struct shape create_action_shape;

/* The amount in its currency, above zero. Names every bad field. err_invalid.
 */
int create_action_check(
    const struct create_action *, struct arena *, struct money *, struct err *);

#endif
