/*
 * An import before it is decided: what the file says, checked against itself.
 * Made before the turn, without tables; deciding adds what the tables say.
 */
#ifndef DOMAIN_SOURCE_RECORDS_PLAN_H
#define DOMAIN_SOURCE_RECORDS_PLAN_H

#include "domain/money.h"
#include "domain/source_records/camt053.h"
#include "domain/source_records/events.h"
#include "domain/source_records/faults.h"
#include "domain/source_records/seal.h"
#include "ledger/crypto/sealed.h"

#define IMPORT_FILE_BYTES (16u << 20)
#define IMPORT_RECORDS    10000
/* Sealed bytes of one import: with what surrounds them they fit into a batch.
 */
#define IMPORT_BYTES (3584u << 10)

/* The request. */
struct import_file {
	struct str file, file_name, format, kind, mapping, delimiter,
	    decimal_sign, dates;
	struct opt_int general_ledger_id;
};
extern const struct shape import_file_shape;

struct draft {
	size_t line;
	struct source_content content;
	int64_t minor;
	const struct currency *currency;
	struct str counterparty; /* CSV: its id, account, LEI or name */
	size_t statement;        /* entries: index of theirs */

	/* While deciding. */
	struct uid uid;
	struct seal seal;
};

/* What goes into the event encrypted. */
struct import_sealed {
	const struct sealed_text *file, *file_name, *file_sha256,
	    *request_sha256, *mapping;
};

struct counterparty_names;

struct plan {
	const struct import_file *in;
	struct str kind;
	struct digest file, request;
	struct payload payload; /* the file, encrypted */
	struct uid uid;         /* the import's */
	struct import_sealed sealed;
	struct counterparty_names *parties;
	int64_t seen; /* no import up to this number is of the same file */
	int64_t same; /* seq of one that is; -1: none */
	struct draft *drafts;
	size_t n;
	struct camt053 bank; /* no statements when the format is CSV */

	/* While deciding. */
	struct uid *statement_uids;
};

/* Faults of the rows, all of them; or what makes the file unreadable. */
int plan_csv(struct arena *, struct plan *, struct err *);
int plan_camt053(struct arena *, struct plan *, struct err *);

/* Where a draft stands in its file: 'line 7', 'statement "X", entry 3'. */
const char *plan_where(
    struct arena *, const struct plan *, const struct draft *);

/* Sums by currency and direction. err_invalid when one is too large. */
int plan_totals(
    struct arena *, const struct plan *, struct list *out, struct err *);

#endif
