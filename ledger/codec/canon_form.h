/*
 * What both readers of the events' form (of a tree, of bytes) must say alike.
 */
#ifndef LEDGER_CODEC_CANON_FORM_H
#define LEDGER_CODEC_CANON_FORM_H

#include <stdbool.h>
#include <stdint.h>

#define CANON_FORM_SAFE_INTEGER INT64_C(9007199254740991)
#define CANON_FORM_DEPTH        64

#define CANON_FORM_NUMBER   "a number must be an integer within 2^53-1"
#define CANON_FORM_NUL      "a string must not hold U+0000"
#define CANON_FORM_NAME     "a member name must match [a-z][a-z0-9_]*"
#define CANON_FORM_TOO_DEEP "nested more than 64 deep"

static inline bool
canon_form_in_name(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

#endif
