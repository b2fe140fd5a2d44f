#include <inttypes.h>
#include <string.h>

#include "ledger/codec/text.h"
#include "ledger/crypto/note.h"

#define ORIGIN_MAX 200

void
checkpoint_text(struct buf *b, const struct checkpoint *c)
{
	buf_add(b, c->origin);
	buf_addf(b, "\n%" PRIu64 "\n", c->size);
	base64_add(
	    b, (struct str){ (const char *)c->root.b, sizeof c->root.b });
	buf_add_byte(b, '\n');
}

/* Takes a line; false when no LF ends it. */
static bool
take_line(struct str *rest, struct str *line)
{
	if (str_find(*rest, '\n') == rest->n)
		return false;
	*line = str_take(rest, '\n');
	return true;
}

int
checkpoint_parse(struct str text, struct checkpoint *out, struct err *e)
{
	struct str size, root;
	size_t n;

	if (!take_line(&text, &out->origin) || !take_line(&text, &size) ||
	    !take_line(&text, &root) || text.n != 0)
		return err_set(e, &err_malformed,
		    "a checkpoint has three lines: origin, size, root");
	if (out->origin.n == 0)
		return err_set(
		    e, &err_malformed, "the checkpoint's origin is empty");
	if (!str_to_u64(size, &out->size))
		return err_set(e, &err_malformed,
		    "the checkpoint's size is not a plain decimal number");
	if (!base64_decode(root, out->root.b, sizeof out->root.b, &n) ||
	    n != sizeof out->root.b)
		return err_set(e, &err_malformed,
		    "the checkpoint's root is not 32 bytes in base64");
	return 0;
}

static bool
is_in(char c, const char *extra)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
	       (c != '\0' && strchr(extra, c) != NULL);
}

/* At least one character, each of [a-z0-9-] or extra. */
static bool
is_run(struct str s, const char *extra)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_in(s.p[i], extra))
			return false;
	return s.n > 0;
}

bool
origin_is_valid(struct str s)
{
	struct str host, label;
	size_t labels = 0, segments = 0;

	if (s.n > ORIGIN_MAX)
		return false;
	for (host = str_take(&s, '/'); host.p != NULL; labels++) {
		label = str_take(&host, '.');
		if (!is_run(label, ""))
			return false;
	}
	for (; s.p != NULL; segments++)
		if (!is_run(str_take(&s, '/'), "._"))
			return false;
	return labels >= 2 && segments >= 1;
}
