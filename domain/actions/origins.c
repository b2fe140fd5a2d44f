#include "domain/actions.h"
#include "domain/actions/events.h"

static int
read_event(
    struct context *c, uint64_t seq, struct action_origins *out, struct err *e)
{
	const struct envelope_source *source;
	struct action_created data;
	const struct envelope *x;
	struct stored_event stored;

	if (ledger_read_event(c->reading, seq, c->arena, &stored, e) ||
	    context_event_data(
		c, &stored.recorded.event, &event_action_created, &data, e))
		return -1;
	x = data.envelope;
	source = x->source;
	*out = (struct action_origins){
		.source = source->uid,
		.arrangement = x->arrangement_uid,
		.connector_id = x->connector_id,
		.counterparty_id = x->counterparty_id,
		.envelope_hash = data.envelope_hash,
	};
	return 1;
}

int
action_find_origins(struct context *c, struct uid uid,
    struct action_origins *out, struct err *e)
{
	int64_t seq;

	if (db_get_int(c->db, &seq, -1, e,
		"SELECT seq FROM action WHERE uid = ?", "u", uid))
		return -1;
	return seq < 0 ? 0 : read_event(c, (uint64_t)seq, out, e);
}
