#include "domain/parties/records.h"

/* clang-format off */
SHAPE(connector_record, "A connector: a way to execute actions",
	FIELD(connector_record, id, .doc = "Number"),
	FIELD(connector_record, uid, .doc = "Identifier"),
	FIELD(connector_record, name, .doc = "Name"),
	FIELD(connector_record, kind, .doc = "sandbox, file or https"),
	FIELD(connector_record, modes, .doc = "Execution modes it supports"),
	FIELD(connector_record, status, .doc = "active"),
	FIELD(connector_record, created_at, .doc = "When it was added"));
SHAPE(counterparty_record, "A counterparty: who is paid, or pays",
	FIELD(counterparty_record, id, .doc = "Number"),
	FIELD(counterparty_record, uid, .doc = "Identifier"),
	FIELD(counterparty_record, name, .doc = "Name; null once it is erased"),
	FIELD(counterparty_record, account, .doc = "IBAN or another account number; null once it is erased"),
	FIELD(counterparty_record, lei, .doc = "Legal entity identifier"),
	FIELD(counterparty_record, status, .doc = "active or suspended"),
	FIELD(counterparty_record, created_at, .doc = "When it was added"),
	FIELD(counterparty_record, erased_at, .omit_null = true, .doc = "When name and account were erased"),
	FIELD(counterparty_record, erased_by_event, .omit_null = true, .doc = "The event that erased them"));
SHAPE(arrangement_record, "An arrangement: a standing agreement with a counterparty",
	FIELD(arrangement_record, id, .doc = "Number"),
	FIELD(arrangement_record, uid, .doc = "Identifier"),
	FIELD(arrangement_record, counterparty_id, .doc = "With whom"),
	FIELD(arrangement_record, kind, .doc = "What it is"),
	FIELD(arrangement_record, currency, .doc = "ISO 4217 code"),
	FIELD(arrangement_record, limit, .doc = "The most that may be open under it"),
	FIELD(arrangement_record, status, .doc = "active"),
	FIELD(arrangement_record, created_at, .doc = "When it was added"));
/* clang-format on */
