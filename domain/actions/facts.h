/*
 * Gathers what the controls judge by, by a handful of indexed look-ups.
 */
#ifndef DOMAIN_ACTIONS_FACTS_H
#define DOMAIN_ACTIONS_FACTS_H

#include "domain/actions/controls.h"

/* What is found lies in the context's arena. */
int facts_gather(struct context *, const struct create_action *,
    struct money amount, struct facts *, struct err *);

#endif
