/*
 * The text of JSON strings, as every writer in this folder spells it: only
 * the escapes that RFC 8785 prescribes.
 */
#ifndef LEDGER_CODEC_JSON_TEXT_H
#define LEDGER_CODEC_JSON_TEXT_H

#include <endian.h>
#include <string.h>

#include "ledger/base/buf.h"

/* Appends the string with its quotes. The argument is UTF-8. */
void json_text_add(struct buf *, struct str);

/* In eight bytes, 0x80 in the first byte below 0x20; bytes after it may be
 * marked too. */
static inline uint64_t
json_text_mark_control(uint64_t x)
{
	return (x - 0x2020202020202020U) & ~x & 0x8080808080808080U;
}

/* The same for bytes equal to c. */
static inline uint64_t
json_text_mark_byte(uint64_t x, unsigned char c)
{
	x ^= 0x0101010101010101U * c;
	return (x - 0x0101010101010101U) & ~x & 0x8080808080808080U;
}

/* Eight bytes, the first in the lowest place. */
static inline uint64_t
json_text_load(const char *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof x);
	return le64toh(x);
}

#endif
