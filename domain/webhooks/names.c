/*
 * What may be subscribed to. A name whose events do not exist yet may be
 * subscribed to all the same: nothing comes until they do.
 */
#include "domain/webhooks/group.h"

#define ACTION "/api/v2/agent-execution/actions/"

/* X(text, path, by_default) */
/* clang-format off */
#define NAMES(X) \
	X("financial_action.created", ACTION, true) \
	X("financial_action.submitted", ACTION, true) \
	X("financial_action.approved", ACTION, true) \
	X("financial_action.rejected", ACTION, true) \
	X("financial_action.executing", ACTION, true) \
	X("financial_action.acknowledged", ACTION, true) \
	X("financial_action.reconciled", ACTION, true) \
	X("financial_action.failed", ACTION, true) \
	X("financial_action.cancelled", ACTION, true) \
	X("financial_action.expired", ACTION, true) \
	X("workflow.invoked", NULL, true) \
	X("workflow.awaiting_review", NULL, true) \
	X("workflow.completed", NULL, true) \
	X("workflow.cancelled", NULL, true) \
	X("workflow.failed", NULL, true) \
	X(WEBHOOK_CHECKPOINT, NULL, false)
#define ROW(text, path, by_default) { text, path, by_default },
#define TEXT(text, path, by_default) text,
/* clang-format on */

const struct webhook_name webhook_names[] = { NAMES(ROW){ NULL, NULL, false } };
const char *const webhook_values[] = { NAMES(TEXT) NULL };

const struct webhook_name *
webhook_name_find(struct str text)
{
	for (const struct webhook_name *name = webhook_names; name->text;
	     name++)
		if (str_is(text, name->text))
			return name;
	return NULL;
}
