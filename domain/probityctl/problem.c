#include "domain/probityctl/ctl.h"

#include <stdio.h>
#include <string.h>

#include "domain/config.h"

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

/* What can be done where a command is given: the kinds' own words are for who
 * sends requests. */
static const struct {
	const struct err_kind *kind;
	const char *title, *remedy;
} here[] = {
	{ &err_invalid, "This is not valid",
	    "Mend what it names, and give the command again." },
	{ &err_malformed, "This cannot be read",
	    "Mend what it names, and give the command again." },
	{ &err_not_found, "It is not there",
	    "Check the path, or the identifier, workspace and environment." },
	{ &err_conflict, NULL, "Look at the record, then decide again." },
	{ &err_internal, "It failed",
	    "Mend what it says is wrong, and give the command again." },
	{ &err_unavailable, "This cannot be done now",
	    "Mend what it says is missing or wrong, and give the command "
	    "again." },
	{ &err_outcome_unknown, NULL,
	    "Give the command again with the same --idempotency-key, or look "
	    "for the event hash given." },
	{ &err_clock, NULL,
	    "Check the clock, then confirm it: ledger confirm-clock." },
	{ &err_rolled_back, NULL,
	    "Restore the ledger; nothing is written until then." },
	{ &err_corrupt, NULL,
	    "Run probity-audit verify, then heal or restore the ledger." },
	{ &err_no_space, NULL, "Make room, and give the command again." },
};

/* Its lines are a file's, not options. */
static bool
is_of_configuration(const struct err *e)
{
	return e->fields && strcmp(e->fields->place, "configuration") == 0;
}

static void
find_words(const struct err *e, const char **title, const char **remedy)
{
	*title = e->kind->title;
	*remedy = e->kind->remedy;
	if (is_of_configuration(e)) {
		*title = "The configuration is not right";
		*remedy = "Mend these, and give the command again.";
		return;
	}
	for (size_t i = 0; i < sizeof here / sizeof here[0]; i++)
		if (e->kind == here[i].kind) {
			*title = here[i].title ? here[i].title : *title;
			*remedy = here[i].remedy;
		}
}

static struct json *
option_fault(struct arena *a, const struct err_field *f)
{
	struct json *item = json_object(a);

	json_put_str(a, item, "option", option_of(a, f));
	json_put_str(a, item, "code", str_from(f->code));
	json_put_str(a, item, "detail", str_from(f->detail));
	return item;
}

/* The number behind the last colon, taken off; false when there is none. */
static bool
take_number(struct str *s, int64_t *out)
{
	size_t n = s->n;

	while (n > 0 && s->p[n - 1] != ':')
		n--;
	if (n < 2 || !str_to_i64(str_slice(*s, n, s->n), out))
		return false;
	s->n = n - 1;
	return true;
}

/* "path:12:9" and "threads: must be …", in parts; a variable has no line, and
 * what is no setting has no name. */
static struct json *
setting_fault(struct arena *a, const struct err_field *f)
{
	struct str from = str_from(f->at), what = str_from(f->detail), name;
	struct json *item = json_object(a);
	int64_t line, column;

	if (take_number(&from, &column) && take_number(&from, &line)) {
		json_put_int(a, item, "line", line);
		json_put_int(a, item, "column", column);
	}
	json_put_str(a, item, "from", from);
	if (strcmp(f->code, "malformed") != 0) {
		name = str_take(&what, ':');
		json_put_str(a, item, "name", name);
		what = str_slice(what, 1, what.n);
	}
	json_put_str(a, item, "code", str_from(f->code));
	json_put_str(a, item, "what", what);
	return item;
}

/* Of a configuration the first fault; `errors` has each. */
static struct str
detail_of(struct arena *a, const struct err *e)
{
	const struct err_field *first = e->fields;
	size_t more = 0;

	if (!is_of_configuration(e))
		return str_from(e->detail);
	for (const struct err_field *f = first->next; f; f = f->next)
		more++;
	if (more == 0)
		return arena_strf(a, "%s: %s", first->at, first->detail);
	return arena_strf(
	    a, "%s: %s; and %zu more", first->at, first->detail, more);
}

static void
print_json(const struct ctl *ctl, const struct err *e, const char *title,
    const char *remedy)
{
	struct arena *a = ctl->arena;
	struct json *v = json_object(a), *errors = json_array(a);
	struct buf b;

	json_put_str(a, v, "error", str_from(e->kind->slug));
	json_put_str(a, v, "title", str_from(title));
	json_put_str(a, v, "detail", detail_of(a, e));
	json_put_str(a, v, "remedy", str_from(remedy));
	for (const struct err_field *f = e->fields; f; f = f->next)
		json_push(errors, is_of_configuration(e) ? setting_fault(a, f)
							 : option_fault(a, f));
	json_put(v, "errors", errors);
	if (e->extension)
		json_put(v, "more", json_copy(a, e->extension));
	buf_init(&b, 1 << 20);
	json_write(v, &b);
	fprintf(stderr, "%.*s\n", STR_ARGS(buf_str(&b)));
	buf_fini(&b);
}

static void
print_extension(const struct json *extension)
{
	struct buf b;

	buf_init(&b, 1 << 20);
	json_write_pretty(extension, &b);
	fprintf(stderr, "%.*s\n", STR_ARGS(buf_str(&b)));
	buf_fini(&b);
}

static void
print_line(void *unused, const char *line)
{
	(void)unused;
	fprintf(stderr, "%s\n", line);
}

int
problem_print(const struct ctl *ctl, const struct err *e)
{
	const char *title, *remedy;

	find_words(e, &title, &remedy);
	if (ctl->json) {
		print_json(ctl, e, title, remedy);
		return exit_status(e);
	}
	if (is_of_configuration(e))
		config_complain(e, print_line, NULL);
	fprintf(stderr, "probityctl: %s", title);
	/* With bad fields, the detail says again what the first one says. */
	if (e->detail[0] && !e->fields)
		fprintf(stderr, ": %s", e->detail);
	fputc('\n', stderr);
	for (const struct err_field *f = e->fields;
	     f && !is_of_configuration(e); f = f->next)
		fprintf(stderr, "  --%.*s %s\n",
		    STR_ARGS(option_of(ctl->arena, f)), f->detail);
	if (e->extension)
		print_extension(e->extension);
	fprintf(stderr, "  %s\n", remedy);
	return exit_status(e);
}
