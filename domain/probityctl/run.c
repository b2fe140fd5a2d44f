#include "domain/probityctl/ctl.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "domain/call.h"

#define REPLY_MAX ((size_t)256 << 20)

/* Also behind sudo. */
struct str
operator_name(struct arena *a)
{
	/* There are no threads. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	const char *sudo = getenv("SUDO_USER");
	struct passwd user, *found = NULL;
	char names[4096];

	if (sudo && *sudo)
		return arena_str(a, str_from(sudo));
	if (getpwuid_r(getuid(), &user, names, sizeof names, &found) == 0 &&
	    found && found->pw_name[0])
		return arena_str(a, str_from(found->pw_name));
	return arena_strf(a, "uid-%u", (unsigned)getuid());
}

static void
print(const struct ctl *ctl, const struct reply *reply)
{
	const struct json *body = reply->body;
	struct buf b;
	struct str text;

	if (reply->content) {
		text = reply->content->bytes;
		fwrite(text.p, 1, text.n, stdout);
		return;
	}
	if (!ctl->json) {
		table_print(ctl->op->out, body);
		return;
	}
	buf_init(&b, REPLY_MAX);
	json_write_pretty(body, &b);
	text = buf_str(&b);
	fwrite(text.p, 1, text.n, stdout);
	if (text.n == 0 || text.p[text.n - 1] != '\n')
		putchar('\n');
	buf_fini(&b);
}

static struct param *
after_id(struct ctl *ctl)
{
	for (size_t i = 0; i < ctl->n_params; i++)
		if (str_is(ctl->params[i].name, "after_id"))
			return &ctl->params[i];
	if (ctl->n_params == CTL_PARAMS_MAX)
		return NULL;
	ctl->params[ctl->n_params] =
	    (struct param){ .name = STR("after_id"), .place = IN_QUERY };
	return &ctl->params[ctl->n_params++];
}

/* Moves the page's records to the end of the first page's. */
static void
join(struct arena *a, struct json *first, const struct json *page)
{
	struct json *to = json_get(first, "data");
	const struct json *from = json_get(page, "data");

	for (const struct json *v = from->first; v; v = v->next)
		json_push(to, json_copy(a, v));
	json_get(first, "has_more")->type = JSON_FALSE;
	json_get(first, "next_after_id")->type = JSON_NULL;
}

/* --all: page by page until there are no more. */
static int
run_pages(
    struct ctl *ctl, struct call *call, struct reply *reply, struct err *e)
{
	struct json *first = reply->body;
	int64_t next;

	while (json_get_int(reply->body, "next_after_id", &next)) {
		struct param *p = after_id(ctl);

		if (!p)
			return err_set(e, &err_usage, "too many options");
		p->value = arena_strf(ctl->arena, "%lld", (long long)next);
		call->input.n_params = ctl->n_params;
		if (call_run(ctl->service, call, ctl->arena, reply, e))
			return -1;
		join(ctl->arena, first, reply->body);
	}
	reply->body = first;
	return 0;
}

/* An installation that is new, or a state that is another one. */
static void
note_none(const struct ctl *ctl, const struct json *body)
{
	if (ctl->op == catalog_by_command(STR("workspace list")) &&
	    ctl->n_params == 0 && json_get(body, "data")->n == 0)
		fprintf(stderr,
		    "probityctl: there is no workspace yet in %.*s\n",
		    STR_ARGS(ctl->config.state));
}

static int
run_call(struct ctl *ctl, struct ledger *ledger, struct err *e)
{
	struct caller caller = {
		.kind = CALLER_OPERATOR,
		.place = ctl->place,
		.operator_name = operator_name(ctl->arena),
	};
	struct call call = {
		.op = ctl->op,
		.caller = &caller,
		.ledger = ledger,
		.input = { .params = ctl->params,
		    .n_params = ctl->n_params,
		    .flat = true },
		.idempotency_key = ctl->idempotency_key,
		.request = uid_new(),
	};
	struct reply reply;

	if (call_run(ctl->service, &call, ctl->arena, &reply, e))
		return -1;
	if (ctl->all && json_get(reply.body, "next_after_id") &&
	    run_pages(ctl, &call, &reply, e))
		return -1;
	print(ctl, &reply);
	note_none(ctl, reply.body);
	return 0;
}

int
run_operation(struct ctl *ctl, struct err *e)
{
	struct ledger *ledger = NULL;
	int result;

	if (!ctl->op->no_ledger &&
	    service_acquire(ctl->service, &ctl->place, &ledger, e))
		return -1;
	result = run_call(ctl, ledger, e);
	service_release(ctl->service, ledger);
	return result;
}
