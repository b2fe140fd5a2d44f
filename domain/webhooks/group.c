#include "domain/webhooks/group.h"

#include "domain/catalog.h"
#include "ledger/base/embed.h"

EMBED(webhooks_view_sql, "domain/webhooks/view.sql");

const struct err_kind err_unsafe_endpoint = {
	"unsafe-endpoint",
	"The endpoint may not be called",
	422,
	false,
	"Register an https URL whose host has public addresses alone; the errors "
	"member says what is wrong with this one.",
};

static const struct event_type *const types[] = {
	&event_webhook_registered,
	&event_webhook_approved,
	&event_webhook_revoked,
	&event_webhook_disabled,
	&event_webhook_secret_rotated,
	&event_webhook_claimed,
	&event_webhook_attempted,
	&event_webhook_replayed,
	&event_checkpoint_announced,
	NULL,
};

static const struct operation *const operations[] = {
	&op_webhook_register,
	&op_webhook_list,
	&op_webhook_revoke,
	&op_webhook_approve,
	&op_webhook_rotate_secret,
	&op_webhook_deliveries,
	&op_webhook_dead_letters,
	&op_webhook_replay,
	NULL,
};

static const struct job_kind *const jobs[] = {
	&job_webhook_checkpoint,
	&job_webhook_revoke,
	NULL,
};

static const struct err_kind *const problems[] = {
	&err_unsafe_endpoint,
	NULL,
};

static const struct gauge *const gauges[] = {
	&gauge_deliveries_queued,
	&gauge_delivery_lag,
	&gauge_dead_letters,
	NULL,
};

static const struct view view = { types, webhooks_view_sql };

extern const struct group group_webhooks;
const struct group group_webhooks = {
	.name = "webhooks",
	.title = "Webhooks",
	.operations = operations,
	.view = &view,
	.jobs = jobs,
	.problems = problems,
	.gauges = gauges,
};
