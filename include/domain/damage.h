/*
 * Damage of a ledger's repository as the ledger itself records it: an alarm
 * when it is found, once, and another event when it is mended.
 */
#ifndef DOMAIN_DAMAGE_H
#define DOMAIN_DAMAGE_H

#include "ledger/codec/shape.h"
#include "ledger/write/scrub.h"

/* Told of by name; the others are counted. */
#define DAMAGE_TOLD_MAX  1000
#define DAMAGE_PER_EVENT 100

/* The repository is not as it was written. For programs, not for requests. */
extern const struct err_kind err_damaged;

/* What of a repository is not as it was written; see struct damage. */
struct damaged_object {
	struct str kind, name, what;
	struct opt_int first_seq, last_seq;
};
extern const struct shape damaged_object_shape;

struct damage_list {
	struct damaged_object *p;
	size_t n, room;
	uint64_t all; /* those beyond DAMAGE_TOLD_MAX counted as well */
};

void damage_list_add(
    struct damage_list *, struct arena *, const struct damage *);

/* Data of `ledger.scrubbed`. */
struct scrubbed {
	int64_t events, objects, bytes, damaged, seconds;
	struct instant started_at, finished_at;
};
extern const struct shape scrubbed_shape;

/* What a scrub or a repair found out. */
struct damage_news {
	struct damage_list found, mended;
	const struct scrubbed *scrubbed; /* a whole scrub ended; or NULL */
};

/* Emits what of it is news to the tables. Call while deciding. */
int damage_decide(struct tx *, const struct damage_news *, struct err *);

/* What is known to be damaged, at most DAMAGE_TOLD_MAX. */
int damage_read_open(
    struct db *, struct arena *, struct damage_list *, struct err *);

/* Of what is known to be damaged, adds to `mended` what is whole again. */
int damage_find_mended(struct ledger *, const struct ledger_options *,
    struct arena *, struct damage_list *mended, struct err *);

/* 1 found, 0 never scrubbed, -1. */
int damage_read_scrub(struct db *, struct scrubbed *, struct err *);

#endif
