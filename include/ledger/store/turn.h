/*
 * The turn: one writer at a time per ledger, first come first served between
 * processes. Two files, `next` and `turn`, are locked with flock(2): take
 * next, take turn, release next. Plain flock on one file was seen to starve a
 * waiter for seconds. Within a process one thread at a time uses it.
 */
#ifndef LEDGER_STORE_TURN_H
#define LEDGER_STORE_TURN_H

#include "ledger/base/err.h"

struct turn;

/* Opens or makes both files in the ledger's directory. */
int turn_open(const char *dir, struct turn **, struct err *);
void turn_close(struct turn *);

int turn_take(struct turn *, struct err *);

/* Takes the turn only if nobody has it or waits for it. */
bool turn_try(struct turn *);
void turn_release(struct turn *);

/* Whether another process waits for the turn. */
bool turn_wanted(struct turn *);

#endif
