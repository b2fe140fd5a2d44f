#include "domain/source_records/mapping.h"

#include <string.h>

static const struct {
	const char *name;
	bool required;
} members[MEMBERS] = {
	[MEMBER_AMOUNT] = { "amount", true },
	[MEMBER_CURRENCY] = { "currency", true },
	[MEMBER_REFERENCE] = { "reference", true },
	[MEMBER_COUNTERPARTY] = { "counterparty", true },
	[MEMBER_ARRANGEMENT] = { "arrangement", false },
	[MEMBER_DATE] = { "date", false },
	[MEMBER_GENERAL_LEDGER] = { "general_ledger", false },
	[MEMBER_DESCRIPTION] = { "description", false },
};

#define AT "#/mapping"

const char *
member_name(enum member m)
{
	return members[m].name;
}

static struct str
trim(struct str s)
{
	while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t'))
		s = str_slice(s, 1, s.n);
	while (s.n > 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
		s.n--;
	return s;
}

/* A quoted text off the front, quotes undoubled; false when it never ends. */
static bool
take_quoted(struct arena *a, struct str *rest, struct str *out)
{
	char *p = arena_alloc(a, rest->n + 1);
	size_t n = 0;

	for (size_t i = 1; i < rest->n; i++) {
		if (rest->p[i] == '"') {
			if (i + 1 == rest->n || rest->p[i + 1] != '"') {
				*out = (struct str){ p, n };
				*rest = str_slice(*rest, i + 1, rest->n);
				return true;
			}
			i++;
		}
		p[n++] = rest->p[i];
	}
	return false;
}

/* The text after = or :=, up to the comma, which goes too. */
static bool
take_value(struct arena *a, struct str *rest, struct str *out)
{
	struct str tail;

	while (rest->n > 0 && rest->p[0] == ' ')
		*rest = str_slice(*rest, 1, rest->n);
	if (rest->n == 0 || rest->p[0] != '"') {
		*out = trim(str_take(rest, ','));
		return true;
	}
	if (!take_quoted(a, rest, out))
		return false;
	tail = str_take(rest, ',');
	return trim(tail).n == 0;
}

static bool
find_member(struct str name, enum member *out)
{
	for (int m = 0; m < MEMBERS; m++)
		if (str_is(name, members[m].name)) {
			*out = (enum member)m;
			return true;
		}
	return false;
}

/* One item off the front; false when the rest cannot be read. */
static bool
take_item(
    struct arena *a, struct str *rest, struct mapping *out, struct faults *f)
{
	size_t equals = str_find(*rest, '=');
	struct str name = str_slice(*rest, 0, equals), value;
	bool constant = str_has_suffix(name, STR(":"));
	enum member m;

	if (equals == rest->n) {
		faults_add_at(f, AT, "format",
		    "\"%.*s\" is not member=Column or member:=value",
		    STR_ARGS(str_slice(*rest, 0, 80)));
		return false;
	}
	*rest = str_slice(*rest, equals + 1, rest->n);
	if (!take_value(a, rest, &value)) {
		faults_add_at(f, AT, "format",
		    "a quoted name does not end, or text follows it");
		return false;
	}
	name = trim(constant ? str_slice(name, 0, name.n - 1) : name);
	if (!find_member(name, &m))
		faults_add_at(f, AT, "unknown",
		    "\"%.*s\" is no member; there are amount, currency, "
		    "reference, counterparty, arrangement, date, "
		    "general_ledger, description",
		    STR_ARGS(str_slice(name, 0, 40)));
	else if (out->members[m].set)
		faults_add_at(
		    f, AT, "twice", "%s is mapped twice", members[m].name);
	else if (value.n == 0)
		faults_add_at(f, AT, "too_short", "%s is mapped to nothing",
		    members[m].name);
	else {
		out->members[m].set = true;
		out->members[m].constant = constant;
		out->members[m].text = value;
	}
	return true;
}

/* By name: every member is asked for, and binding drops what is not there. */
static void
map_by_name(struct mapping *out)
{
	for (int m = 0; m < MEMBERS; m++)
		out->members[m].text = str_from(members[m].name);
}

void
mapping_parse(
    struct arena *a, struct str text, struct mapping *out, struct faults *f)
{
	size_t before = f->n;

	memset(out, 0, sizeof *out);
	if (!text.p) {
		map_by_name(out);
		return;
	}
	while (text.n > 0 && take_item(a, &text, out, f))
		;
	if (f->n > before)
		return;
	for (int m = 0; m < MEMBERS; m++)
		if (members[m].required && !out->members[m].set)
			faults_add_at(f, AT, "required",
			    "%s is mapped to no column", members[m].name);
}

/* How many columns bear the name; the first goes to *at. */
static size_t
find_column(const struct str *header, size_t n, struct str name, size_t *at)
{
	size_t found = 0;

	for (size_t i = n; i > 0; i--)
		if (str_eq(trim(header[i - 1]), name)) {
			*at = i - 1;
			found++;
		}
	return found;
}

void
mapping_bind(
    struct mapping *map, const struct str *header, size_t n, struct faults *f)
{
	for (int m = 0; m < MEMBERS; m++) {
		struct str name = map->members[m].text;
		size_t found;

		if (!name.p || map->members[m].constant)
			continue;
		found = find_column(header, n, name, &map->members[m].column);
		if (found > 1)
			faults_add(f, "twice",
			    "line 1: the column \"%.*s\" is there twice",
			    STR_ARGS(str_slice(name, 0, 80)));
		else if (found == 0 &&
			 (map->members[m].set || members[m].required))
			faults_add(f, "required",
			    "line 1: there is no column \"%.*s\" for %s",
			    STR_ARGS(str_slice(name, 0, 80)), members[m].name);
		map->members[m].set = found == 1;
	}
}

struct str
mapping_get(const struct mapping *map, enum member m, const struct str *fields)
{
	struct str text;

	if (!map->members[m].set)
		return STR_NONE;
	text = map->members[m].constant ? map->members[m].text
					: trim(fields[map->members[m].column]);
	return text.n > 0 ? text : STR_NONE;
}

const char *
mapping_where(struct arena *a, const struct mapping *map, enum member m)
{
	if (map->members[m].constant)
		return arena_printf(a, "the constant for %s", members[m].name);
	return arena_printf(a, "column \"%.*s\"",
	    STR_ARGS(str_slice(map->members[m].text, 0, 80)));
}
