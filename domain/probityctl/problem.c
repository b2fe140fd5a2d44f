#include "domain/probityctl/ctl.h"

#include <stdio.h>

static int
exit_status(const struct err *e)
{
	if (e->kind == &err_usage)
		return CTL_USAGE;
	return e->kind->status >= 500 ? CTL_UNAVAILABLE : CTL_REFUSED;
}

/* "#/scopes/0" is what the operator gave as --scopes. */
static struct str
option_of(struct arena *a, const struct err_field *f)
{
	struct str at = str_from(f->at);

	if (str_has_prefix(at, STR("#/")))
		at = str_slice(at, 2, at.n);
	at = str_slice(at, 0, str_find(at, '/'));
	return option_name(a, arena_cstr(a, at));
}

static void
print_json(const struct ctl *ctl, const struct err *e)
{
	struct arena *a = ctl->arena;
	struct json *v = json_object(a), *errors = json_array(a);
	struct buf b;

	json_put_str(a, v, "error", str_from(e->kind->slug));
	json_put_str(a, v, "title", str_from(e->kind->title));
	json_put_str(a, v, "detail", str_from(e->detail));
	json_put_str(a, v, "remedy", str_from(e->kind->remedy));
	for (const struct err_field *f = e->fields; f; f = f->next) {
		struct json *item = json_object(a);

		json_put_str(a, item, "option", option_of(a, f));
		json_put_str(a, item, "code", str_from(f->code));
		json_put_str(a, item, "detail", str_from(f->detail));
		json_push(errors, item);
	}
	json_put(v, "errors", errors);
	if (e->extension)
		json_put(v, "more", json_copy(a, e->extension));
	buf_init(&b, 1 << 20);
	json_write(v, &b);
	fprintf(stderr, "%.*s\n", STR_ARGS(buf_str(&b)));
	buf_fini(&b);
}

int
problem_print(const struct ctl *ctl, const struct err *e)
{
	if (ctl->json) {
		print_json(ctl, e);
		return exit_status(e);
	}
	fprintf(stderr, "probityctl: %s", e->kind->title);
	/* With bad fields, the detail says again what the first one says. */
	if (e->detail[0] && !e->fields)
		fprintf(stderr, ": %s", e->detail);
	fputc('\n', stderr);
	for (const struct err_field *f = e->fields; f; f = f->next)
		fprintf(stderr, "  --%.*s %s\n",
		    STR_ARGS(option_of(ctl->arena, f)), f->detail);
	if (e->extension) {
		struct buf b;

		buf_init(&b, 1 << 20);
		json_write_pretty(e->extension, &b);
		fprintf(stderr, "%.*s\n", STR_ARGS(buf_str(&b)));
		buf_fini(&b);
	}
	fprintf(stderr, "  %s\n", e->kind->remedy);
	return exit_status(e);
}
