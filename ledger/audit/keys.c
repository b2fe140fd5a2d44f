/* The ledger's keys as an auditor has them: each --key, and each line of it. */
#include <string.h>
#include <sys/stat.h>

#include "ledger/audit/audit.h"
#include "ledger/base/io.h"

/* Room for what a ledger's own allowed_signers may hold. */
#define KEY_FILE_MAX SIGNERS_MAX

bool
key_option(int argc, char **argv, int *i, struct key_options *keys)
{
	const char *value = option_value(argc, argv, i);

	if (value && keys->n == PINNED_MAX) {
		usage_error("--key is taken at most %d times", PINNED_MAX);
		return false;
	}
	if (value)
		keys->texts[keys->n++] = value;
	return value != NULL;
}

struct loading {
	struct public_key *keys;
	size_t n;
	const char *from; /* what was given */
};

static int
add(struct loading *l, struct public_key key, struct err *e)
{
	const struct pinned so_far = { l->keys, l->n };

	if (pinned_has(&so_far, key))
		return 0;
	if (l->n == PINNED_MAX)
		return err_set(
		    e, &err_usage, "at most %d keys can be given", PINNED_MAX);
	l->keys[l->n++] = key;
	return 0;
}

static struct str
trim(struct str s)
{
	while (s.n > 0 && (uint8_t)s.p[s.n - 1] <= ' ')
		s.n--;
	while (s.n > 0 && (uint8_t)s.p[0] <= ' ')
		s = str_slice(s, 1, s.n);
	return s;
}

static int
not_a_key(const struct loading *l, struct err *e)
{
	return err_set(e, &err_usage,
	    "%s is neither a file with a public key, or one a line, nor a key",
	    l->from);
}

/* Several, a line each, as allowed_signers has them: empty lines and comments
 * are passed over. */
static int
add_lines(struct loading *l, struct str text, struct err *e)
{
	struct public_key key;
	bool any = false;

	while (text.n > 0) {
		struct str line = trim(str_take(&text, '\n'));

		if (line.n == 0 || line.p[0] == '#')
			continue;
		if (public_key_parse(line, &key, NULL))
			return not_a_key(l, e);
		if (add(l, key, e))
			return -1;
		any = true;
	}
	return any ? 0 : not_a_key(l, e);
}

static int
load_one(struct arena *a, struct loading *l, struct err *e)
{
	struct str text = str_from(l->from);
	struct public_key key;
	struct stat st;

	if (stat(l->from, &st) == 0 &&
	    io_read_file(a, l->from, KEY_FILE_MAX, &text, e))
		return -1;
	text = trim(text);
	if (public_key_parse(text, &key, NULL) == 0)
		return add(l, key, e);
	return add_lines(l, text, e);
}

int
keys_load(struct arena *a, const char *const *texts, size_t n,
    struct pinned *out, struct err *e)
{
	struct loading l = { .keys =
				 arena_array(a, PINNED_MAX, sizeof *l.keys) };

	for (size_t i = 0; i < n; i++) {
		l.from = texts[i];
		if (load_one(a, &l, e))
			return -1;
	}
	*out = (struct pinned){ l.keys, l.n };
	return 0;
}
