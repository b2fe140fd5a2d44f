/*
 * What a write's request expects of the record that it changes. Asked in the
 * write's turn, so that nobody changes the record in between.
 */
#include "domain/running.h"

/* No such record, or none that a request without a query could mean. */
static bool
is_absence(const struct err *e)
{
	return e->kind && e->kind->status >= 400 && e->kind->status < 500;
}

/* The path alone names the record; the query and the body are the write's. */
static struct input
input_of_path(struct arena *a, const struct input *in)
{
	struct param *params = arena_array(a, in->n_params, sizeof *params);
	struct input out = { .params = params };

	for (size_t i = 0; i < in->n_params; i++)
		if (in->params[i].place == IN_PATH)
			params[out.n_params++] = in->params[i];
	return out;
}

/* 1, 0 when nothing is there, -1. */
static int
read_current(const struct running *r, const struct operation *op,
    struct reply *out, struct err *e)
{
	struct call call = *r->call;
	struct running now = { .call = &call, .c = r->c };
	struct reading reading;
	struct err why = { 0 };

	tx_reading(r->c.tx, &reading);
	call.op = op;
	call.input = input_of_path(r->c.arena, &r->call->input);
	now.c.op = op;
	now.c.tx = NULL;
	now.c.reading = &reading;
	*out = (struct reply){ .status = op->status };
	if (running_read(&now, out, &why) == 0)
		return 1;
	return is_absence(&why) ? 0 : err_set(e, why.kind, "%s", why.detail);
}

int
expectation_judge(const struct running *r, struct err *verdict, struct err *e)
{
	const struct expectation *x = r->call->expects;
	struct reply now;
	int found = 0;

	*verdict = (struct err){ 0 };
	if (!x)
		return 0;
	if (x->current)
		found = read_current(r, x->current, &now, e);
	if (found < 0)
		return -1;
	x->judge(x->arg, found ? &now : NULL, verdict);
	return 0;
}
