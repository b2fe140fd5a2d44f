/*
 * production statement: the bytes that an approver signs to open or close
 * production, on standard output and without a line end.
 */
#include "domain/production/group.h"
#include "ledger/codec/canon.h"

struct statement_request {
	struct str decision, reason;
};

/* clang-format off */
SHAPE(production_statement, "What an approver decides",
	FIELD(production_statement, at, .required = true, .doc = "When the statement was made"),
	FIELD(production_statement, decision, .required = true, .values = VALUES(DECIDES_OPEN, DECIDES_CLOSE), .doc = "What is decided"),
	FIELD(production_statement, ledger, .required = true, .max = 200, .doc = "The ledger's name"),
	FIELD(production_statement, reason, .required = true, .min = 1, .max = 280, .format = &format_text, .doc = "Why"),
	FIELD(production_statement, workspace, .required = true, .max = 39, .doc = "The workspace"));
SHAPE(statement_request, "The statement to print",
	FIELD(statement_request, decision, .required = true, .values = VALUES("open", "close"), .doc = "What the approver decides"),
	FIELD(statement_request, reason, .required = true, .min = 1, .max = 280, .format = &format_text, .doc = "Why; it stays for ever, so it must not name a person"));
/* clang-format on */

CONTENT_OPERATION(production_statement, statement_request,
    .id = "production.statement", .command = "production statement",
    .product = "Core Platform", .media_type = "application/json",
    .refusals = REFUSES(&err_conflict),
    .summary = "Print what an approver signs to open or close production");

int
production_check_place(const struct context *c, struct err *e)
{
	if (str_is(c->place->environment, "production"))
		return 0;
	return err_set(e, &err_conflict,
	    "a sandbox is not opened or closed: give --environment production");
}

static int
production_statement_read(struct context *c, const struct statement_request *in,
    struct content *out, struct err *e)
{
	struct production_statement statement = {
		.at = c->now,
		.decision = str_is(in->decision, "open") ? STR(DECIDES_OPEN)
							 : STR(DECIDES_CLOSE),
		.ledger = ledger_origin(c->ledger),
		.reason = in->reason,
		.workspace = c->place->workspace,
	};

	if (production_check_place(c, e))
		return -1;
	return canon_event(c->arena,
	    shape_encode(&production_statement_shape, &statement, c->arena),
	    &out->bytes, e);
}
