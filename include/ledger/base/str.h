/*
 * A borrowed run of bytes, by value. A str owns nothing and need not end in
 * NUL; p == NULL means "no value", which is not the same as the empty string.
 *
 *	struct str s = STR("credit");
 *	if (str_eq(s, STR("credit")))
 *		printf("%.*s\n", STR_ARGS(s));
 */
#ifndef LEDGER_BASE_STR_H
#define LEDGER_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
	const char *p;
	size_t n;
};

/* A literal as a str. */
#define STR(literal) ((struct str){ "" literal, sizeof(literal) - 1 })
#define STR_NONE     ((struct str){ NULL, 0 })
/* For "%.*s". */
#define STR_ARGS(s) (int)(s).n, (s).p ? (s).p : ""

/* The C string as a str; NULL gives STR_NONE. */
struct str str_from(const char *cstr);

/* Equal bytes; no value equals only no value. Not constant-time. */
bool str_eq(struct str a, struct str b);

/* Equal to a C string. */
bool str_is(struct str a, const char *cstr);

/* Byte order, shorter first when one is a prefix: <0, 0, >0. */
int str_cmp(struct str a, struct str b);

bool str_has_prefix(struct str s, struct str prefix);
bool str_has_suffix(struct str s, struct str suffix);

/* Offset of the first byte c, or s.n when there is none. */
size_t str_find(struct str s, char c);

/* Bytes [from, to), both cut to the length. */
struct str str_slice(struct str s, size_t from, size_t to);

/*
 * Takes the part before the first c off *rest and returns it; the separator
 * goes too. When c does not occur, takes everything and sets *rest to no value.
 */
struct str str_take(struct str *rest, char c);

/* Decimal digits only, no sign, no leading zero but "0" itself; false when it
 * is not that or does not fit. */
bool str_to_u64(struct str s, uint64_t *out);

/* As str_to_u64 with an optional leading minus. */
bool str_to_i64(struct str s, int64_t *out);

/* Well-formed UTF-8 (RFC 3629): no surrogates, no overlong forms. */
bool str_is_utf8(struct str s);

/* Number of code points; the argument is well-formed UTF-8. */
size_t str_code_points(struct str s);

#endif
