/*
 * Replies for people: lists as columns, one record as lines of name and value;
 * records within a record follow it, each on a line of its own, whole.
 */
#include "domain/probityctl/ctl.h"

#include <stdio.h>
#include <string.h>

#define CELL_MAX  64
#define CELLS_MAX 40

/* Text in the terminal: control characters would be obeyed by it. */
static void
put_plain(FILE *f, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		putc(c < 0x20 || c == 0x7f ? ' ' : c, f);
	}
}

static void
add_cell(struct buf *b, const struct json *v)
{
	if (!v || v->type == JSON_NULL)
		buf_add_cstr(b, "-");
	else if (v->type == JSON_STRING)
		buf_add(b, v->text);
	else if (v->type == JSON_ARRAY && v->n == 0)
		buf_add_cstr(b, "-");
	else if (v->type == JSON_ARRAY && v->first->type == JSON_STRING)
		for (const struct json *at = v->first; at; at = at->next) {
			buf_add(b, at->text);
			if (at->next)
				buf_add_cstr(b, ",");
		}
	else
		json_write(v, b);
}

/* The cell's text, cut; *width is how many characters it shows. */
static struct str
cell(struct buf *b, const struct json *v, size_t *width)
{
	struct str s;

	buf_reset(b);
	add_cell(b, v);
	s = buf_str(b);
	*width = str_is_utf8(s) ? str_code_points(s) : s.n;
	if (*width <= CELL_MAX)
		return s;
	for (size_t i = 0, points = 0; i < s.n; i++)
		if (((unsigned char)s.p[i] & 0xc0) != 0x80 &&
		    points++ == CELL_MAX - 1) {
			s.n = i;
			break;
		}
	*width = CELL_MAX;
	return s;
}

static bool
has_records(const struct json *v)
{
	return v && v->type == JSON_ARRAY && v->n > 0 &&
	       v->first->type == JSON_OBJECT;
}

/* "number 1, outcome retry, status 500"; what is null is left out. */
static void
print_parts(const struct json *record, struct buf *b)
{
	const char *between = "";

	for (const struct json *at = record->first; at; at = at->next) {
		if (at->type == JSON_NULL)
			continue;
		buf_reset(b);
		add_cell(b, at);
		printf("%s%.*s ", between, STR_ARGS(at->name));
		put_plain(stdout, buf_str(b));
		between = ", ";
	}
	putchar('\n');
}

/* The records that the row's own line has no room for. */
static void
print_below(const struct shape *item, const struct json *row, struct buf *b)
{
	for (size_t i = 0; i < item->n; i++) {
		const struct json *list = json_get(row, item->fields[i].name);

		if (!has_records(list))
			continue;
		for (const struct json *v = list->first; v; v = v->next) {
			printf("  %s: ", item->fields[i].name);
			print_parts(v, b);
		}
	}
}

struct columns {
	const char *names[CELLS_MAX];
	size_t widths[CELLS_MAX];
	size_t n;
};

static void
measure(struct columns *c, const struct shape *shape, const struct json *data,
    struct buf *b)
{
	size_t width;

	for (size_t i = 0; i < shape->n && c->n < CELLS_MAX; i++) {
		if (shape->fields[i].type == FIELD_LIST)
			continue;
		c->names[c->n] = shape->fields[i].name;
		c->widths[c->n++] = strlen(shape->fields[i].name);
	}
	for (const struct json *row = data->first; row; row = row->next)
		for (size_t i = 0; i < c->n; i++) {
			cell(b, json_get(row, c->names[i]), &width);
			if (width > c->widths[i])
				c->widths[i] = width;
		}
}

static void
pad(size_t n)
{
	while (n-- > 0)
		putchar(' ');
}

static void
print_row(const struct columns *c, const struct json *row, struct buf *b)
{
	for (size_t i = 0; i < c->n; i++) {
		size_t width;
		struct str s = cell(b, json_get(row, c->names[i]), &width);
		bool cut = s.n < b->n;

		put_plain(stdout, s);
		if (cut)
			fputs("…", stdout);
		if (i + 1 < c->n)
			pad(c->widths[i] - width + 2);
	}
	putchar('\n');
}

static void
print_list(const struct shape *item, const struct json *reply, struct buf *b)
{
	const struct json *data = json_get(reply, "data");
	struct columns c = { .n = 0 };
	int64_t next;

	measure(&c, item, data, b);
	for (size_t i = 0; i < c.n; i++) {
		fputs(c.names[i], stdout);
		if (i + 1 < c.n)
			pad(c.widths[i] - strlen(c.names[i]) + 2);
	}
	putchar('\n');
	for (const struct json *row = data->first; row; row = row->next) {
		print_row(&c, row, b);
		print_below(item, row, b);
	}
	if (json_get_int(reply, "next_after_id", &next))
		printf("more: --after-id %lld, or --all\n", (long long)next);
}

static void
print_value(struct str name, const struct json *v, struct buf *b)
{
	buf_reset(b);
	add_cell(b, v);
	printf("%-20.*s  ", STR_ARGS(name));
	/* A signed note has lines of its own. */
	for (struct str rest = buf_str(b); rest.p;) {
		put_plain(stdout, str_take(&rest, '\n'));
		if (rest.n > 0)
			printf("\n%-20s  ", "");
	}
	putchar('\n');
}

static void
print_records(struct str name, const struct json *list, struct buf *b)
{
	for (const struct json *v = list->first; v; v = v->next) {
		printf("%-20.*s  ", STR_ARGS(name));
		print_parts(v, b);
	}
}

static void
print_record(
    struct arena *a, struct str prefix, const struct json *v, struct buf *b)
{
	for (const struct json *at = v->first; at; at = at->next) {
		struct str name = arena_strf(a, "%.*s%s%.*s", STR_ARGS(prefix),
		    prefix.n ? "." : "", STR_ARGS(at->name));

		if (at->type == JSON_OBJECT)
			print_record(a, name, at, b);
		else if (has_records(at))
			print_records(name, at, b);
		else
			print_value(name, at, b);
	}
}

/* The shape of a list's records; NULL when it is no list. */
static const struct shape *
item_shape(const struct shape *shape)
{
	for (size_t i = 0; i < shape->n; i++)
		if (strcmp(shape->fields[i].name, "data") == 0 &&
		    shape->fields[i].type == FIELD_LIST)
			return shape->fields[i].of;
	return NULL;
}

void
table_print(const struct shape *shape, const struct json *reply)
{
	const struct shape *item = item_shape(shape);
	struct arena *a = arena_new();
	struct buf b;

	buf_init(&b, 1 << 20);
	if (item && json_get(reply, "data"))
		print_list(item, reply, &b);
	else
		print_record(a, STR(""), reply, &b);
	buf_fini(&b);
	arena_free(a);
}
