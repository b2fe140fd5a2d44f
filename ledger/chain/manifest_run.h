/*
 * One check of a manifest, shared by the files of manifest_check. Its stages
 * return 0, or -1 with err_malformed or err_corrupt for what is wrong with the
 * file (run->check names the check), with another kind when the check could
 * not be carried out.
 */
#ifndef LEDGER_CHAIN_MANIFEST_RUN_H
#define LEDGER_CHAIN_MANIFEST_RUN_H

#include "ledger/chain/evidence.h"
#include "ledger/chain/manifest.h"
#include "ledger/codec/json_walk.h"

/* A part of a file, read from `at` up to `end`. */
struct manifest_part {
	int fd;
	uint64_t at, end;
};

struct manifest_run {
	const struct manifest_options *options;
	struct manifest_report *report;
	struct arena *a; /* for the whole check */
	const char *check;
	uint64_t shown; /* progress */

	/* The file. */
	int fd;
	uint64_t bytes;
	bool envelope; /* of a reply: it was there */
	const struct json *payload_type, *signatures;
	struct json *said;             /* a reply's other members */
	struct manifest_part manifest; /* of a reply; end 0: none */

	/* The Statement, decoded. */
	int statement;
	uint64_t statement_bytes;
	uint64_t events, evidence; /* where these arrays begin */
	const struct json *log;

	/* What the log's members say; `ev` is of the certifying event. */
	struct evidence ev;
	struct evidence_shown certified; /* what ev came to */
	struct checkpoint checkpoint;
};

/* json_walk_read over a part. */
int manifest_part_read(
    void *part, char *to, size_t room, size_t *n, struct err *);

/* A JSON string with nothing in it that moves a terminal's cursor, and at most
 * MANIFEST_NAME_MAX bytes. */
bool manifest_is_name(struct str);

/* A list of base64 hashes. */
bool manifest_path(const struct json *, struct merkle_proof *);

/* The member as a number that is not negative. */
bool manifest_number(const struct json *, const char *name, uint64_t *);

/* Whether two parts hold the same Statement as JSON (RFC 8785): white space,
 * escapes and the order of members do not count. */
int manifest_same_json(struct manifest_run *, struct manifest_part,
    struct manifest_part, bool *same, struct err *);

/* The member is among those of which the file says nothing else. */
void manifest_unchecked(
    struct manifest_report *, const char *of, struct str name);

/* A reply's proof and evidence. */
int manifest_check_seal(struct manifest_run *, struct err *);

/* Shows how far a stage has come, but not after each little step. */
void manifest_progress(
    struct manifest_run *, const char *what, uint64_t done, uint64_t total);

/* The stages, in their order. */
int manifest_read_file(struct manifest_run *, struct err *);
int manifest_read_statement(struct manifest_run *, struct err *);
int manifest_check_log(struct manifest_run *, struct err *);
int manifest_check_signature(struct manifest_run *, struct err *);
int manifest_check_events(struct manifest_run *, struct err *);
int manifest_check_reply(struct manifest_run *, struct err *);

#endif
