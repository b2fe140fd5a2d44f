/*
 * probity-audit, the auditor's tool: reads a ledger's repository and changes
 * nothing in it. One file per subcommand; main.c holds their table.
 */
#ifndef LEDGER_AUDIT_AUDIT_H
#define LEDGER_AUDIT_AUDIT_H

#include <stdio.h>

#include "ledger/audit/revocations.h"
#include "ledger/chain/verify.h"

enum { EXIT_GOOD = 0, EXIT_BAD = 1, EXIT_USAGE = 2, EXIT_NOT_DONE = 3 };

struct command {
	const char *name, *summary;
	const char *arguments; /* of the usage line */
	const char *options;   /* of --help, a line each */
	int (*run)(int argc, char **argv);
};
extern const struct command command_verify, command_log, command_show,
    command_prove, command_check_proof, command_check_checkpoint,
    command_check_tiles, command_check_complete, command_check_manifest,
    command_pack;

/* Prints usage and options. */
void command_help(const struct command *, FILE *);

/* What every subcommand's options are read with: the value of option
 * argv[*i], which must follow; NULL with a message when it does not. */
const char *option_value(int argc, char **argv, int *i);
bool option_number(int argc, char **argv, int *i, uint64_t *out);

/* "probity-audit: …" on standard error; returns EXIT_USAGE, EXIT_NOT_DONE. */
__attribute__((format(printf, 1, 2))) int usage_error(const char *fmt, ...);
int not_done(const struct err *);

/* A stranger's text: nothing in it moves a terminal's cursor. */
void print_plain(FILE *, struct str);

/* One line. */
void print_json(FILE *, const struct json *);

/* What a check found wrong: which check, of which event if of one, and why. */
struct fault {
	const char *check, *reason;
	bool has_seq;
	uint64_t seq;
};
void fault_write(FILE *, const struct fault *);
/* {check, reason}; with `numbered` seq too, null where it is of no event. */
struct json *fault_json(struct arena *, const struct fault *, bool numbered);

/* The values of --key, which may be repeated. */
struct key_options {
	const char *texts[PINNED_MAX];
	size_t n;
};
bool key_option(int argc, char **argv, int *i, struct key_options *);

/* Public keys, each one once: each text is a file that holds one or several, a
 * line each, or the key itself. */
int keys_load(struct arena *, const char *const *texts, size_t n,
    struct pinned *, struct err *);

/* A signed checkpoint in a file; its signatures are not checked. */
int checkpoint_load(struct arena *, const char *path, struct note *,
    struct checkpoint *, struct err *);

/*
 * Batches from the branch's commit back, one a call: 1, or 0 after the first
 * one, or -1. Nothing is verified. What was passed on the way knows what is
 * void of the batches before it.
 */
struct walk {
	struct repo *repo;
	bool more;
	struct oid next;
	struct revocations revocations;
	bool has_newer; /* the batch that was read before this one */
	struct oid newer;
	struct digest newer_signers;
};
int walk_open(struct walk *, const char *repo_path, struct err *);
int walk_next(struct walk *, struct arena *, struct commit *, struct trailers *,
    struct err *);
/* Back to the batch that holds the event; the arena is reset on the way.
 * err_not_found. */
int walk_find(struct walk *, struct arena *, uint64_t seq, struct oid *commit,
    struct err *);
void walk_close(struct walk *);

#endif
