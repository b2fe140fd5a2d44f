/*
 * Account numbers and legal entity identifiers, by their check digits.
 */
#ifndef DOMAIN_PARTIES_IDENTIFIERS_H
#define DOMAIN_PARTIES_IDENTIFIERS_H

#include "ledger/codec/shape.h"

/* ISO 13616: two letters, two check digits, 11 to 30 letters and digits;
 * capitals; ISO 7064 mod 97-10 over the rearranged text leaves 1. */
bool iban_is_valid(struct str);

/* ISO 17442: 18 letters and digits, two check digits; capitals; ISO 7064 mod
 * 97-10 leaves 1. */
bool lei_is_valid(struct str);

/* What begins like an IBAN, whatever the case, must be one; anything else is
 * 1 to 34 characters of the SWIFT set without the space. */
extern const struct field_format format_account;
extern const struct field_format format_lei;

#endif
