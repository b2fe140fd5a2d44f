/*
 * A scratch directory for each test, and stock git run on it.
 */
#ifndef TESTS_UNIT_STORE_SCRATCH_H
#define TESTS_UNIT_STORE_SCRATCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/store/repo.h"

static char scratch[64];

static inline int
scratch_make(void **state)
{
	(void)state;
	snprintf(scratch, sizeof(scratch), "/tmp/probity-store-XXXXXX");
	return mkdtemp(scratch) ? 0 : -1;
}

static inline int
scratch_remove(void **state)
{
	(void)state;
	return io_remove_tree(scratch);
}

/* A path in the scratch directory; good until the fourth next call. */
static inline const char *
in_scratch(const char *name)
{
	static char paths[4][256];
	static unsigned turn;
	char *p = paths[turn++ % 4];

	snprintf(p, sizeof(paths[0]), "%s/%s", scratch, name);
	return p;
}

/* Runs a shell command with $D the scratch directory; its exit status. The
 * sanitizer's preloads and the user's git settings stay away. */
static inline int
shell(const char *command)
{
	char line[2048];
	int rc;

	snprintf(line, sizeof(line),
	    "D=%s; export HOME=$D GIT_CONFIG_NOSYSTEM=1; { %s; } "
	    ">>$D/out.txt 2>&1",
	    scratch, command);
	rc = system(line);
	return WIFEXITED(rc) ? WEXITSTATUS(rc) : -1;
}

/* An object of one kind, its id set. */
static inline struct object
object_of(enum object_kind kind, struct str bytes)
{
	struct object o = { .kind = kind, .bytes = bytes };
	struct err e = { 0 };

	assert_int_equal(repo_oid(kind, bytes, &o.oid, &e), 0);
	return o;
}

/* A batch like the ledger's: blob, tree, commit, in out[0..2]. */
static inline void
batch_of(struct arena *a, const struct oid *parent, unsigned number,
    size_t blob_bytes, struct object out[3])
{
	char *blob = arena_alloc(a, blob_bytes + 32);
	char hex[OID_HEX + 1], parent_line[64] = "";
	struct tree_entry entry = { .name = STR("events") };
	int n = snprintf(blob, 32, "event %u ", number);
	uint32_t x = number * 2654435761u + 1;

	for (size_t i = (size_t)n; i < blob_bytes; i++) {
		x = x * 1664525u + 1013904223u;
		blob[i] = (char)('a' + (x >> 24) % 26);
	}
	out[0] = object_of(
	    OBJECT_BLOB, (struct str){ blob,
			     blob_bytes > (size_t)n ? blob_bytes : (size_t)n });
	entry.oid = out[0].oid;
	out[1] = object_of(OBJECT_TREE, tree_bytes(a, &entry, 1));
	oid_hex(out[1].oid, hex);
	if (parent) {
		char parent_hex[OID_HEX + 1];

		oid_hex(*parent, parent_hex);
		snprintf(parent_line, sizeof(parent_line), "parent %s\n",
		    parent_hex);
	}
	out[2] = object_of(OBJECT_COMMIT,
	    arena_strf(a,
		"tree %s\n%sauthor a <a@b> %u +0000\ncommitter a <a@b> %u "
		"+0000\n\nbatch %u\n",
		hex, parent_line, 1700000000 + number, 1700000000 + number,
		number));
}

#endif
