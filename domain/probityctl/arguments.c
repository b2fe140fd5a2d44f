#include "domain/probityctl/ctl.h"

#include <string.h>

#include "ledger/base/io.h"

#define FILE_BYTES_MAX ((size_t)64 << 20)

/* The command line, word by word. */
struct words {
	char **next;
	char **end;
};

struct str
option_name(struct arena *a, const char *field)
{
	char *name = arena_cstr(a, str_from(field));

	for (char *p = name; *p; p++)
		if (*p == '_')
			*p = '-';
	return str_from(name);
}

const struct shape *
command_shape(const struct ctl *ctl)
{
	if (ctl->op)
		return ctl->op->in;
	return ctl->special && ctl->special->in ? ctl->special->in
						: &nothing_shape;
}

bool
command_takes_file(const struct ctl *ctl, const char *field)
{
	struct str rest = str_from(ctl->op        ? ctl->op->file_field
				   : ctl->special ? ctl->special->file_field
						  : NULL);

	while (rest.p)
		if (str_is(str_take(&rest, ' '), field))
			return true;
	return false;
}

static const struct field *
find_field(struct ctl *ctl, struct str option)
{
	const struct shape *shape = command_shape(ctl);

	for (size_t i = 0; i < shape->n; i++)
		if (str_is(option, shape->fields[i].name) ||
		    str_eq(
			option, option_name(ctl->arena, shape->fields[i].name)))
			return &shape->fields[i];
	return NULL;
}

static struct param *
find_param(struct ctl *ctl, const char *name)
{
	for (size_t i = 0; i < ctl->n_params; i++)
		if (str_is(ctl->params[i].name, name))
			return &ctl->params[i];
	return NULL;
}

struct str
ctl_param(const struct ctl *ctl, const char *name)
{
	for (size_t i = 0; i < ctl->n_params; i++)
		if (str_is(ctl->params[i].name, name))
			return ctl->params[i].value;
	return STR_NONE;
}

static int
add_param(struct ctl *ctl, const char *name, struct str value, struct err *e)
{
	if (ctl->n_params == CTL_PARAMS_MAX)
		return err_set(e, &err_usage, "too many options");
	ctl->params[ctl->n_params++] = (struct param){
		.name = str_from(name),
		.value = value,
		.place = IN_BODY,
	};
	return 0;
}

/* A list grows with each option of its name. */
static int
add_value(
    struct ctl *ctl, const struct field *f, struct str value, struct err *e)
{
	struct param *before = find_param(ctl, f->name);

	if (!before)
		return add_param(ctl, f->name, value, e);
	if (f->type != FIELD_STR_LIST)
		return err_set(e, &err_usage, "--%.*s is given twice",
		    STR_ARGS(option_name(ctl->arena, f->name)));
	before->value = arena_strf(
	    ctl->arena, "%.*s,%.*s", STR_ARGS(before->value), STR_ARGS(value));
	return 0;
}

static struct str
base_name(struct str path)
{
	for (size_t i = path.n; i > 0; i--)
		if (path.p[i - 1] == '/')
			return str_slice(path, i, path.n);
	return path;
}

/* The option names a file: its content is the field's value. */
static int
add_file(struct ctl *ctl, const struct field *f, struct str path, struct err *e)
{
	struct str content;
	struct err cause = { 0 };

	if (io_read_file(ctl->arena, arena_cstr(ctl->arena, path),
		FILE_BYTES_MAX, &content, &cause))
		return err_set(e, &err_usage, "--%.*s: %s",
		    STR_ARGS(option_name(ctl->arena, f->name)), cause.detail);
	if (add_value(ctl, f, content, e))
		return -1;
	if (find_field(ctl, STR("file_name")) && !find_param(ctl, "file_name"))
		return add_param(ctl, "file_name", base_name(path), e);
	return 0;
}

static int
take_value(struct words *w, struct str option, struct str inline_value,
    struct str *out, struct err *e)
{
	*out = inline_value;
	if (inline_value.p)
		return 0;
	if (w->next == w->end)
		return err_set(
		    e, &err_usage, "--%.*s needs a value", STR_ARGS(option));
	*out = str_from(*w->next++);
	return 0;
}

static int
read_field(struct ctl *ctl, struct words *w, struct str option,
    struct str value, struct err *e)
{
	const struct field *f = find_field(ctl, option);

	if (!ctl->op && !ctl->special)
		return err_set(e, &err_usage,
		    "--%.*s: the command comes before its options",
		    STR_ARGS(option));
	if (!f)
		return err_set(e, &err_usage,
		    "--%.*s is not an option of %.*s %.*s", STR_ARGS(option),
		    STR_ARGS(ctl->noun), STR_ARGS(ctl->verb));
	if (f->type == FIELD_BOOL && !value.p)
		return add_value(ctl, f, STR("true"), e);
	if (take_value(w, option, value, &value, e))
		return -1;
	if (command_takes_file(ctl, f->name))
		return add_file(ctl, f, value, e);
	return add_value(ctl, f, value, e);
}

