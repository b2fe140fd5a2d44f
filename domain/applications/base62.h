/*
 * Base62: digits, capitals, small letters, in this order of value; big-endian,
 * with a fixed number of digits.
 */
#ifndef DOMAIN_APPLICATIONS_BASE62_H
#define DOMAIN_APPLICATIONS_BASE62_H

#include "ledger/base/str.h"

/* Writes exactly `digits` digits of the n bytes taken as one number, the lowest
 * ones when it has more, and a NUL. n is at most 64. */
void base62_encode(const uint8_t *bytes, size_t n, char *out, size_t digits);

/* Only base62 digits, and at least one. */
bool base62_is_valid(struct str);

#endif
