/*
 * How git is run for mirrors: no configuration of the machine has a say, and
 * nobody is asked anything.
 */
#ifndef DOMAIN_LEDGER_OPS_MIRROR_GIT_H
#define DOMAIN_LEDGER_OPS_MIRROR_GIT_H

#include "domain/caller.h"

/* For child_start. The repository belongs to another user perhaps. */
const char **mirror_environment(struct arena *, const char *repository);

/* What others wrote goes to the log, as one line that moves no cursor. */
void mirror_log_said(const struct place *, char *said);

#endif