/* Options of every command. 1: it was one. */
static int
read_common(struct ctl *ctl, struct words *w, struct str option,
    struct str value, struct err *e)
{
	struct str *text = NULL;

	if (str_is(option, "json"))
		ctl->json = true;
	else if (str_is(option, "help"))
		ctl->help = true;
	else if (str_is(option, "version"))
		ctl->version = true;
	else if (str_is(option, "all"))
		ctl->all = true;
	else if (str_is(option, "workspace"))
		text = &ctl->place.workspace;
	else if (str_is(option, "environment"))
		text = &ctl->place.environment;
	else if (str_is(option, "closed"))
		text = &ctl->closed;
	else if (str_is(option, "idempotency-key"))
		text = &ctl->idempotency_key;
	else
		return 0;
	if (!text && value.p)
		return err_set(
		    e, &err_usage, "--%.*s takes no value", STR_ARGS(option));
	if (text && take_value(w, option, value, text, e))
		return -1;
	return 1;
}

static int
read_option(struct ctl *ctl, struct words *w, struct str word, struct err *e)
{
	struct str value = str_slice(word, 2, word.n);
	struct str option = str_take(&value, '=');
	int common = read_common(ctl, w, option, value, e);

	if (common != 0)
		return common < 0 ? -1 : 0;
	return read_field(ctl, w, option, value, e);
}

static void
find_command(struct ctl *ctl)
{
	struct str command = ctl->noun;

	if (ctl->verb.p)
		command = arena_strf(ctl->arena, "%.*s %.*s",
		    STR_ARGS(ctl->noun), STR_ARGS(ctl->verb));
	ctl->op = catalog_by_command(command);
	ctl->special = special_find(command);
}

static int
read_word(struct ctl *ctl, struct str word, struct err *e)
{
	if (ctl->op || ctl->special || ctl->verb.p)
		return err_set(e, &err_usage,
		    "what is \"%.*s\"? A value "
		    "follows its option",
		    STR_ARGS(word));
	if (ctl->noun.p)
		ctl->verb = word;
	else
		ctl->noun = word;
	find_command(ctl);
	return 0;
}

/* What the row cannot do without, all at once, before anything is opened. */
static int
check_required(struct ctl *ctl, struct err *e)
{
	const struct shape *in = command_shape(ctl);
	bool place_needed =
	    ctl->op ? !ctl->op->no_ledger || ctl->op->effect != EFFECT_READ
		    : ctl->special && ctl->special->needs_place;

	if (ctl->help || ctl->version)
		return 0;
	if (place_needed && !ctl->place.workspace.p)
		err_add_field(e, ctl->arena, "pointer", "#/workspace",
		    "required", "must be given");
	for (size_t i = 0; i < in->n; i++) {
		const struct field *f = &in->fields[i];

		if (f->required && !find_param(ctl, f->name))
			err_add_field(e, ctl->arena, "pointer",
			    arena_printf(ctl->arena, "#/%s", f->name),
			    "required", "must be given");
	}
	if (!e->kind)
		return 0;
	e->kind = &err_usage;
	return -1;
}

/* Which of the closed ledgers is meant, by its number. */
static int
read_closed(struct ctl *ctl, struct err *e)
{
	uint64_t n;

	if (!ctl->closed.p)
		return 0;
	if (!str_to_u64(ctl->closed, &n) || n == 0 || n > UINT16_MAX)
		return err_set(e, &err_usage,
		    "--closed takes the number of a closed ledger, from 1");
	if (ctl->op && ctl->op->no_ledger)
		return err_set(
		    e, &err_usage, "--closed is for commands about one ledger");
	ctl->place.closed = (unsigned)n;
	return 0;
}

int
arguments_read(struct ctl *ctl, int argc, char **argv, struct err *e)
{
	struct words w = { argv + (argc > 0), argv + argc };

	while (w.next < w.end) {
		struct str word = str_from(*w.next++);

		if (str_is(word, "-h"))
			ctl->help = true;
		else if (str_has_prefix(word, STR("--")) && word.n > 2) {
			if (read_option(ctl, &w, word, e))
				return -1;
		} else if (read_word(ctl, word, e))
			return -1;
	}
	if (!str_is(ctl->place.environment, "sandbox") &&
	    !str_is(ctl->place.environment, "production"))
		return err_set(
		    e, &err_usage, "--environment is sandbox or production");
	return read_closed(ctl, e) ? -1 : check_required(ctl, e);
}
