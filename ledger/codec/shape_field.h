/*
 * What decoding, encoding and describing a field have in common.
 */
#ifndef LEDGER_CODEC_SHAPE_FIELD_H
#define LEDGER_CODEC_SHAPE_FIELD_H

#include "ledger/codec/shape.h"

#define SHAPE_SAFE_INTEGER   INT64_C(9007199254740991)
#define SHAPE_STRING_LENGTH  4096
#define SHAPE_LIST_LENGTH    1000
#define SHAPE_DECIMAL_BYTES  64
#define SHAPE_DIGEST_DIGITS  64
#define SHAPE_NUMBER_PATTERN "^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?$"

/* The longest string or list that the field takes. */
size_t shape_field_length_max(const struct field *);

/* An integer is bounded below whenever it is bounded at all. */
bool shape_field_has_minimum(const struct field *);

/* Whether null stands for "no value". */
bool shape_field_is_nullable(const struct field *);

/* SHAPE_NUMBER_PATTERN */
bool shape_is_json_number(struct str);

#endif
