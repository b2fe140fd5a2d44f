/*
 * Eight bytes of a text at once, in a register, for loops that look for a few
 * bytes among many (Lamport, "Multiple byte processing with full-word
 * instructions", CACM 18(8), 1975).
 */
#ifndef LEDGER_BASE_SWAR_H
#define LEDGER_BASE_SWAR_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Eight bytes, the first in the lowest place. */
static inline uint64_t
swar_load(const char *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof x);
	return le64toh(x);
}

/* 0x80 in the first byte below 0x20; bytes after it may be marked too. */
static inline uint64_t
swar_mark_control(uint64_t x)
{
	return (x - 0x2020202020202020U) & ~x & 0x8080808080808080U;
}

/* The same for bytes equal to c. */
static inline uint64_t
swar_mark_byte(uint64_t x, unsigned char c)
{
	x ^= 0x0101010101010101U * c;
	return (x - 0x0101010101010101U) & ~x & 0x8080808080808080U;
}

/* The place of the first byte marked: 0 to 7. Some byte must be. */
static inline size_t
swar_first(uint64_t marks)
{
	return (size_t)__builtin_ctzll(marks) / 8;
}

#endif
