/*
 * One decoding in progress: where faults are reported, and how many were.
 */
#ifndef LEDGER_CODEC_SHAPE_DECODE_H
#define LEDGER_CODEC_SHAPE_DECODE_H

#include "ledger/codec/place.h"
#include "ledger/codec/shape.h"

/* As many as struct err keeps; reading stops there, so that a hostile body
 * cannot make work without end. */
#define SHAPE_FAULTS_MAX 64

struct decoding {
	struct arena *arena;
	struct err *err;
	unsigned faults;
	struct str parameter; /* the one being read; no value: the body */
};

__attribute__((format(printf, 4, 5))) void shape_fault(struct decoding *,
    const struct place *, const char *code, const char *fmt, ...);

/* Reads a JSON value into the field's slot. null is for the caller. */
void shape_value_read(struct decoding *, const struct field *,
    const struct json *, const struct place *, void *slot);

/* The same from the text of a parameter or a default. */
void shape_text_read(
    struct decoding *, const struct field *, struct str, void *slot);

/* Reads a JSON object into a struct, all fields alike. */
void shape_object_read(struct decoding *, const struct shape *,
    const struct json *, const struct place *, void *out);

#endif
