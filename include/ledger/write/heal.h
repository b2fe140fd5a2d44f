/*
 * Healing: what is damaged or missing of a ledger's repository is taken from a
 * mirror, which has to prove itself first: its whole history verifies with the
 * ledger's key, and it is the ledger's own, by the newest checkpoint that is
 * known here. Then every object is taken by id from a batch that was verified.
 *
 * The service may run. The turn is taken only to put the branch back.
 */
#ifndef LEDGER_WRITE_HEAL_H
#define LEDGER_WRITE_HEAL_H

#include "ledger/write/scrub.h"

/* The mirror does not verify, or is not this ledger's. Nothing was changed. */
extern const struct err_kind err_mirror_unfit;

struct heal_options {
	/* Each damage, and whether it is mended. */
	void (*outcome)(void *, const struct damage *, bool mended);
	/* Events gone over; may be NULL. */
	void (*progress)(void *, uint64_t done, uint64_t total);
	void *arg;
};

struct heal_report {
	uint64_t events;       /* gone over */
	uint64_t mirror_size;  /* events that the mirror holds */
	uint64_t mended, left; /* damages */
	uint64_t moved;        /* whole objects taken out of damaged packs */
};

/*
 * from: a bare repository or a clone, on this machine. Damaged packs end in the
 * folder `damaged` of the repository, once all that the branch reaches is whole
 * without them and verifies again. err_mirror_unfit; err_not_found where
 * nothing here tells how far the ledger had come; err_no_space, err_corrupt
 * when it does not verify afterwards.
 */
int ledger_heal(const struct ledger_options *, const char *from,
    const struct heal_options *, struct heal_report *, struct err *);

#endif
