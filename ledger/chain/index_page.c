/* Reading a page. A page has one form only, so that two readers cannot
 * understand one differently. */
#include <string.h>

#include "ledger/chain/index.h"

#define COUNT_MAX (UINT64_C(1) << 53)

static int
bad(struct err *e, size_t line, const char *what)
{
	return err_set(
	    e, &err_malformed, "line %zu of the page %s", line, what);
}

/* "probity-index/v1 <level> LF" */
static bool
take_first_line(struct str *rest, unsigned *level)
{
	struct str line;
	uint64_t n;

	if (!str_has_prefix(*rest, STR(INDEX_FORMAT " ")) ||
	    str_find(*rest, '\n') == rest->n)
		return false;
	line = str_take(rest, '\n');
	line = str_slice(line, sizeof INDEX_FORMAT, line.n);
	if (!str_to_u64(line, &n) || n > INDEX_HEIGHTS)
		return false;
	*level = (unsigned)n;
	return true;
}

/* "<kind> <uid> ", as index_key_set writes it. */
static bool
take_key(struct str *line, struct str *key)
{
	size_t kind = str_find(*line, ' ');
	struct str whole = str_slice(*line, 0, kind + 1 + UID_TEXT);
	struct index_key again;
	struct uid uid;

	if (whole.n == line->n ||
	    !uid_parse(str_slice(whole, kind + 1, whole.n), &uid) ||
	    index_key_set(&again, str_slice(whole, 0, kind), uid, NULL) ||
	    !str_eq(index_key_str(&again), whole) || line->p[whole.n] != ' ')
		return false;
	*key = whole;
	*line = str_slice(*line, whole.n + 1, line->n);
	return true;
}

static bool
take_count(struct str *line, uint64_t *count)
{
	return str_find(*line, ' ') < line->n &&
	       str_to_u64(str_take(line, ' '), count) && *count > 0 &&
	       *count <= COUNT_MAX;
}

static bool
parse_row(struct str line, unsigned level, struct index_row *row)
{
	if (level > 0 && str_has_prefix(line, STR("- "))) {
		row->key = STR("");
		line = str_slice(line, 2, line.n);
	} else if (!take_key(&line, &row->key) ||
		   (level == 0 && !take_count(&line, &row->count))) {
		return false;
	}
	return digest_from_hex(line, &row->hash);
}

static size_t
count_lines(struct str s)
{
	size_t n = 0;

	for (const char *p = s.p, *end = s.p + s.n; p < end; n++) {
		p = memchr(p, '\n', (size_t)(end - p));
		if (!p)
			break;
		p++;
	}
	return n;
}

int
index_page_parse(
    struct arena *a, struct str text, struct index_page *out, struct err *e)
{
	struct index_row *rows;
	struct str rest = text;

	*out = (struct index_page){ 0 };
	if (text.n > INDEX_PAGE_MAX)
		return err_set(e, &err_malformed,
		    "the page is longer than %d bytes", INDEX_PAGE_MAX);
	if (!take_first_line(&rest, &out->level))
		return bad(e, 1, "is not its format and level");
	rows = arena_array(
	    a, rest.n > 0 ? count_lines(rest) + 1 : 1, sizeof *rows);
	out->rows = rows;
	for (size_t line = 2; rest.n > 0; line++, out->n++) {
		if (str_find(rest, '\n') == rest.n)
			return bad(e, line, "does not end");
		if (!parse_row(
			str_take(&rest, '\n'), out->level, &rows[out->n]))
			return bad(e, line, "is not a row of its level");
		if (out->n > 0 &&
		    str_cmp(rows[out->n - 1].key, rows[out->n].key) >= 0)
			return bad(e, line, "is not above the one before");
	}
	return 0;
}
