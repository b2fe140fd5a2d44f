/*
 * Binary as text: hexadecimal (RFC 4648, section 8, lower case) and base64
 * (section 4: standard alphabet, padded).
 */
#ifndef LEDGER_CODEC_TEXT_H
#define LEDGER_CODEC_TEXT_H

#include "ledger/base/arena.h"
#include "ledger/base/buf.h"

/* 2*n bytes and a NUL. */
void hex_encode(const void *, size_t n, char *out);

/* Exactly 2*n lower-case digits; false for anything else. */
bool hex_decode(struct str, void *out, size_t n);

#define BASE64_LENGTH(n) (((n) + 2) / 3 * 4)

/* Writes BASE64_LENGTH(n) bytes and a NUL. */
void base64_encode(const void *, size_t n, char *out);
void base64_add(struct buf *, struct str bytes);

/*
 * Strict: padding present, no white space, unused bits zero. At most max bytes
 * are written; false when the text is not that or is longer.
 */
bool base64_decode(struct str, void *out, size_t max, size_t *n);

/* Percent-decoding (RFC 3986, 2.1); plus_is_space for forms and queries. False
 * for a malformed %, for %00 and for a result that is not UTF-8. */
bool percent_decode(
    struct arena *, struct str, bool plus_is_space, struct str *out);

/* Everything but unreserved characters is escaped. */
void percent_add(struct buf *, struct str);

#endif
