/*
 * Money: whole minor units of an ISO 4217 currency, never a double. At most 18
 * digits.
 */
#ifndef DOMAIN_MONEY_H
#define DOMAIN_MONEY_H

#include "ledger/base/arena.h"
#include "ledger/base/err.h"

struct currency {
	char code[4];
	int digits;   /* of the minor unit: 0 to 4 */
	bool payable; /* false: precious metals, testing codes, … */
};

struct money {
	int64_t minor;
	const struct currency *currency;
};

/* NULL for a code that ISO 4217 does not list. */
const struct currency *currency_find(struct str code);

enum money_fault {
	MONEY_OK,
	MONEY_NOT_A_NUMBER, /* also NaN, Infinity, empty */
	MONEY_NEGATIVE_ZERO,
	MONEY_TOO_PRECISE, /* more digits than the minor unit, trailing zeros
			      apart */
	MONEY_TOO_LARGE    /* beyond 18 digits of minor units */
};

/* A JSON number's or a decimal string's digits, taken as written; an exponent
 * is read exactly. */
enum money_fault money_parse(
    struct str text, const struct currency *, struct money *out);

/* What is wrong, as the end of a sentence that begins with the field. */
const char *money_fault_text(enum money_fault);

/* Exactly the currency's digits: "100.00", "5", "-0.001". */
struct str money_format(struct arena *, struct money);

/*
 * The minor units of what money_format wrote: its digits without the point.
 * Needs no currency table, so an event projects the same after ISO withdrew
 * its currency. False for any other text.
 */
bool money_minor(struct str formatted, int64_t *minor);

/* False when the sum does not fit. */
bool money_add(int64_t a, int64_t b, int64_t *sum);

#endif
