#include "ledger/codec/shape_field.h"

#include <string.h>

const struct shape nothing_shape = { "nothing", "No fields", NULL, 0,
	sizeof(struct nothing) };

size_t
shape_field_length_max(const struct field *f)
{
	if (f->max > 0)
		return (size_t)f->max;
	return f->type == FIELD_STR ? SHAPE_STRING_LENGTH : SHAPE_LIST_LENGTH;
}

bool
shape_field_has_minimum(const struct field *f)
{
	return f->min != 0 || f->max != 0;
}

bool
shape_field_is_nullable(const struct field *f)
{
	switch (f->type) {
	case FIELD_INT:
	case FIELD_BOOL:
	case FIELD_LIST:
	case FIELD_STR_LIST:
		return false;
	case FIELD_STR:
	case FIELD_OPT_INT:
	case FIELD_DECIMAL:
	case FIELD_UID:
	case FIELD_INSTANT:
	case FIELD_DIGEST:
	case FIELD_JSON:
	case FIELD_OBJECT:
		break;
	}
	return !f->required;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t
take_digits(struct str *s)
{
	size_t n = 0;

	while (n < s->n && is_digit(s->p[n]))
		n++;
	*s = str_slice(*s, n, s->n);
	return n;
}

static bool
take_one_of(struct str *s, char a, char b)
{
	if (s->n == 0 || (s->p[0] != a && s->p[0] != b))
		return false;
	*s = str_slice(*s, 1, s->n);
	return true;
}

/* -?(0|[1-9][0-9]*)(\.[0-9]+)? */
static bool
take_plain_number(struct str *s)
{
	bool zero;

	take_one_of(s, '-', '-');
	zero = s->n > 0 && s->p[0] == '0';
	switch (take_digits(s)) {
	case 0:
		return false;
	case 1:
		break;
	default:
		if (zero)
			return false;
	}
	return !take_one_of(s, '.', '.') || take_digits(s) > 0;
}

bool
shape_is_json_number(struct str s)
{
	if (!take_plain_number(&s))
		return false;
	if (take_one_of(&s, 'e', 'E')) {
		take_one_of(&s, '+', '-');
		if (take_digits(&s) == 0)
			return false;
	}
	return s.n == 0;
}

bool
decimal_is_valid(struct str s)
{
	size_t digits = 0;

	for (size_t i = 0; i < s.n; i++)
		digits += is_digit(s.p[i]);
	return digits <= 40 && take_plain_number(&s) && s.n == 0;
}

static bool
is_key(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if ((c >= 'a' && c <= 'z') || is_digit(c))
			continue;
		if (i == 0 || (c != '.' && c != '_' && c != '-'))
			return false;
	}
	return s.n > 0;
}

static bool
is_currency(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < 'A' || s.p[i] > 'Z')
			return false;
	return s.n == 3;
}

/* U+0080 to U+009F are 0xc2 and a continuation byte below 0xa0. */
static bool
is_text(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c < 0x20 || c == 0x7f)
			return false;
		if (c == 0xc2 && i + 1 < s.n &&
		    (unsigned char)s.p[i + 1] < 0xa0)
			return false;
	}
	return true;
}

const struct field_format format_date = { "date", "date",
	"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "must be a date, YYYY-MM-DD",
	date_is_valid };
const struct field_format format_key = { "key", NULL, "^[a-z0-9][a-z0-9._-]*$",
	"must be lower-case letters, digits, \".\", \"_\" and \"-\"", is_key };
const struct field_format format_currency = { "currency", NULL, "^[A-Z]{3}$",
	"must be a currency code of three capitals", is_currency };
const struct field_format format_text = { "text", NULL,
	"^[^\\u0000-\\u001F\\u007F-\\u009F]*$",
	"must not contain control characters", is_text };
