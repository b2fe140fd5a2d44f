#include "tests/support/program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define COMMAND_MAX 4096
#define OUTPUT_MAX  65536

static _Noreturn void
die(const char *command)
{
	fprintf(stderr, "failed: %s\n", command);
	abort();
}

char *
program_output(struct arena *a, const char *format, ...)
{
	char command[COMMAND_MAX], *out = arena_alloc(a, OUTPUT_MAX);
	va_list args;
	size_t n;
	FILE *p;

	va_start(args, format);
	if (vsnprintf(command, sizeof command, format, args) >= COMMAND_MAX)
		die(command);
	va_end(args);
	p = popen(command, "r");
	if (!p)
		die(command);
	n = fread(out, 1, OUTPUT_MAX - 1, p);
	if (pclose(p) != 0)
		die(command);
	while (n > 0 && out[n - 1] == '\n')
		n--;
	out[n] = '\0';
	return out;
}
