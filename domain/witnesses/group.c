#include "domain/witnesses/group.h"

#include "domain/catalog.h"
#include "ledger/base/embed.h"

EMBED(witnesses_view_sql, "domain/witnesses/view.sql");

static const struct event_type *const types[] = {
	&event_checkpoint_cosigned,
	NULL,
};

static const struct operation *const operations[] = {
	NULL,
};

static const struct job_kind *const jobs[] = {
	&job_ledger_witness,
	NULL,
};

static const struct view view = { types, witnesses_view_sql };

extern const struct group group_witnesses;
const struct group group_witnesses = {
	.name = "witnesses",
	.title = "Witnesses",
	.operations = operations,
	.view = &view,
	.jobs = jobs,
};
