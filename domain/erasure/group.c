/*
 * Erasing what a record says of a person. The event type and its tables are
 * the ledger's own (ledger/write/content.h).
 */
#include "domain/catalog.h"
#include "ledger/write/content.h"

extern const struct operation op_subject_erase;

static const struct event_type *const types[] = {
	&event_subject_erased,
	NULL,
};

static const struct operation *const operations[] = {
	&op_subject_erase,
	NULL,
};

static const struct view view = { types, NULL };

extern const struct group group_erasure;
const struct group group_erasure = {
	.name = "erasure",
	.title = "Erasure of personal content",
	.operations = operations,
	.view = &view,
};
