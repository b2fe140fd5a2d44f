#include "domain/probityctl/ctl.h"

#include <stdio.h>
#include <string.h>

static const char common[] =
    "Options of every command:\n"
    "  --workspace NAME          the workspace\n"
    "  --environment NAME        sandbox (default) or production\n"
    "  --closed N                the N-th closed ledger of the place, to read\n"
    "  --idempotency-key KEY     a command sent again under it is done once\n"
    "  --all                     all pages of a list\n"
    "  --json                    JSON instead of a table\n"
    "  --help                    this\n"
    "\n"
    "Exit status: 0 done, 1 refused, 2 usage, 3 unavailable.\n";

static const char *
type_word(const struct field *f)
{
	switch (f->type) {
	case FIELD_BOOL:
		return "";
	case FIELD_INT:
	case FIELD_OPT_INT:
		return " NUMBER";
	case FIELD_DECIMAL:
		return " AMOUNT";
	case FIELD_UID:
		return " UID";
	case FIELD_INSTANT:
		return " TIME";
	case FIELD_DIGEST:
		return " SHA256";
	case FIELD_STR_LIST:
		return " NAME,...";
	case FIELD_JSON:
	case FIELD_OBJECT:
	case FIELD_LIST:
		return " JSON";
	case FIELD_STR:
		break;
	}
	return " TEXT";
}

static void
print_field(const struct ctl *ctl, const struct field *f)
{
	const char *option = arena_printf(ctl->arena, "--%.*s%s",
	    STR_ARGS(option_name(ctl->arena, f->name)),
	    command_takes_file(ctl, f->name) ? " PATH" : type_word(f));

	printf("  %-24s  %s", option, f->doc);
	if (f->required)
		printf(" (required)");
	if (f->def)
		printf(" (%s when not given)", f->def);
	if (f->values) {
		printf(" (one of");
		for (const char *const *v = f->values; *v; v++)
			printf(" %s", *v);
		printf(")");
	}
	putchar('\n');
}

static void
print_command(const struct ctl *ctl, const char *command, const char *summary)
{
	const struct shape *in = command_shape(ctl);

	printf("probityctl %s: %s\n\n", command, summary);
	for (size_t i = 0; i < in->n; i++)
		print_field(ctl, &in->fields[i]);
	if (in->n > 0)
		putchar('\n');
	fputs(common, stdout);
}

/* Whether the command's noun is this one; no value: any. */
static bool
has_noun(const char *command, struct str noun)
{
	struct str rest = str_from(command);

	return !noun.p || str_eq(str_take(&rest, ' '), noun);
}

static size_t
print_commands(struct str noun)
{
	size_t n = 0;

	for (size_t i = 0; catalog_groups[i]; i++) {
		const struct operation *const *row =
		    catalog_groups[i]->operations;

		for (; row && *row; row++) {
			if (!(*row)->command ||
			    !has_noun((*row)->command, noun))
				continue;
			printf(
			    "  %-28s  %s\n", (*row)->command, (*row)->summary);
			n++;
		}
	}
	for (const struct special *s = ctl_specials; s->command; s++)
		if (has_noun(s->command, noun)) {
			printf("  %-28s  %s\n", s->command, s->summary);
			n++;
		}
	return n;
}

bool
help_print(const struct ctl *ctl)
{
	if (ctl->op) {
		print_command(ctl, ctl->op->command, ctl->op->summary);
		return true;
	}
	if (ctl->special) {
		print_command(
		    ctl, ctl->special->command, ctl->special->summary);
		return true;
	}
	if (ctl->verb.p)
		return false;
	if (!ctl->noun.p)
		puts("probityctl <noun> <verb> --option value ...\n");
	if (print_commands(ctl->noun) == 0)
		return false;
	puts("\n--help after a command lists its options.");
	return true;
}
