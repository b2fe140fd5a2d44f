#ifndef DOMAIN_WITNESSES_GROUP_H
#define DOMAIN_WITNESSES_GROUP_H

#include "domain/job.h"
#include "domain/service.h"
#include "domain/witnesses.h"
#include "ledger/crypto/cosignature.h"

#define WITNESSES_MAX   16
#define WITNESS_URL_MAX 500

extern const struct job_kind job_ledger_witness;
extern const struct event_type event_checkpoint_cosigned;

struct witness {
	struct witness_key key;
	struct str url; /* without a slash at its end */
};

struct witness_list {
	struct witness *items; /* n = 0: none is configured */
	size_t n;
	size_t minimum; /* of these must have cosigned */
};

/* Reads the configured file. err_invalid names the line that is wrong. */
int witness_list_read(
    struct service *, struct arena *, struct witness_list *, struct err *);

/* The largest size that this witness cosigned; 0: none. With NULL, any. */
int witness_last_size(
    struct db *, const struct witness *, uint64_t *out, struct err *);

/* Whether something was appended since the ledger had that size, besides the
 * events of the jobs that carry it to witnesses and other places. */
int witness_has_news(struct context *, uint64_t since, bool *out, struct err *);

/*
 * One witness asked to cosign one checkpoint, in a thread of its own: one that
 * is slow keeps none of the others waiting.
 */
struct visit {
	const struct witness *witness;
	struct ledger *ledger;
	uint64_t last; /* size that it cosigned, as far as we know */
	uint64_t size; /* of the checkpoint */
	struct str checkpoint;
	struct arena *arena; /* of this visit alone */
	/* Afterwards: */
	struct err fault;          /* kind NULL: it cosigned */
	struct cosignature answer; /* in the arena */
};
void visit_make(struct visit *);

#endif
