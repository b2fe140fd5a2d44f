#include "domain/config_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct reader {
	struct arena *arena;
	const char *path;
	struct settings *settings;
	struct str line; /* as it stands */
	int number;
	bool failed;
};

int
config_fault(struct err *e, struct arena *a, const char *at, const char *code,
    const char *fmt, ...)
{
	char detail[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof detail, fmt, ap);
	va_end(ap);
	return err_add_field(e, a, "configuration", at, code, "%s", detail);
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct str
trim(struct str s)
{
	while (s.n > 0 && is_blank(s.p[0]))
		s = str_slice(s, 1, s.n);
	while (s.n > 0 && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

/* Columns count characters from 1, as editors do. */
static int
column_of(const struct reader *r, struct str part)
{
	struct str before = { r->line.p, (size_t)(part.p - r->line.p) };

	return (int)(str_is_utf8(before) ? str_code_points(before) : before.n) +
	       1;
}

static const char *
place_of(const struct reader *r, struct str part)
{
	return arena_printf(
	    r->arena, "%s:%d:%d", r->path, r->number, column_of(r, part));
}

static void
fault(struct reader *r, struct str part, const char *what, struct err *e)
{
	r->failed = true;
	config_fault(e, r->arena, place_of(r, part), "malformed", "%s", what);
}

/* Control characters would spoil the lines that show the value. */
static bool
is_text(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (((unsigned char)s.p[i] < 0x20 && s.p[i] != '\t') ||
		    s.p[i] == 0x7f)
			return false;
	return str_is_utf8(s);
}

struct setting *
settings_find(struct settings *s, struct str name)
{
	for (size_t i = 0; i < s->n; i++)
		if (str_eq(s->list[i].name, name))
			return &s->list[i];
	return NULL;
}

/* The first one stays: which was meant is for a person to say. */
static void
add(struct reader *r, struct str name, struct str value, struct err *e)
{
	struct setting *before = settings_find(r->settings, name);

	if (before) {
		r->failed = true;
		config_fault(e, r->arena, place_of(r, name), "duplicate",
		    "%.*s: is set on line %d already", STR_ARGS(name),
		    before->origin.line);
		return;
	}
	if (r->settings->n == CONFIG_SETTINGS_MAX) {
		fault(r, name, "has too many settings", e);
		return;
	}
	r->settings->list[r->settings->n++] = (struct setting){
		.name = name,
		.value = value,
		.origin = { CONFIG_FILE, r->number, column_of(r, value) },
		.name_at = place_of(r, name),
		.value_at = place_of(r, value),
	};
}

static void
read_line(struct reader *r, struct err *e)
{
	struct str value = trim(r->line), name;

	if (value.n == 0 || value.p[0] == '#')
		return;
	if (!is_text(value)) {
		fault(r, value,
		    "holds control characters, or is not UTF-8; write plain "
		    "text",
		    e);
		return;
	}
	name = trim(str_take(&value, '='));
	if (!value.p || name.n == 0)
		fault(r, name, "is not `name = value`; a comment begins with #",
		    e);
	else
		add(r, name, trim(value), e);
}

int
config_file_read(struct arena *a, const char *path, struct str text,
    struct settings *s, struct err *e)
{
	struct reader r = { .arena = a, .path = path, .settings = s };

	/* Some editors begin a file with a byte order mark. */
	if (str_has_prefix(text, STR("\xef\xbb\xbf")))
		text = str_slice(text, 3, text.n);
	while (text.p) {
		r.line = str_take(&text, '\n');
		r.number++;
		read_line(&r, e);
	}
	return r.failed ? -1 : 0;
}
