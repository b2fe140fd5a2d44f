/* A commit's bytes and its trailers, read strictly: each fact has one form, so
 * that two readers cannot understand one commit differently. */
#include <stdlib.h>
#include <string.h>

#include "ledger/chain/batch.h"

/* Takes "<name> <value> LF" off the front; false when another line stands
 * there. */
static bool
take_header(struct str *rest, struct str name, struct str *value)
{
	if (!str_has_prefix(*rest, name) || str_find(*rest, '\n') == rest->n)
		return false;
	*value = str_take(rest, '\n');
	*value = str_slice(*value, name.n, value->n);
	return true;
}

/* The value's lines after the first begin with a space that is not part of
 * it. */
static bool
take_gpgsig(struct arena *a, struct str *rest, struct str *value)
{
	char *text = arena_alloc(a, rest->n + 1);
	struct str line;
	size_t n = 0;

	if (!take_header(rest, STR("gpgsig "), &line))
		return false;
	do {
		if (line.n)
			memcpy(text + n, line.p, line.n);
		n += line.n;
		text[n++] = '\n';
	} while (take_header(rest, STR(" "), &line));
	*value = (struct str){ text, n };
	return true;
}

/* "<name> <<address>> <seconds> +0000" */
static bool
parse_time(struct str who, int64_t *seconds)
{
	size_t at;

	if (!str_has_suffix(who, STR(" +0000")))
		return false;
	who.n -= 6;
	for (at = who.n; at > 0 && who.p[at - 1] != ' ';)
		at--;
	return str_to_i64(str_slice(who, at, who.n), seconds) && *seconds >= 0;
}

static struct str
join(struct arena *a, struct str x, struct str y)
{
	char *p = arena_alloc(a, x.n + y.n + 1);

	memcpy(p, x.p, x.n);
	if (y.n)
		memcpy(p + x.n, y.p, y.n);
	return (struct str){ p, x.n + y.n };
}

static int
bad(struct err *e, const char *what)
{
	return err_set(e, &err_corrupt, "the commit's %s", what);
}

int
commit_parse(struct arena *a, struct str bytes, struct commit *c, struct err *e)
{
	struct str rest = bytes, hex, before;

	*c = (struct commit){ 0 };
	if (!take_header(&rest, STR("tree "), &hex) ||
	    !oid_from_hex(hex, &c->tree))
		return bad(e, "tree is missing or malformed");
	if (take_header(&rest, STR("parent "), &hex)) {
		if (!oid_from_hex(hex, &c->parent))
			return bad(e, "parent is malformed");
		c->has_parent = true;
	}
	if (str_has_prefix(rest, STR("parent ")))
		return bad(e, "parents are more than one");
	if (!take_header(&rest, STR("author "), &c->author) ||
	    !take_header(&rest, STR("committer "), &c->committer) ||
	    !parse_time(c->committer, &c->time))
		return bad(e, "author or committer is missing or malformed");
	before = str_slice(bytes, 0, bytes.n - rest.n);
	if (!take_gpgsig(a, &rest, &c->gpgsig))
		return bad(e, "signature is missing");
	if (!rest.p || rest.n == 0 || rest.p[0] != '\n')
		return bad(e, "header has an unknown or repeated line");
	c->signed_bytes = join(a, before, rest);
	c->message = str_slice(rest, 1, rest.n);
	return 0;
}

/* The lines after the last blank one. */
static struct str
trailer_block(struct str message)
{
	for (size_t i = message.n; i >= 2; i--)
		if (message.p[i - 1] == '\n' && message.p[i - 2] == '\n')
			return str_slice(message, i, message.n);
	return STR_NONE;
}

/* Takes "<Token>: <value> LF". */
static bool
take_trailer(struct str *rest, struct str *token, struct str *value)
{
	struct str line;

	if (str_find(*rest, '\n') == rest->n)
		return false;
	line = str_take(rest, '\n');
	*token = str_take(&line, ':');
	*value = str_slice(line, 1, line.n);
	return line.n > 1 && line.p[0] == ' ' && token->n > 0 &&
	       str_find(*token, ' ') == token->n;
}

/* The first four must be there. */
enum { SIZE, ROOT, HEAD, SIGNERS, REQUIRED, INDEX = REQUIRED, KNOWN };

static bool
parse_known(int which, struct str value, struct trailers *t)
{
	struct digest *digests[] = { NULL, &t->root, &t->head, &t->signers,
		&t->index };

	if (which == SIZE)
		return str_to_u64(value, &t->size);
	return digest_from_hex(value, digests[which]);
}

int
trailers_parse(struct str message, struct trailers *t, struct err *e)
{
	static const char *const names[] = { "Ledger-Size", "Ledger-Root",
		"Ledger-Head", "Ledger-Signers", INDEX_TRAILER };
	struct str rest = trailer_block(message), token, value;
	bool seen[KNOWN] = { false };

	*t = (struct trailers){ 0 };
	while (rest.n > 0) {
		if (!take_trailer(&rest, &token, &value))
			return bad(e, "trailers are malformed");
		for (int i = 0; i < KNOWN; i++) {
			if (!str_is(token, names[i]))
				continue;
			if (seen[i] || !parse_known(i, value, t))
				return err_set(e, &err_corrupt,
				    "the trailer %s is there twice or "
				    "malformed",
				    names[i]);
			seen[i] = true;
		}
	}
	t->has_index = seen[INDEX];
	for (int i = 0; i < REQUIRED; i++)
		if (!seen[i])
			return err_set(e, &err_corrupt,
			    "the trailer %s is missing", names[i]);
	return 0;
}

bool
trailers_list_extra(struct str message, struct str name, struct digest sha256)
{
	struct str rest = trailer_block(message), token, value;
	char hex[DIGEST_HEX + 1];

	digest_hex(sha256, hex);
	while (rest.n > 0 && take_trailer(&rest, &token, &value))
		if (str_is(token, "Ledger-X") &&
		    str_eq(str_take(&value, ' '), name) && str_is(value, hex))
			return true;
	return false;
}
