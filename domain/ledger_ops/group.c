#include "domain/ledger_ops/group.h"

#include "domain/catalog.h"
#include "ledger/base/embed.h"

EMBED(ledger_ops_view_sql, "domain/ledger_ops/view.sql");

static const struct event_type *const types[] = {
	&event_ledger_verified,
	&event_ledger_damage_found,
	&event_ledger_damage_mended,
	&event_ledger_scrubbed,
	NULL,
};

static const struct operation *const operations[] = {
	&op_ledger_status,
	&op_ledger_confirm_clock,
	NULL,
};

static const struct job_kind *const jobs[] = {
	&job_ledger_pack,
	&job_ledger_verify,
	&job_ledger_export_checkpoint,
	&job_ledger_mirror,
	&job_ledger_index,
	&job_ledger_scrub,
	NULL,
};

static const struct gauge *const gauges[] = {
	&gauge_ledger_events,
	&gauge_verified_at,
	&gauge_verified_well,
	&gauge_damage,
	NULL,
};

static const struct view view = { types, ledger_ops_view_sql };

extern const struct group group_ledger_ops;
const struct group group_ledger_ops = {
	.name = "ledger_ops",
	.title = "Ledger upkeep",
	.operations = operations,
	.view = &view,
	.jobs = jobs,
	.gauges = gauges,
};
