/*
 * The content keys of a ledger, and what became of those that were destroyed.
 *
 * A key is a file of its own, KEYS/<workspace>/<environment>/content/<first two
 * hex digits>/<uid>.key, made and synced before the command whose event holds a
 * value under it. An event's members of the shape sealed_text_shape are found
 * by themselves: which event holds something under which key is a table of the
 * ledger's own (ledger_content_key).
 *
 * Erasing: the event `subject.erased` comes first, and when it is durable
 * ledger_settle_erasures writes it to the erasure list, content/erased/, and
 * destroys the keys. Whatever a crash leaves undone is done by the next call:
 * ledger_open makes one, and the worker does every minute. From the event on
 * readers are refused, key or no key. The list outlives the ledger: erasures
 * that a restored, older ledger does not know are appended to it again.
 */
#ifndef LEDGER_WRITE_CONTENT_H
#define LEDGER_WRITE_CONTENT_H

#include "ledger/crypto/sealed.h"
#include "ledger/write/ledger.h"

/* A new key, on disk. A command that is refused leaves it to
 * content_key_destroy; one whose process dies leaves a key that opens nothing.
 */
int content_key_make(struct ledger *, struct content_key *, struct err *);

/* err_not_found when it is not there. */
int content_key_load(
    struct ledger *, struct uid, struct content_key *, struct err *);

/* Overwrites and removes it, synced. 0 too when there is none. */
int content_key_destroy(struct ledger *, struct uid, struct err *);

/* The event that erased a key: 1, 0 when it is not erased, -1. */
struct erasure {
	uint64_t seq;
	struct instant at;
};
int erasure_find(struct db *, struct uid key, struct erasure *, struct err *);

/* Data of `subject.erased`, whose subject is the record that was erased. What
 * does not fit into one event is in further ones. */
struct subject_erased {
	struct str reason, requested_by;
	int64_t keys;        /* in all */
	struct list carried; /* struct carried_value */
	struct uid replays;
};
struct carried_value {
	struct uid key;
	int64_t seq;
};
#define CARRIED_PER_EVENT 400
extern const struct shape subject_erased_shape;
extern const struct event_type event_subject_erased;

/*
 * Emits what erases everything that the ledger holds of a subject; the keys go
 * by ledger_settle_erasures. err_not_found when nothing is known of it,
 * err_conflict when nothing of it is encrypted, err_erased when it is erased
 * already.
 */
int subject_erase(struct tx *, struct uid subject, struct str reason,
    struct str requested_by, struct err *);

/* Finishes every erasure that the ledger or the list knows of. */
int ledger_settle_erasures(struct ledger *, struct err *);

#endif
