#include "tests/unit/store/scratch.h"

static struct oid
numbered(uint8_t n)
{
	struct oid o;

	memset(o.b, n, sizeof(o.b));
	return o;
}

/* Names whose order depends on a directory's unwritten slash. */
static void
sorts_as_git_does(void **state)
{
	struct tree_entry in[] = {
		{ .name = STR("payloads"), .is_tree = true },
		{ .name = STR("payloads-x") },
		{ .name = STR("payloads.x") },
		{ .name = STR("payloads0") },
		{ .name = STR("events") },
		{ .name = STR("a"), .is_tree = true },
		{ .name = STR("a.b"), .is_tree = true },
	};
	static const char *const order[] = { "a.b", "a", "events", "payloads-x",
		"payloads.x", "payloads", "payloads0" };
	size_t count = sizeof(in) / sizeof(in[0]), n;
	struct arena *a = arena_new();
	struct tree_entry *out;
	struct err e = { 0 };
	struct str bytes;
	struct object o;
	struct repo *r;
	char hex[OID_HEX + 1], line[512];

	(void)state;
	assert_int_equal(repo_create(in_scratch("l.git"), &e), 0);
	assert_int_equal(repo_open(in_scratch("l.git"), &r, &e), 0);
	for (size_t i = 0; i < count; i++)
		in[i].oid = numbered((uint8_t)(i + 1));
	bytes = tree_bytes(a, in, count);
	assert_int_equal(tree_parse(a, bytes, &out, &n, &e), 0);
	assert_int_equal(n, count);
	for (size_t i = 0; i < n; i++) {
		assert_true(str_is(out[i].name, order[i]));
		assert_true(oid_eq(out[i].oid, in[i].oid));
		assert_int_equal(out[i].is_tree, in[i].is_tree);
	}
	/* git makes the same tree of the same entries, in any order. */
	o = object_of(OBJECT_TREE, bytes);
	oid_hex(o.oid, hex);
	assert_int_equal(repo_write(r, &o, 1, &e), 0);
	snprintf(line, sizeof(line),
	    "cd $D/l.git; test $(git ls-tree %s | sort -r | "
	    "git mktree --missing) = %s",
	    hex, hex);
	assert_int_equal(shell(line), 0);
	repo_close(r);
	arena_free(a);
}

static void
empty_tree(void **state)
{
	struct arena *a = arena_new();
	struct tree_entry *out;
	struct err e = { 0 };
	size_t n = 9;

	(void)state;
	assert_int_equal(tree_bytes(a, NULL, 0).n, 0);
	assert_int_equal(tree_parse(a, STR(""), &out, &n, &e), 0);
	assert_int_equal(n, 0);
	arena_free(a);
}

#define ID "aaaaaaaaaaaaaaaaaaaa"

static void
refuses_other_trees(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
	} bad[] = {
#define BAD(s) { s, sizeof(s) - 1 }
		BAD("100755 x\0" ID),
		BAD("120000 x\0" ID),
		BAD("160000 x\0" ID),
		BAD("040000 x\0" ID),
		BAD("100644 \0" ID),
		BAD("100644 x/y\0" ID),
		BAD("100644 x" ID),
		BAD("100644 x\0aaaaaaaaaaaaaaaaaaa"),
		BAD("100644 x\0" ID "z"),
		BAD("100644 x\0" ID "100644 x\0" ID),
		BAD("100644 y\0" ID "100644 x\0" ID),
		BAD("40000 x\0" ID "100644 x.y\0" ID),
		BAD("100644 x\0" ID "100644 x-\0" ID "40000 x\0" ID),
		BAD("1"),
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct tree_entry *out;
		struct err e = { 0 };
		size_t n;

		assert_int_equal(
		    tree_parse(a, (struct str){ bad[i].bytes, bad[i].n }, &out,
			&n, &e),
		    -1);
		assert_ptr_equal(e.kind, &err_corrupt);
	}
	arena_free(a);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, scratch_make, scratch_remove)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(sorts_as_git_does),
		CASE(empty_tree),
		CASE(refuses_other_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
