/*
 * subject erase: destroys the content keys of a record.
 */
#include "domain/operation.h"
#include "ledger/write/content.h"

struct erase_subject {
	struct uid subject;
	struct str reason, requested_by;
};

struct erased_subject {
	struct str kind;
	struct uid subject;
	struct str reason, requested_by;
	int64_t keys;
	struct list carried;
	struct instant erased_at;
	int64_t erased_by_event;
};

/* clang-format off */
SHAPE(erase_subject, "A record whose personal values are to be erased",
	FIELD(erase_subject, subject, .required = true, .doc = "Identifier of the record"),
	FIELD(erase_subject, reason, .required = true, .min = 1, .max = 280, .format = &format_text, .doc = "Why; it stays for ever, so it must not name the person"),
	FIELD(erase_subject, requested_by, .min = 1, .max = 120, .format = &format_text, .doc = "Who asked for it, as a reference; it stays as well"));
SHAPE_AS(carried_reply, carried_value, "Values that are gone",
	FIELD(carried_value, key, .doc = "Their content key"),
	FIELD(carried_value, seq, .doc = "The event that holds them, encrypted"));
SHAPE(erased_subject, "A record whose personal values were erased",
	FIELD(erased_subject, kind, .doc = "Kind of the record"),
	FIELD(erased_subject, subject, .doc = "Its identifier"),
	FIELD(erased_subject, reason, .doc = "Why"),
	FIELD(erased_subject, requested_by, .doc = "Who asked for it"),
	FIELD(erased_subject, keys, .doc = "Content keys destroyed"),
	FIELD(erased_subject, carried, .of = &carried_reply_shape, .max = CARRIED_PER_EVENT, .doc = "The keys, and the events that hold values under them; further ones are in further events"),
	FIELD(erased_subject, erased_at, .doc = "When"),
	FIELD(erased_subject, erased_by_event, .doc = "The event that says so"));
/* clang-format on */

extern const struct operation op_subject_erase;
WRITE_OPERATION(subject_erase, erase_subject, erased_subject,
    .id = "subject.erase", .command = "subject erase", .status = 200,
    .product = "Core Platform",
    .summary = "Erase the personal values of a record, for ever",
    .refusals = REFUSES(&err_not_found, &err_conflict, &err_erased),
    .emits = EMITS(&event_subject_erased));

static int
subject_erase_decide(
    struct context *c, const struct erase_subject *in, struct err *e)
{
	return subject_erase(
	    c->tx, in->subject, in->reason, in->requested_by, e);
}

/* The event is durable, so now the keys go; a key that cannot be removed is
 * said here, and the next opening of the ledger tries again. */
static int
subject_erase_reply(struct context *c, const struct event *ev,
    struct erased_subject *out, struct err *e)
{
	struct subject_erased data;

	if (context_event_data(c, ev, &event_subject_erased, &data, e) ||
	    ledger_settle_erasures(c->ledger, e))
		return -1;
	*out = (struct erased_subject){
		.kind = ev->subject_kind,
		.subject = ev->subject,
		.reason = data.reason,
		.requested_by = data.requested_by,
		.keys = data.keys,
		.carried = data.carried,
		.erased_at = ev->at,
		.erased_by_event = (int64_t)ev->seq,
	};
	return 0;
}
