#include <string.h>

#include "ledger/audit/audit.h"

static const struct command *const commands[] = { &command_verify, &command_log,
	&command_show, &command_prove, &command_check_proof,
	&command_check_checkpoint, &command_check_tiles,
	&command_check_complete, &command_check_manifest, &command_pack };
#define COMMANDS (sizeof commands / sizeof commands[0])

static void
help(FILE *f)
{
	fputs("Usage: probity-audit COMMAND …\n\n"
	      "Examines a Probity ledger's git repository. Nothing is "
	      "changed in it.\n\n",
	    f);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(
		    f, "  %-16s %s\n", commands[i]->name, commands[i]->summary);
	fputs("\n  --help           this text, or a command's after its name\n"
	      "  --version\n\n"
	      "Exit status: 0 good, 1 the ledger, proof or manifest is bad, 2 "
	      "wrong usage, 3 could not\nbe carried out.\n",
	    f);
}

void
command_help(const struct command *c, FILE *f)
{
	fprintf(f, "Usage: probity-audit %s %s\n\n%s.\n\n%s", c->name,
	    c->arguments, c->summary, c->options);
}

static bool
asks_for_help(int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0)
			return true;
	return false;
}

static int
run(const struct command *c, int argc, char **argv)
{
	int rc;

	if (asks_for_help(argc, argv)) {
		command_help(c, stdout);
		return EXIT_GOOD;
	}
	rc = c->run(argc, argv);
	if (fflush(stdout) || ferror(stdout)) {
		fputs("probity-audit: cannot write the output\n", stderr);
		return EXIT_NOT_DONE;
	}
	return rc;
}

int
main(int argc, char **argv)
{
	if (argc < 2) {
		help(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
		help(stdout);
		return EXIT_GOOD;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("probity-audit " PROBITY_VERSION);
		return EXIT_GOOD;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(argv[1], commands[i]->name) == 0)
			return run(commands[i], argc, argv);
	return usage_error("no command %s; see probity-audit --help", argv[1]);
}
