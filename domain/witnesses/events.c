#include "domain/witnesses/group.h"

/* clang-format off */
SHAPE(cosignature, "A witness's cosignature of a checkpoint",
	FIELD(cosignature, size, .required = true, .min = 1, .doc = "Events that the checkpoint covers"),
	FIELD(cosignature, witness, .required = true, .max = WITNESS_NAME_MAX, .doc = "The witness's name"),
	FIELD(cosignature, key_id, .required = true, .min = 8, .max = 8, .doc = "Its key's id, eight hex digits"),
	FIELD(cosignature, line, .required = true, .max = 512, .doc = "Its signature line, to be put below the signed note"),
	FIELD(cosignature, time, .required = true, .doc = "When the witness signed, as it says"));
/* clang-format on */

EVENT_TYPE(checkpoint_cosigned, "checkpoint.cosigned", cosignature,
    "A witness cosigned a checkpoint of this ledger");

static int
project_checkpoint_cosigned(struct db *db, const struct event *ev,
    const struct cosignature *d, struct err *e)
{
	(void)ev;
	return db_run(db, e,
	    "INSERT INTO cosignature (size, witness, key_id, line, time)"
	    " VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
	    "issst", d->size, d->witness, d->key_id, d->line, d->time);
}
