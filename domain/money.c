#include "domain/money.h"

#define MINOR_DIGITS 18

/* Beyond any power of ten that matters, and far from overflowing. */
#define EXPONENT_CAP 1000000000

/* The parts of a JSON number. */
struct lexeme {
	bool negative;
	struct str whole, fraction; /* digits; the fraction may be empty */
	int64_t exponent;
};

static struct str
take_digits(struct str *rest)
{
	size_t n = 0;

	while (n < rest->n && rest->p[n] >= '0' && rest->p[n] <= '9')
		n++;
	struct str digits = str_slice(*rest, 0, n);
	*rest = str_slice(*rest, n, rest->n);
	return digits;
}

static bool
take_byte(struct str *rest, char c)
{
	if (rest->n == 0 || rest->p[0] != c)
		return false;
	*rest = str_slice(*rest, 1, rest->n);
	return true;
}

static bool
take_exponent(struct str *rest, int64_t *out)
{
	bool negative;
	struct str digits;

	*out = 0;
	if (!take_byte(rest, 'e') && !take_byte(rest, 'E'))
		return true;
	negative = take_byte(rest, '-');
	if (!negative)
		take_byte(rest, '+');
	digits = take_digits(rest);
	for (size_t i = 0; i < digits.n && *out < EXPONENT_CAP; i++)
		*out = *out * 10 + (digits.p[i] - '0');
	if (negative)
		*out = -*out;
	return digits.n > 0;
}

/* The grammar of RFC 8259, section 6, over the whole text. */
static bool
read_lexeme(struct str text, struct lexeme *out)
{
	*out = (struct lexeme){ .fraction = STR("") };
	out->negative = take_byte(&text, '-');
	out->whole = take_digits(&text);
	if (out->whole.n == 0 || (out->whole.n > 1 && out->whole.p[0] == '0'))
		return false;
	if (take_byte(&text, '.')) {
		out->fraction = take_digits(&text);
		if (out->fraction.n == 0)
			return false;
	}
	return take_exponent(&text, &out->exponent) && text.n == 0;
}

static int
digit_at(const struct lexeme *x, size_t i)
{
	return i < x->whole.n ? x->whole.p[i] - '0'
			      : x->fraction.p[i - x->whole.n] - '0';
}

/* The digits from the first to the last that is not zero: [from, to). */
static void
trim_zeros(const struct lexeme *x, size_t *from, size_t *to)
{
	*from = 0;
	*to = x->whole.n + x->fraction.n;
	while (*to > 0 && digit_at(x, *to - 1) == 0)
		--*to;
	while (*from < *to && digit_at(x, *from) == 0)
		++*from;
}

enum money_fault
money_parse(struct str text, const struct currency *currency, struct money *out)
{
	struct lexeme x;
	size_t from, to;
	int64_t zeros, minor = 0;

	*out = (struct money){ 0, currency };
	if (!read_lexeme(text, &x))
		return MONEY_NOT_A_NUMBER;
	trim_zeros(&x, &from, &to);
	if (from == to)
		return x.negative ? MONEY_NEGATIVE_ZERO : MONEY_OK;
	/* How many zeros follow the digits when written in minor units. */
	zeros =
	    x.exponent + (int64_t)x.whole.n - (int64_t)to + currency->digits;
	if ((int64_t)(to - from) + zeros > MINOR_DIGITS)
		return MONEY_TOO_LARGE;
	if (zeros < 0)
		return MONEY_TOO_PRECISE;
	for (size_t i = from; i < to; i++)
		minor = minor * 10 + digit_at(&x, i);
	while (zeros-- > 0)
		minor *= 10;
	out->minor = x.negative ? -minor : minor;
	return MONEY_OK;
}

const char *
money_fault_text(enum money_fault fault)
{
	switch (fault) {
	case MONEY_OK:
		break;
	case MONEY_NOT_A_NUMBER:
		return "must be a decimal number";
	case MONEY_NEGATIVE_ZERO:
		return "must not be minus zero";
	case MONEY_TOO_PRECISE:
		return "has more decimals than the currency";
	case MONEY_TOO_LARGE:
		return "must have at most 18 digits in minor units";
	}
	return "is valid";
}

struct str
money_format(struct arena *a, struct money m)
{
	uint64_t value = m.minor < 0 ? -(uint64_t)m.minor : (uint64_t)m.minor;
	const char *sign = m.minor < 0 ? "-" : "";
	uint64_t unit = 1;

	for (int i = 0; i < m.currency->digits; i++)
		unit *= 10;
	if (unit == 1)
		return arena_strf(a, "%s%llu", sign, (unsigned long long)value);
	return arena_strf(a, "%s%llu.%0*llu", sign,
	    (unsigned long long)(value / unit), m.currency->digits,
	    (unsigned long long)(value % unit));
}

bool
money_minor(struct str formatted, int64_t *minor)
{
	struct lexeme x;
	size_t n;

	*minor = 0;
	if (!read_lexeme(formatted, &x))
		return false;
	n = x.whole.n + x.fraction.n;
	if (n > MINOR_DIGITS ||
	    x.negative + n + (x.fraction.n > 0) != formatted.n)
		return false; /* too large, or with an exponent */
	for (size_t i = 0; i < n; i++)
		*minor = *minor * 10 + digit_at(&x, i);
	if (x.negative)
		*minor = -*minor;
	return true;
}

bool
money_add(int64_t a, int64_t b, int64_t *sum)
{
	return !__builtin_add_overflow(a, b, sum);
}
