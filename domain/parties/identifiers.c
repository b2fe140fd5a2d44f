#include "domain/parties/identifiers.h"

#include <string.h>

#define IBAN_MIN    15
#define ACCOUNT_MAX 34
#define LEI_LENGTH  20

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_capital(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool
is_letter(char c)
{
	return is_capital(c) || (c >= 'a' && c <= 'z');
}

/* ISO 7064 mod 97-10, letters counting from 10; goes on from `rest`. */
static unsigned
mod_97(unsigned rest, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (is_digit(c))
			rest = (rest * 10 + (unsigned)(c - '0')) % 97;
		else
			rest = (rest * 100 + (unsigned)(c - 'A') + 10) % 97;
	}
	return rest;
}

static bool
is_capitals_and_digits(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_digit(s.p[i]) && !is_capital(s.p[i]))
			return false;
	return true;
}

/* The rule leaves 97 values; 00, 01 and 99 would be second names of three. */
static bool
are_check_digits(const char *p)
{
	int value;

	if (!is_digit(p[0]) || !is_digit(p[1]))
		return false;
	value = (p[0] - '0') * 10 + (p[1] - '0');
	return value >= 2 && value <= 98;
}

bool
iban_is_valid(struct str s)
{
	if (s.n < IBAN_MIN || s.n > ACCOUNT_MAX || !is_capitals_and_digits(s))
		return false;
	if (!is_capital(s.p[0]) || !is_capital(s.p[1]) ||
	    !are_check_digits(s.p + 2))
		return false;
	return mod_97(mod_97(0, str_slice(s, 4, s.n)), str_slice(s, 0, 4)) == 1;
}

bool
lei_is_valid(struct str s)
{
	return s.n == LEI_LENGTH && is_capitals_and_digits(s) &&
	       are_check_digits(s.p + 18) && mod_97(0, s) == 1;
}

static bool
looks_like_iban(struct str s)
{
	if (s.n < IBAN_MIN || s.n > ACCOUNT_MAX || !is_letter(s.p[0]) ||
	    !is_letter(s.p[1]) || !is_digit(s.p[2]) || !is_digit(s.p[3]))
		return false;
	for (size_t i = 4; i < s.n; i++)
		if (!is_digit(s.p[i]) && !is_letter(s.p[i]))
			return false;
	return true;
}

static bool
is_account_text(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_digit(s.p[i]) && !is_letter(s.p[i]) &&
		    !memchr("/-?:().,'+", s.p[i], 10))
			return false;
	return s.n >= 1 && s.n <= ACCOUNT_MAX;
}

static bool
check_account(struct str s)
{
	return looks_like_iban(s) ? iban_is_valid(s) : is_account_text(s);
}

const struct field_format format_account = {
	.name = "account",
	.pattern = "^[A-Za-z0-9/?:().,'+-]{1,34}$",
	.expected = "must be an IBAN with good check digits, in capitals and "
		    "without spaces, or another account number of 1 to 34 "
		    "characters",
	.check = check_account,
};

const struct field_format format_lei = {
	.name = "lei",
	.pattern = "^[A-Z0-9]{18}[0-9]{2}$",
	.expected = "must be a legal entity identifier of 20 capitals and "
		    "digits with good check digits",
	.check = lei_is_valid,
};
