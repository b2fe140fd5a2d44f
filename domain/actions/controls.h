/*
 * The domain controls of a Financial Action. Scope controls bind it to its
 * source and must pass for it to be created; policy controls are judged at
 * creation too, shown with their outcome, and must pass before approval. Each
 * is a pure function of the facts.
 */
#ifndef DOMAIN_ACTIONS_CONTROLS_H
#define DOMAIN_ACTIONS_CONTROLS_H

#include "domain/actions/envelope.h"
#include "domain/actions/request.h"
#include "domain/parties.h"
#include "domain/source_records.h"

/* What the controls judge by; a record that is not in this ledger is NULL. */
struct facts {
	const struct create_action *request;
	enum money_fault amount_fault;
	struct money amount;
	const struct source_record *source;
	int64_t source_reserved; /* minor units that live actions hold */
	const struct connector *connector;
	const struct counterparty *counterparty;
	const struct arrangement *arrangement;
	int64_t arrangement_reserved;
	bool production_is_open;
	bool reference_is_taken; /* by a live action of the connector */
};

enum control_stage { CONTROL_SCOPE, CONTROL_POLICY };

enum control_outcome { CONTROL_PASSED, CONTROL_FAILED, CONTROL_NOT_APPLICABLE };

struct finding {
	enum control_outcome outcome;
	struct str detail; /* of a failure */
};

struct control {
	const char *id;
	enum control_stage stage;
	const char *pointer; /* the field of the request that it is about */
	struct finding (*judge)(const struct facts *, struct arena *);
};

extern const struct control controls[];
extern const size_t n_controls;

/*
 * Judges by every control, in the order of the table; results has n_controls
 * items. -1 with err_control when a scope control failed: the failed ones in
 * e->fields, all in the problem's member `controls`.
 */
int controls_judge(const struct facts *, struct arena *,
    struct control_result *results, struct err *);

#endif
