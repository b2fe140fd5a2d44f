/*
 * Which other records an event names in its data: what it used, and what it
 * made beside its subject. References are pairs of kind and uid, in the order
 * in which the canonical data holds them, each once, the subject never.
 */
#ifndef DOMAIN_LINEAGE_REFERENCES_H
#define DOMAIN_LINEAGE_REFERENCES_H

#include "domain/context.h"

struct reference {
	struct str kind; /* a subject's kind: "source_record" */
	struct uid uid;
	struct reference *next;
};

struct references {
	struct reference *used, *made;
};

/* In c->arena; c->db is set. A void event's numbers mean no record: it made
 * none, and another event may have given the number since. */
int references_find(struct context *, const struct event *, bool is_void,
    struct references *, struct err *);

#endif
