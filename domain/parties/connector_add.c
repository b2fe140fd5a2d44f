/*
 * connector add
 */
#include "domain/parties/events.h"
#include "domain/parties/group.h"
#include "domain/parties/records.h"

struct connector_add {
	struct str name, kind;
	struct str_list modes;
};

/* clang-format off */
SHAPE(connector_add, "A connector to add",
	FIELD(connector_add, name, .required = true, .min = 1, .max = 120, .format = &format_text, .doc = "Name"),
	FIELD(connector_add, kind, .required = true, .values = VALUES("sandbox", "file", "https"), .doc = "sandbox settles by rule; file exchanges ISO 20022 files; https calls a bank"),
	FIELD(connector_add, modes, .required = true, .min = 1, .max = 2, .values = VALUES("sandbox", "live"), .doc = "Execution modes it supports"));
/* clang-format on */

PREPARE(connector_add, connector_add)
WRITE_OPERATION(connector_add, connector_add, connector_record,
    .id = "connector.add", .command = "connector add",
    .product = "Financial Actions",
    .summary = "Add a connector, a way to execute actions",
    .prepare = connector_add_prepare_any,
    .emits = EMITS(&event_connector_added));

static int
connector_add_prepare(
    struct context *c, const struct connector_add *in, struct err *e)
{
	const struct str *mode = in->modes.items;

	if (in->modes.n == 2 && str_eq(mode[0], mode[1]))
		return err_add_field(e, c->arena, "pointer", "#/modes/1",
		    "duplicate", "must be given once");
	/* What moves no money must never count as a live execution. */
	for (size_t i = 0; i < in->modes.n; i++)
		if (str_is(in->kind, "sandbox") && str_is(mode[i], "live"))
			return err_add_field(e, c->arena, "pointer", "#/modes",
			    "conflict", "a sandbox connector is never live");
	return 0;
}

static int
connector_add_decide(
    struct context *c, const struct connector_add *in, struct err *e)
{
	struct connector_added data = {
		.name = in->name,
		.kind = in->kind,
		.modes = in->modes,
	};

	if (db_get_int(c->db, &data.id, 1, e,
		"SELECT coalesce(max(id), 0) + 1 FROM connector", ""))
		return -1;
	return context_emit(
	    c, &event_connector_added, "connector", tx_uid(c->tx), &data, e);
}

static int
connector_add_reply(struct context *c, const struct event *ev,
    struct connector_record *out, struct err *e)
{
	struct connector_added data;

	if (context_event_data(c, ev, &event_connector_added, &data, e))
		return -1;
	*out = (struct connector_record){
		.id = data.id,
		.uid = ev->subject,
		.name = data.name,
		.kind = data.kind,
		.modes = data.modes,
		.status = STR("active"),
		.created_at = ev->at,
	};
	return 0;
}
