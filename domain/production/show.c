/*
 * Whether production is open: for other groups, and production show.
 */
#include "domain/production.h"
#include "domain/production/group.h"

struct production_access {
	struct str state;
	struct instant since, stated_at;
	struct uid approver_uid;
};

/* clang-format off */
SHAPE(production_access, "Whether production is open",
	FIELD(production_access, state, .doc = "open or closed"),
	FIELD(production_access, since, .doc = "Since when; null: it was never opened"),
	FIELD(production_access, approver_uid, .doc = "Who decided it"),
	FIELD(production_access, stated_at, .doc = "When, as the approver's statement says"));
/* clang-format on */

READ_OPERATION(production_show, nothing, production_access,
    .id = "production.show", .command = "production show",
    .product = "Core Platform", .refusals = REFUSES(&err_conflict),
    .summary = "Show whether production is open");

int
production_read(struct context *c, struct production_state *out, struct err *e)
{
	struct rows r;
	int found;

	*out = (struct production_state){ 0 };
	if (db_query(c->db, &r, e,
		"SELECT open, since, approver, stated_at FROM production_state"
		" WHERE id = 1",
		""))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = (struct production_state){
			.open = rows_bool(&r, 0),
			.since = rows_instant(&r, 1),
			.approver = rows_uid(&r, 2),
			.stated_at = rows_instant(&r, 3),
		};
	return rows_end(&r, e) || found < 0 ? -1 : 0;
}

int
production_is_open(struct context *c, bool *open, struct err *e)
{
	struct production_state state;

	*open = false;
	if (!str_is(c->place->environment, "production"))
		return 0;
	if (production_read(c, &state, e))
		return -1;
	*open = state.open;
	return 0;
}

static int
production_show_read(struct context *c, const struct nothing *in,
    struct production_access *out, struct err *e)
{
	struct production_state state;

	(void)in;
	if (production_check_place(c, e) || production_read(c, &state, e))
		return -1;
	*out = (struct production_access){
		.state = state.open ? STR("open") : STR("closed"),
		.since = state.since,
		.stated_at = state.stated_at,
		.approver_uid = state.approver,
	};
	return 0;
}
