/*
 * Canonical JSON: RFC 8785 (JCS). Members sorted by UTF-16 code units,
 * shortest escapes, no white space, numbers in the ES6 form.
 *
 * Events use a narrower form (ledger-format, "One event"): their only numbers
 * are integers within ±(2^53−1), member names match [a-z][a-z0-9_]*, strings
 * hold no U+0000.
 */
#ifndef LEDGER_CODEC_CANON_H
#define LEDGER_CODEC_CANON_H

#include "ledger/codec/json.h"

/* Appends the canonical bytes of any document. err_malformed for a number
 * beyond the range of a double. */
int canon_write(const struct json *, struct buf *, struct err *);

/* As canon_write, into the arena. */
int canon_str(
    struct arena *, const struct json *, struct str *out, struct err *);

/* As canon_str for the form of events; err_malformed with a JSON pointer in
 * the detail when the value is outside it. */
int canon_event(
    struct arena *, const struct json *, struct str *out, struct err *);

/* The order of members (RFC 8785, 3.2.3): <0, 0, >0. */
int canon_compare_names(struct str, struct str);

/*
 * Whether bytes are exactly the canonical form of an event's JSON. Reads the
 * bytes once and builds no tree; agrees with json_parse + canon_event on every
 * input (tests/fuzz holds the two against each other).
 */
int canon_check_event(struct str bytes, struct err *);

/* The ES6 form of a finite double (ECMA-262 Number::toString), at most 24
 * bytes and a NUL; independent of the locale. */
void canon_number(double, char out[32]);

#endif
