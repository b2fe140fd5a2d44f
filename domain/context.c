#include "domain/context.h"

#include "domain/operation.h"

/* A row that emits what it does not declare is our own mistake. */
static bool
is_declared(const struct operation *op, const struct event_type *type)
{
	if (!op)
		return true; /* a job's settlement has no row */
	for (size_t i = 0; op->emits && op->emits[i]; i++)
		if (op->emits[i] == type)
			return true;
	return false;
}

int
context_emit_with(struct context *c, const struct event_type *type,
    const char *subject_kind, struct uid subject, const void *data,
    const struct payload *payloads, size_t n, struct err *e)
{
	if (!c->tx || !is_declared(c->op, type))
		return err_set(e, &err_internal,
		    "%s does not declare the event %s",
		    c->op ? c->op->id : "a job", type->name);
	return tx_emit(
	    c->tx, type, subject_kind, subject, data, payloads, n, e);
}

int
context_emit(struct context *c, const struct event_type *type,
    const char *subject_kind, struct uid subject, const void *data,
    struct err *e)
{
	return context_emit_with(
	    c, type, subject_kind, subject, data, NULL, 0, e);
}

void
context_answer_with(struct context *c, uint64_t seq)
{
	c->answered = true;
	c->answer_seq = seq;
}

int
context_event_data(struct context *c, const struct event *event,
    const struct event_type *type, void *out, struct err *e)
{
	if (!str_is(event->type, type->name))
		return err_set(e, &err_internal, "event %llu is %.*s, not %s",
		    (unsigned long long)event->seq, STR_ARGS(event->type),
		    type->name);
	return shape_decode_json(type->data, event->data, c->arena, out, e);
}
