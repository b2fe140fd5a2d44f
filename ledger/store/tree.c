#include <stdlib.h>
#include <string.h>

#include "ledger/store/repo.h"

#define MODE_FILE STR("100644 ")
#define MODE_TREE STR("40000 ")

/* git compares a directory's name as if it ended in '/'. */
static int
entry_cmp(const void *left, const void *right)
{
	const struct tree_entry *a = left, *b = right;
	size_t n = a->name.n < b->name.n ? a->name.n : b->name.n;
	int c = n ? memcmp(a->name.p, b->name.p, n) : 0;
	unsigned char x = a->is_tree ? '/' : 0, y = b->is_tree ? '/' : 0;

	if (c)
		return c;
	if (n < a->name.n)
		x = (unsigned char)a->name.p[n];
	if (n < b->name.n)
		y = (unsigned char)b->name.p[n];
	return (int)x - (int)y;
}

static int
name_cmp(const void *left, const void *right)
{
	const struct str *a = left, *b = right;

	return str_cmp(*a, *b);
}

static char *
put(char *at, struct str s)
{
	memcpy(at, s.p, s.n);
	return at + s.n;
}

struct str
tree_bytes(struct arena *a, struct tree_entry *entries, size_t n)
{
	size_t room = 0;
	char *start, *at;

	if (n)
		qsort(entries, n, sizeof(*entries), entry_cmp);
	for (size_t i = 0; i < n; i++)
		room += MODE_FILE.n + entries[i].name.n + 1 + OID_BYTES;
	start = at = arena_alloc(a, room ? room : 1);
	for (size_t i = 0; i < n; i++) {
		at = put(at, entries[i].is_tree ? MODE_TREE : MODE_FILE);
		at = put(at, entries[i].name);
		*at++ = '\0';
		memcpy(at, entries[i].oid.b, OID_BYTES);
		at += OID_BYTES;
	}
	return (struct str){ start, (size_t)(at - start) };
}

/* Takes one entry off the bytes. */
static bool
entry_take(struct str *bytes, struct tree_entry *out)
{
	size_t name_end;

	out->is_tree = str_has_prefix(*bytes, MODE_TREE);
	if (!out->is_tree && !str_has_prefix(*bytes, MODE_FILE))
		return false;
	*bytes = str_slice(
	    *bytes, out->is_tree ? MODE_TREE.n : MODE_FILE.n, bytes->n);
	name_end = str_find(*bytes, '\0');
	if (name_end == 0 || bytes->n - name_end < 1 + OID_BYTES)
		return false;
	out->name = str_slice(*bytes, 0, name_end);
	if (str_find(out->name, '/') != out->name.n)
		return false;
	memcpy(out->oid.b, bytes->p + name_end + 1, OID_BYTES);
	*bytes = str_slice(*bytes, name_end + 1 + OID_BYTES, bytes->n);
	return true;
}

/* A file and a directory of one name need not be neighbours in git's order. */
static bool
names_differ(struct arena *a, const struct tree_entry *entries, size_t n)
{
	struct str *names = arena_array(a, n ? n : 1, sizeof(*names));

	for (size_t i = 0; i < n; i++)
		names[i] = entries[i].name;
	if (n)
		qsort(names, n, sizeof(*names), name_cmp);
	for (size_t i = 1; i < n; i++)
		if (str_eq(names[i - 1], names[i]))
			return false;
	return true;
}

int
tree_parse(struct arena *a, struct str bytes, struct tree_entry **out,
    size_t *n, struct err *e)
{
	/* The shortest entry: a directory with a name of one byte. */
	size_t most = bytes.n / (MODE_TREE.n + 2 + OID_BYTES);
	struct tree_entry *entries =
	    arena_array(a, most ? most : 1, sizeof(*entries));
	size_t count = 0;

	while (bytes.n) {
		if (count == most || !entry_take(&bytes, &entries[count]))
			return err_set(e, &err_corrupt,
			    "entry %zu of a git tree is not a file or a "
			    "directory of ours",
			    count);
		if (count &&
		    entry_cmp(&entries[count - 1], &entries[count]) >= 0)
			return err_set(e, &err_corrupt,
			    "entry %zu of a git tree is out of order", count);
		count++;
	}
	if (!names_differ(a, entries, count))
		return err_set(e, &err_corrupt, "a git tree has a name twice");
	*out = entries;
	*n = count;
	return 0;
}
