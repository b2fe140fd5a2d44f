/*
 * A moment: microseconds since 1970-01-01T00:00:00Z. us == 0 stands for "no
 * value" in records. Text form: YYYY-MM-DDThh:mm:ss.ffffffZ (RFC 3339, always
 * six digits, always Z), 27 bytes.
 *
 * A clock is passed in, so a test can hold it still. wall is the time of day;
 * steady only ever goes forward, while the machine is up.
 */
#ifndef LEDGER_BASE_INSTANT_H
#define LEDGER_BASE_INSTANT_H

#include "ledger/base/str.h"

#define INSTANT_TEXT 27

struct instant {
	int64_t us;
};

struct clock {
	struct instant (*wall)(const struct clock *);
	struct instant (*steady)(const struct clock *);
};

/* CLOCK_REALTIME and CLOCK_BOOTTIME. */
extern const struct clock clock_system;

/* Writes INSTANT_TEXT bytes and a NUL. Years 1970 to 9999. */
void instant_format(struct instant, char out[INSTANT_TEXT + 1]);

/* Exactly the form above; false for anything else, leap seconds included. */
bool instant_parse(struct str, struct instant *out);

/* Any RFC 3339 date-time: offset, 0 to 6 fraction digits (more are cut). */
bool instant_parse_rfc3339(struct str, struct instant *out);

/* YYYY-MM-DD that exists in the Gregorian calendar. */
bool date_is_valid(struct str);

#endif
