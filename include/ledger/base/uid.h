/*
 * UUIDs (RFC 9562). All zero means "no value". New ones are version 7, made
 * from a given instant and random bytes, so that both can be held still.
 * Text form: 36 bytes, lower case.
 */
#ifndef LEDGER_BASE_UID_H
#define LEDGER_BASE_UID_H

#include "ledger/base/instant.h"

#define UID_TEXT 36

struct uid {
	uint8_t b[16];
};

/* Version 7 from the instant's milliseconds and ten random bytes (of which 74
 * bits are used). */
struct uid uid_from(struct instant, const uint8_t random[10]);

/* uid_from with the system's clock and randomness; rising within a process. */
struct uid uid_new(void);

void uid_format(struct uid, char out[UID_TEXT + 1]);

/* Any RFC 9562 UUID, upper or lower case; false for anything else. */
bool uid_parse(struct str, struct uid *out);

bool uid_eq(struct uid, struct uid);
bool uid_is_none(struct uid);

/* n bytes from the kernel; ends the process when it has none. */
void random_bytes(void *out, size_t n);

#endif
