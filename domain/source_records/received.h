/*
 * The event of an imported file, whose content, name and hash are encrypted
 * under a content key of the import. That the same file came before is found
 * by decrypting what an import of that length says of itself: no hash of the
 * file outlives its erasure.
 */
#ifndef DOMAIN_SOURCE_RECORDS_RECEIVED_H
#define DOMAIN_SOURCE_RECORDS_RECEIVED_H

#include "domain/content.h"
#include "domain/source_records/plan.h"

/* The subject is the import; every encrypted member has its content key. */
struct import_received {
	int64_t id;
	struct str format, kind;
	const void *file; /* struct sealed_text of the payload, and so on */
	const void *file_name, *file_sha256, *request_sha256, *mapping;
	int64_t file_bytes;
	struct str delimiter, decimal_sign, dates;
	struct opt_int general_ledger_id;
	int64_t records;
	struct opt_int first_record_id;
	struct str_list statement_uids;
	struct list totals; /* struct import_total */
	struct str_list warnings;
};
extern const struct event_type event_import_received;

/* Before the turn: gives the plan its uid, its encrypted members and its
 * stored payload. */
int import_seal(struct context *, struct plan *, struct err *);

/* Before the turn: whether the same was imported already, into plan->same. */
int import_find_same(struct context *, struct plan *, struct err *);

/* While deciding: the same, among those that came since. */
int import_find_newer(struct context *, struct plan *, struct err *);

/* What an event says of its file. err_erased. */
struct file_facts {
	struct str name, sha256; /* name: or no value */
};
int import_open_file(struct context *, const struct event *,
    const struct import_received *, struct file_facts *, struct err *);

#endif
