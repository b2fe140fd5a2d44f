#include "domain/source_records/group.h"

#include "domain/catalog.h"
#include "domain/source_records/received.h"
#include "ledger/base/embed.h"

EMBED(source_records_view_sql, "domain/source_records/view.sql");

static const struct event_type *const types[] = {
	&event_import_recorded,
	&event_import_received,
	&event_statement_imported,
	&event_records_sealed,
	NULL,
};

static const struct operation *const operations[] = {
	&op_source_record_import,
	&op_source_record_list,
	&op_source_record_show,
	&op_source_record_file,
	NULL,
};

static const struct view view = { types, source_records_view_sql };

extern const struct group group_source_records;
const struct group group_source_records = {
	.name = "source_records",
	.title = "Source records",
	.operations = operations,
	.view = &view,
};
