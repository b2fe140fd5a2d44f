#include "domain/actions/facts.h"

#include "domain/production.h"

/* Each leaves the fact as it is when there is no such record. */

static int
find_source(struct context *c, struct facts *f, struct err *e)
{
	struct source_record *source =
	    ARENA_NEW(c->arena, struct source_record);
	int found = source_record_find(c, f->request->source_uid, source, e);

	if (found == 1)
		f->source = source;
	if (found <= 0)
		return found;
	return db_get_int(c->db, &f->source_reserved, 0, e,
	    "SELECT reserved_minor FROM action_source_reservation"
	    " WHERE source_uid = ?",
	    "u", source->uid);
}

static int
find_arrangement(struct context *c, struct facts *f, struct err *e)
{
	struct arrangement *arrangement;
	int found;

	if (uid_is_none(f->request->arrangement_uid))
		return 0;
	arrangement = ARENA_NEW(c->arena, struct arrangement);
	found =
	    arrangement_find(c, f->request->arrangement_uid, arrangement, e);
	if (found == 1)
		f->arrangement = arrangement;
	if (found <= 0)
		return found;
	return db_get_int(c->db, &f->arrangement_reserved, 0, e,
	    "SELECT reserved_minor FROM action_arrangement_reservation"
	    " WHERE arrangement_uid = ?",
	    "u", arrangement->uid);
}

static int
find_connector(struct context *c, struct facts *f, struct err *e)
{
	struct connector *connector = ARENA_NEW(c->arena, struct connector);
	int found = connector_find(c, f->request->connector_id, connector, e);

	if (found == 1)
		f->connector = connector;
	return found < 0 ? -1 : 0;
}

static int
find_counterparty(struct context *c, struct facts *f, struct err *e)
{
	struct counterparty *counterparty =
	    ARENA_NEW(c->arena, struct counterparty);
	int found =
	    counterparty_find(c, f->request->counterparty_id, counterparty, e);

	if (found == 1)
		f->counterparty = counterparty;
	return found < 0 ? -1 : 0;
}

/* The condition on the state is the index's, word for word, so that SQLite
 * takes the index. */
static int
find_reference(struct context *c, struct facts *f, struct err *e)
{
	int64_t id;

	if (!f->request->external_reference.p)
		return 0;
	if (db_get_int(c->db, &id, 0, e,
		"SELECT id FROM action WHERE connector_id = ?"
		" AND external_reference = ?"
		" AND state NOT IN"
		" ('rejected', 'cancelled', 'expired', 'failed')",
		"is", f->request->connector_id, f->request->external_reference))
		return -1;
	f->reference_is_taken = id != 0;
	return 0;
}

int
facts_gather(struct context *c, const struct create_action *request,
    struct money amount, struct facts *f, struct err *e)
{
	struct money exact;

	*f = (struct facts){ .request = request, .amount = amount };
	f->amount_fault =
	    money_parse(request->amount.text, amount.currency, &exact);
	if (find_source(c, f, e) || find_arrangement(c, f, e) ||
	    find_connector(c, f, e) || find_counterparty(c, f, e) ||
	    production_is_open(c, &f->production_is_open, e))
		return -1;
	return find_reference(c, f, e);
}
