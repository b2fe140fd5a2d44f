/*
 * People with SSH keys, for tests of what approvers decide.
 */
#ifndef TESTS_SUPPORT_APPROVER_H
#define TESTS_SUPPORT_APPROVER_H

#include "tests/support/desk.h"

struct person {
	struct signer *signer;
	struct str line; /* of the .pub file, with a comment */
	struct str uid;  /* once registered */
};

/* One for each number. */
void person_make(struct desk *, uint8_t number, struct person *);
void person_free(struct person *);

/* Registers the person under this name; roles is a JSON array. */
void person_register(
    struct desk *, struct person *, const char *name, const char *roles);

/* The armored signature. */
struct str person_sign(struct desk *, const struct person *,
    const char *name_space, struct str message);

/* What production.statement would print, at this distance from now. */
struct str statement_make(
    struct desk *, const char *decision, int64_t after_us);

/* The input of production.open and production.close. */
const char *decision_input(struct desk *, struct str approver,
    struct str statement, struct str signature);

/* Signs and decides; must succeed. */
void person_decide(struct desk *, const struct person *, const char *operation);

#endif
