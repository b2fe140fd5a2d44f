/*
 * CSV (RFC 4180), row by row: quoted fields with doubled quotes, line ends CRLF
 * or LF, any one-byte delimiter, a byte order mark passed over. Lines that hold
 * nothing are passed over too. Strict in the rest: text beside a quoted field,
 * an open quote, a bare CR or a NUL end the reading with an error that names
 * the line.
 *
 * The reader borrows the text; unescaped fields go into the arena.
 *
 *	struct csv_reader r;
 *	csv_init(&r, a, text, ',');
 *	while ((more = csv_next(&r, e)) == 1)
 *		… r.line, r.fields[0 .. r.n - 1] …
 */
#ifndef DOMAIN_SOURCE_RECORDS_CSV_H
#define DOMAIN_SOURCE_RECORDS_CSV_H

#include "ledger/base/arena.h"
#include "ledger/base/err.h"

#define CSV_COLUMNS     128
#define CSV_FIELD_BYTES 4096

struct csv_reader {
	struct arena *arena;
	struct str rest;
	char delimiter;
	size_t next_line;

	size_t line; /* on which the row begins, from 1 */
	struct str fields[CSV_COLUMNS];
	size_t n;
};

void csv_init(
    struct csv_reader *, struct arena *, struct str text, char delimiter);

/* 1 a row, 0 the end, -1 with err_malformed, or err_too_large for more than
 * CSV_COLUMNS fields or a field above CSV_FIELD_BYTES. */
int csv_next(struct csv_reader *, struct err *);

#endif
