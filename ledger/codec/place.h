/*
 * A place inside a JSON document: the way to it from the root, innermost step
 * first, each step on the stack of whoever is reading there. NULL is the root.
 * It becomes text (RFC 6901) only when there is a fault to report.
 */
#ifndef LEDGER_CODEC_PLACE_H
#define LEDGER_CODEC_PLACE_H

#include "ledger/base/buf.h"

/* The text of a place is at most this long; steps beyond it are left out, and
 * a long name is cut. */
#define PLACE_TEXT_MAX 512

struct place {
	const struct place *up;
	struct str name; /* of a member; no value: an element */
	size_t index;
};

/* Writes the JSON pointer, as a URI fragment ("#/a%20b/0") or plain. */
void place_format(
    const struct place *, bool fragment, char out[PLACE_TEXT_MAX]);

#endif
