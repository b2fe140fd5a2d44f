/*
 * The bytes of format version 1, frozen: what the examples of
 * docs/ledger-format.md and the files in tests/vectors/ledger show is what is
 * made today. Runs in the project's root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/base/io.h"
#include "tests/support/verdict.h"

static struct str
read_file(struct arena *a, const char *path)
{
	struct err e = { 0 };
	struct str s;

	if (io_read_file(a, path, 1 << 20, &s, &e))
		fail_msg("%s", e.detail);
	return s;
}

static void
assert_frozen(struct arena *a, const char *name, struct str got)
{
	struct str frozen =
	    read_file(a, arena_printf(a, "tests/vectors/ledger/%s", name));

	if (!str_eq(frozen, got))
		fail_msg("%s is now: %.*s", name, STR_ARGS(got));
}

static void
test_first_batch_is_the_frozen_one(void **state)
{
	struct small_ledger *l = small_ledger_new();
	struct batch_line line;
	struct err e = { 0 };
	struct str bytes, rest;
	struct batch b;

	(void)state;
	assert_int_equal(batch_read(l->repo, l->parent, l->a, &b, &e), 0);
	rest = b.events;
	assert_int_equal(batch_line_next(&rest, &line, &e), 1);
	assert_frozen(l->a, "event", line.event);
	assert_frozen(l->a, "events", b.events);
	assert_frozen(l->a, "checkpoint", b.checkpoint);
	assert_frozen(l->a, "allowed_signers", b.allowed_signers);
	assert_int_equal(repo_read(l->repo, l->parent, OBJECT_COMMIT, 8192,
			     l->a, &bytes, &e),
	    0);
	assert_frozen(l->a, "commit", bytes);
	small_ledger_free(l);
}

/* Each line of the file stands in the document, indented by four. */
static void
assert_shown(struct arena *a, struct str document, const char *name)
{
	struct str rest =
	    read_file(a, arena_printf(a, "tests/vectors/ledger/%s", name));

	while (rest.n > 0) {
		struct str line = str_take(&rest, '\n');
		char *shown = arena_printf(a, "\n    %.*s\n", STR_ARGS(line));

		if (line.n > 0 &&
		    !memmem(document.p, document.n, shown, strlen(shown)))
			fail_msg("docs/ledger-format.md lacks: %s", shown);
	}
}

static void
test_document_shows_the_frozen_bytes(void **state)
{
	struct arena *a = arena_new();
	struct str document = read_file(a, "docs/ledger-format.md");
	struct str event = read_file(a, "tests/vectors/ledger/event");
	struct digest leaf = merkle_leaf(event), hash = sha256(event);
	char hex[DIGEST_HEX + 1];

	(void)state;
	assert_shown(a, document, "event");
	assert_shown(a, document, "events");
	assert_shown(a, document, "checkpoint");
	assert_shown(a, document, "allowed_signers");
	assert_shown(a, document, "commit");
	digest_hex(leaf, hex);
	assert_non_null(memmem(document.p, document.n, hex, DIGEST_HEX));
	digest_hex(hash, hex);
	assert_non_null(memmem(document.p, document.n, hex, DIGEST_HEX));
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_batch_is_the_frozen_one),
		cmocka_unit_test(test_document_shows_the_frozen_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
