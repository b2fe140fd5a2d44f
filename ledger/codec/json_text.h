/*
 * The text of JSON strings, as every writer in this folder spells it: only
 * the escapes that RFC 8785 prescribes.
 */
#ifndef LEDGER_CODEC_JSON_TEXT_H
#define LEDGER_CODEC_JSON_TEXT_H

#include "ledger/base/buf.h"

/* Appends the string with its quotes. The argument is UTF-8. */
void json_text_add(struct buf *, struct str);

#endif
