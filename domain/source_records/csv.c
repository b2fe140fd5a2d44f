#include "domain/source_records/csv.h"

#include <string.h>

void
csv_init(struct csv_reader *r, struct arena *a, struct str text, char delimiter)
{
	*r = (struct csv_reader){
		.arena = a, .rest = text, .delimiter = delimiter, .next_line = 1
	};
	if (str_has_prefix(text, STR("\xef\xbb\xbf")))
		r->rest = str_slice(text, 3, text.n);
}

static void
skip(struct csv_reader *r, size_t n)
{
	r->rest.p += n;
	r->rest.n -= n;
}

/* Length of the line end that the rest begins with: 0, 1 or 2. */
static size_t
line_end(const struct csv_reader *r)
{
	if (r->rest.n > 0 && r->rest.p[0] == '\n')
		return 1;
	if (r->rest.n > 1 && r->rest.p[0] == '\r' && r->rest.p[1] == '\n')
		return 2;
	return 0;
}

static int
refuse(const struct csv_reader *r, struct err *e, const char *what)
{
	return err_set(e, &err_malformed, "line %zu: %s", r->next_line, what);
}

static int
read_plain(struct csv_reader *r, struct str *out, struct err *e)
{
	size_t n = 0;

	for (; n < r->rest.n; n++) {
		char c = r->rest.p[n];

		if (c == r->delimiter || c == '\n')
			break;
		if (c == '\r' && n + 1 < r->rest.n && r->rest.p[n + 1] == '\n')
			break;
		if (c == '\r')
			return refuse(r, e, "a carriage return stands alone");
		if (c == '\0')
			return refuse(r, e, "a NUL byte");
		if (c == '"')
			return refuse(r, e,
			    "a quotation mark within a field that does not "
			    "begin with one");
	}
	*out = str_slice(r->rest, 0, n);
	skip(r, n);
	return 0;
}

/* Length of the quoted text before its closing quote; counts doubled quotes
 * and lines. */
static int
measure_quoted(struct csv_reader *r, size_t *length, size_t *doubled,
    size_t *lines, struct err *e)
{
	*length = *doubled = *lines = 0;
	for (size_t n = 0; n < r->rest.n; n++) {
		if (r->rest.p[n] == '\0')
			return refuse(r, e, "a NUL byte");
		if (r->rest.p[n] == '\n')
			++*lines;
		if (r->rest.p[n] != '"')
			continue;
		if (n + 1 == r->rest.n || r->rest.p[n + 1] != '"') {
			*length = n;
			return 0;
		}
		++*doubled;
		n++;
	}
	return refuse(r, e, "a quoted field is never closed");
}

static int
read_quoted(struct csv_reader *r, struct str *out, struct err *e)
{
	size_t length, doubled, lines;

	skip(r, 1);
	if (measure_quoted(r, &length, &doubled, &lines, e))
		return -1;
	*out = str_slice(r->rest, 0, length);
	if (doubled > 0) {
		char *p = arena_alloc(r->arena, length + 1);
		size_t n = 0;

		for (size_t i = 0; i < length; i++) {
			p[n++] = out->p[i];
			if (out->p[i] == '"')
				i++;
		}
		*out = (struct str){ p, n };
	}
	skip(r, length + 1);
	if (r->rest.n > 0 && r->rest.p[0] != r->delimiter && !line_end(r))
		return refuse(r, e, "text after a closing quotation mark");
	r->next_line += lines;
	return 0;
}

static int
read_field(struct csv_reader *r, struct err *e)
{
	struct str *field = &r->fields[r->n];

	if (r->n == CSV_COLUMNS)
		return err_set(e, &err_too_large,
		    "line %zu has more than %d fields", r->line, CSV_COLUMNS);
	if (r->rest.n > 0 && r->rest.p[0] == '"') {
		if (read_quoted(r, field, e))
			return -1;
	} else if (read_plain(r, field, e)) {
		return -1;
	}
	if (field->n > CSV_FIELD_BYTES)
		return err_set(e, &err_too_large,
		    "line %zu: a field has %zu bytes; at most %d are read",
		    r->line, field->n, CSV_FIELD_BYTES);
	r->n++;
	return 0;
}

static void
take_line_end(struct csv_reader *r)
{
	size_t end = line_end(r);

	if (end > 0)
		r->next_line++;
	skip(r, end);
}

int
csv_next(struct csv_reader *r, struct err *e)
{
	while (line_end(r))
		take_line_end(r);
	r->n = 0;
	r->line = r->next_line;
	if (r->rest.n == 0)
		return 0;
	for (;;) {
		if (read_field(r, e))
			return -1;
		if (r->rest.n == 0 || r->rest.p[0] != r->delimiter)
			break;
		skip(r, 1);
	}
	take_line_end(r);
	return 1;
}
