/*
 * A ledger for tests/fault/order to watch.
 *
 *	fault_order make DIR|note DIR N
 *
 * make: a ledger below DIR, whose name is printed. note: N notes one after the
 * other, each acknowledged by a line "acknowledged I" on standard error,
 * written in one call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/witness.h"

static int
note(struct toy *toy, int n)
{
	struct ledger *l = witness_open(toy);

	for (int i = 0; i < n; i++) {
		char line[40];
		struct claim c = claim_note(l, "watched");
		int bytes = snprintf(line, sizeof line, "acknowledged %d\n", i);

		if (c.kind != CLAIM_ACKED)
			witness_die(toy, "%s", c.detail);
		if (write(STDERR_FILENO, line, (size_t)bytes) != bytes)
			return 1;
	}
	ledger_close(l);
	return 0;
}

int
main(int argc, char **argv)
{
	struct toy toy;

	if (argc == 3 && strcmp(argv[1], "make") == 0) {
		toy_create(&toy, argv[2]);
		puts(toy.dir);
		return 0;
	}
	if (argc != 4 || strcmp(argv[1], "note") != 0)
		return 2;
	snprintf(toy.dir, sizeof toy.dir, "%s", argv[2]);
	toy_paths(&toy);
	return note(&toy, (int)strtol(argv[3], NULL, 10));
}
