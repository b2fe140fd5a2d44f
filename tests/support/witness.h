/*
 * What a tester was told by a ledger, and whether the ledger keeps to it after
 * whatever was done to it. Every check ends the program when it fails, and
 * says where the ledger lies, which is kept.
 *
 *	struct claims claims = { 0 };
 *	claims_note(&claims, ledger, "first");
 *	… the process dies, the disk fills, the ledger is opened again …
 *	claims_check(&claims, &toy, ledger);
 *	witness_verify(&toy, ledger);
 */
#ifndef TESTS_SUPPORT_WITNESS_H
#define TESTS_SUPPORT_WITNESS_H

#include "tests/support/toy.h"

#define CLAIM_TEXT 48

/* CLAIM_NONE: no answer came, since the process died. */
enum claim_kind { CLAIM_NONE, CLAIM_ACKED, CLAIM_REFUSED, CLAIM_UNKNOWN };

/* What was said of one note; plain bytes, so that it goes over a pipe. */
struct claim {
	enum claim_kind kind;
	uint64_t seq; /* acknowledged, or told with outcome-unknown */
	struct digest hash;
	char text[CLAIM_TEXT];
	char slug[24]; /* of the error */
	char detail[120];
};

struct claims {
	struct claim *list;
	size_t n, room;
	size_t acked, refused, unknown;
};

/* Writes a note and records the answer. */
struct claim claim_note(struct ledger *, const char *text);

void claims_add(struct claims *, const struct claim *);
void claims_clear(struct claims *);

/*
 * Acknowledged: there, with that hash, and there once. Refused: not there.
 * Unknown or unanswered: there whole and once, or not at all.
 */
void claims_check(const struct claims *, const struct toy *, struct ledger *);

/* verify_ledger says it is good. */
void witness_verify(const struct toy *, struct ledger *);

/* No two signed checkpoints of one size anywhere: in objects, in packs, in
 * left over temporary files, in the journal. */
void witness_checkpoints(const struct toy *);

/* The ledger closed: state.db made anew has the same rows. */
void witness_rebuild(const struct toy *);

/* Opens or ends the program. */
struct ledger *witness_open(const struct toy *);

/* All of the above on a closed ledger, and one more note. */
void witness_all(const struct claims *, const struct toy *);

__attribute__((format(printf, 2, 3))) _Noreturn void witness_die(
    const struct toy *, const char *fmt, ...);

/* A directory on a filesystem where syncing costs nothing, unless it has too
 * little room: for what does not depend on the disk. */
const char *witness_fast_dir(void);

/* A directory of the C locale's shell made safe by having no quote in it. */
__attribute__((format(printf, 1, 2))) int witness_shell(const char *fmt, ...);

#endif
