#include "domain/lineage/group.h"

#include "domain/catalog.h"
#include "domain/lineage/events.h"
#include "ledger/base/embed.h"

EMBED(lineage_view_sql, "domain/lineage/view.sql");

const struct err_kind err_rendering_too_large = {
	.slug = "rendering-too-large",
	.title = "The export is too large for this rendering",
	.status = 422,
	.remedy = "Read the manifest itself; it holds the same.",
};

const struct err_kind err_exports_waiting = {
	.slug = "exports-waiting",
	.title = "As many large exports as may be are waiting",
	.status = 503,
	.retryable = true,
	.remedy = "Ask again after the time in Retry-After.",
};

const struct err_kind err_export_file_gone = {
	.slug = "export-file-gone",
	.title = "The export's file is being made again",
	.status = 503,
	.retryable = true,
	.remedy =
	    "Read it after the time in Retry-After; its bytes will be those "
	    "that were sealed.",
};

static const struct event_type *const types[] = {
	&event_manifest_key_certified,
	&event_lineage_export_requested,
	&event_lineage_export_sealed,
	NULL,
};

static const struct operation *const operations[] = {
	&op_lineage_export_create,
	&op_lineage_export_show,
	NULL,
};

static const struct job_kind *const jobs[] = {
	&job_lineage_export,
	&job_lineage_file,
	NULL,
};

static const struct err_kind *const problems[] = {
	&err_rendering_too_large,
	&err_exports_waiting,
	&err_export_file_gone,
	NULL,
};

static const struct view view = { types, lineage_view_sql };

extern const struct group group_lineage;
const struct group group_lineage = {
	.name = "lineage",
	.title = "Lineage exports",
	.operations = operations,
	.view = &view,
	.jobs = jobs,
	.problems = problems,
};
