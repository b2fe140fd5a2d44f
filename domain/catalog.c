#include "domain/catalog.h"

#include <pthread.h>
#include <stdlib.h>

#include "ledger/base/str.h"

extern const struct group group_workspace, group_applications, group_jobs,
    group_ledger_ops, group_parties, group_source_records, group_actions,
    group_finance_core, group_ledger_reads, group_witnesses, group_timestamps,
    group_erasure, group_lineage, group_approvers, group_production,
    group_infrastructure, group_limits, group_webhooks, group_oauth;

/* A view's tables are made in this order, so a group stands after those whose
 * tables it refers to. */
const struct group *const catalog_groups[] = {
	&group_workspace,
	&group_applications,
	&group_jobs,
	&group_ledger_ops,
	&group_parties,
	&group_source_records,
	&group_actions,
	&group_finance_core,
	&group_witnesses,
	&group_ledger_reads,
	&group_timestamps,
	&group_erasure,
	&group_lineage,
	&group_approvers,
	&group_production,
	&group_infrastructure,
	&group_limits,
	&group_webhooks,
	&group_oauth,
	NULL,
};

#define GROUPS (sizeof catalog_groups / sizeof catalog_groups[0])

static const struct view *views[GROUPS];
static pthread_once_t views_once = PTHREAD_ONCE_INIT;

static void
collect_views(void)
{
	size_t n = 0;

	for (size_t i = 0; catalog_groups[i]; i++)
		if (catalog_groups[i]->view)
			views[n++] = catalog_groups[i]->view;
}

const struct view *const *
catalog_views(void)
{
	pthread_once(&views_once, collect_views);
	return views;
}

typedef bool (*matches)(const struct operation *, struct str);

static const struct operation *
find(matches match, struct str name)
{
	for (size_t i = 0; catalog_groups[i]; i++) {
		const struct operation *const *row =
		    catalog_groups[i]->operations;

		for (; row && *row; row++)
			if (match(*row, name))
				return *row;
	}
	return NULL;
}

static bool
has_id(const struct operation *op, struct str id)
{
	return str_is(id, op->id);
}

static bool
has_command(const struct operation *op, struct str command)
{
	return op->command && str_is(command, op->command);
}

const struct operation *
catalog_by_id(struct str id)
{
	return find(has_id, id);
}

const struct operation *
catalog_by_command(struct str command)
{
	return find(has_command, command);
}
