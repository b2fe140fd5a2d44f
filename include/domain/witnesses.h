/*
 * Witnesses: independent services that cosign a checkpoint when it continues
 * what they saw before (C2SP tlog-witness), so that the ledger's key alone
 * cannot show two histories to two readers. What they said stands beside the
 * checkpoints, as events on later ones.
 */
#ifndef DOMAIN_WITNESSES_H
#define DOMAIN_WITNESSES_H

#include "domain/context.h"
#include "ledger/codec/shape.h"

/* What `checkpoint.cosigned` records. */
struct cosignature {
	int64_t size;        /* of the checkpoint, in events */
	struct str witness;  /* its name */
	struct str key_id;   /* 8 hexadecimal digits */
	struct str line;     /* the note's signature line, LF included */
	struct instant time; /* when the witness signed, as it says */
};
extern const struct shape cosignature_shape;

/* The cosignatures of the checkpoint of that size by the witnesses that are
 * configured, and whether they are as many as configured. */
struct cosignatures {
	struct list items; /* struct cosignature */
	bool enough;
};
int witnesses_read(
    struct context *, uint64_t size, struct cosignatures *, struct err *);

/* The size of the newest checkpoint that has enough. err_not_found. */
int witnesses_find_newest(struct context *, uint64_t *size, struct err *);

/* What the service asks of witnesses, and what came of it. */
struct witnesses_state {
	bool unknown; /* the configured list cannot be read */
	size_t asked, minimum;
	uint64_t newest;       /* size of the newest checkpoint with enough;
				  0: there is none */
	struct instant latest; /* when it was last cosigned */
	struct instant first;  /* when any checkpoint was cosigned first */
};
int witnesses_describe(
    struct context *, struct witnesses_state *, struct err *);

#endif
