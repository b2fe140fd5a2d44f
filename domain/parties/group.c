#include "domain/parties/group.h"

#include "domain/catalog.h"
#include "domain/parties/events.h"
#include "ledger/base/embed.h"

EMBED(parties_view_sql, "domain/parties/view.sql");

static const struct event_type *const types[] = {
	&event_connector_added,
	&event_counterparty_added,
	&event_counterparty_registered,
	&event_counterparty_suspended,
	&event_counterparty_reinstated,
	&event_arrangement_added,
	NULL,
};

static const struct operation *const operations[] = {
	&op_connector_add,
	&op_connector_list,
	&op_counterparty_add,
	&op_counterparty_list,
	&op_counterparty_show,
	&op_counterparty_suspend,
	&op_counterparty_reinstate,
	&op_arrangement_add,
	&op_arrangement_list,
	NULL,
};

static const struct view view = { types, parties_view_sql };

extern const struct group group_parties;
const struct group group_parties = {
	.name = "parties",
	.title = "Connectors, counterparties and arrangements",
	.operations = operations,
	.view = &view,
};
