#include "domain/production/group.h"

#include "domain/catalog.h"
#include "domain/production.h"
#include "domain/production/events.h"
#include "ledger/base/embed.h"

EMBED(production_view_sql, "domain/production/view.sql");

const struct err_kind err_production_closed = {
	"production-closed",
	"Production is not open",
	403,
	false,
	"An approver opens production by signature; until then, use sandbox.",
};

static const struct event_type *const types[] = {
	&event_production_opened,
	&event_production_closed,
	NULL,
};

static const struct operation *const operations[] = {
	&op_production_statement,
	&op_production_open,
	&op_production_close,
	&op_production_show,
	NULL,
};

static const struct err_kind *const problems[] = {
	&err_production_closed,
	NULL,
};

static const struct view view = { types, production_view_sql };

extern const struct group group_production;
const struct group group_production = {
	.name = "production",
	.title = "Production access",
	.operations = operations,
	.view = &view,
	.problems = problems,
};
