#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/codec/canon.h"

/*
 * A decimal d1 d2 … dk × 10^(n−k), as ECMA-262, Number::toString, has it. It
 * is found by trying lengths: printf rounds correctly, and a length is enough
 * when reading the digits back gives the double again.
 *
 * printf writes the decimal point of the locale and strtod expects it, so
 * neither is let near one: digits are picked out by what they are, and read
 * back as an integer with an exponent.
 */
struct decimal_form {
	char digits[24];
	int k, n;
};

static double
value_of(const struct decimal_form *f)
{
	char text[48];

	snprintf(text, sizeof text, "%se%d", f->digits, f->n - f->k);
	return strtod(text, NULL);
}

/* The nearest decimal of this length. */
static struct decimal_form
nearest(double d, int length)
{
	struct decimal_form f = { .k = 0 };
	char text[48];
	const char *p = text;

	snprintf(text, sizeof text, "%.*e", length - 1, d);
	for (; *p != 'e'; p++)
		if (*p >= '0' && *p <= '9')
			f.digits[f.k++] = *p;
	f.n = (int)strtol(p + 1, NULL, 10) + 1;
	return f;
}

/* The next larger decimal of this length. */
static struct decimal_form
next_up(struct decimal_form f)
{
	int i = f.k - 1;

	while (i >= 0 && f.digits[i] == '9')
		f.digits[i--] = '0';
	if (i >= 0) {
		f.digits[i]++;
	} else {
		f.digits[0] = '1';
		f.n++;
	}
	return f;
}

static bool
is_power_of_two(double d)
{
	int exponent;

	return frexp(d, &exponent) == 0.5;
}

static struct decimal_form
shortest(double d)
{
	/* A normal double keeps any 15 digits, so if 15 are enough for it, the
	 * shortest form is these 15 without the zeros at their end. */
	int length = isnormal(d) ? 15 : 1;
	struct decimal_form f, up;

	for (;; length++) {
		f = nearest(d, length);
		if (length == 17 || value_of(&f) == d)
			break;
		/* Below a power of two doubles lie twice as close, so the
		 * nearest decimal may miss while the one above does not. */
		if (!is_power_of_two(d))
			continue;
		up = next_up(f);
		if (value_of(&up) == d) {
			f = up;
			break;
		}
	}
	while (f.k > 1 && f.digits[f.k - 1] == '0')
		f.digits[--f.k] = '\0';
	return f;
}

static void
put(char **p, const char *from, int n)
{
	memcpy(*p, from, (size_t)n);
	*p += n;
}

static void
put_zeros(char **p, int n)
{
	memset(*p, '0', (size_t)n);
	*p += n;
}

static void
put_exponent(char *p, int exponent)
{
	int size = abs(exponent); /* at most 324 */

	*p++ = 'e';
	*p++ = exponent < 0 ? '-' : '+';
	if (size >= 100)
		*p++ = (char)('0' + size / 100);
	if (size >= 10)
		*p++ = (char)('0' + size / 10 % 10);
	*p++ = (char)('0' + size % 10);
	*p = '\0';
}

/* ECMA-262, Number::toString, steps 6 to 10. */
static void
lay_out(const struct decimal_form *f, char *p)
{
	int k = f->k, n = f->n;

	if (n > 0 && n <= 21) {
		int whole = k < n ? k : n;

		put(&p, f->digits, whole);
		put_zeros(&p, n - whole);
		if (k > n) {
			*p++ = '.';
			put(&p, f->digits + n, k - n);
		}
		*p = '\0';
	} else if (n > -6 && n <= 0) {
		put(&p, "0.", 2);
		put_zeros(&p, -n);
		put(&p, f->digits, k);
		*p = '\0';
	} else {
		*p++ = f->digits[0];
		if (k > 1) {
			*p++ = '.';
			put(&p, f->digits + 1, k - 1);
		}
		put_exponent(p, n - 1);
	}
}

void
canon_number(double d, char out[32])
{
	struct decimal_form f;

	assert(isfinite(d));
	if (d == 0) {
		memcpy(out, "0", 2);
		return;
	}
	if (d < 0)
		*out++ = '-';
	f = shortest(fabs(d));
	lay_out(&f, out);
}
