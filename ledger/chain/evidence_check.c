#include <assert.h>
#include <inttypes.h>

#include "ledger/chain/evidence_keys.h"

static int
fails(struct evidence_shown *shown, const char *check)
{
	shown->check = check;
	return -1;
}

const struct evidence_key *
evidence_key_at(const struct evidence *ev, uint64_t seq)
{
	for (size_t i = 0; i < ev->n_keys; i++)
		if (seq >= ev->keys[i].from_seq &&
		    (!ev->keys[i].ended || seq <= ev->keys[i].until_seq))
			return &ev->keys[i];
	return NULL;
}

/* The key by which event `seq` or its checkpoint is signed. */
static int
choose_key(const struct evidence *ev, uint64_t seq, struct public_key *out,
    struct err *e)
{
	const struct evidence_key *k = evidence_key_at(ev, seq);

	if (!k)
		return err_set(e, &err_corrupt,
		    "no key was in force at event %" PRIu64, seq);
	*out = k->key;
	return 0;
}

/* The pinned key answers for the checkpoint by itself, or by the keys that came
 * after it; the tree answers for all that came before. */
static int
check_pinned(const struct evidence *ev, const struct evidence_shown *shown,
    const struct public_key *pinned, struct err *e)
{
	const struct evidence_key *signs =
	    evidence_key_at(ev, shown->checkpoint.size - 1);

	if (!pinned)
		return 0;
	assert(signs); /* check_checkpoint found it */
	for (const struct evidence_key *k = ev->keys; k <= signs; k++)
		if (public_key_eq(k->key, *pinned))
			return 0;
	return err_set(
	    e, &err_corrupt, "the key in the file is not the one given");
}

static int
check_event(struct arena *a, const struct evidence *ev,
    struct evidence_shown *shown, struct err *e)
{
	if (batch_line_parse(a, ev->line, &shown->line, e) ||
	    event_parse(a, shown->line.event, &shown->event, e))
		return -1;
	if (!str_eq(shown->event.ledger, ev->origin))
		return err_set(e, &err_corrupt,
		    "the event is of another ledger: %.*s",
		    STR_ARGS(shown->event.ledger));
	if (shown->event.seq != shown->proof.index)
		return err_set(e, &err_corrupt,
		    "the event is number %" PRIu64
		    ", the proof is of number %" PRIu64,
		    shown->event.seq, shown->proof.index);
	return 0;
}

static int
check_signature(
    const struct evidence *ev, struct evidence_shown *shown, struct err *e)
{
	struct signature sig;

	if (!batch_line_signature(
		&shown->line, note_key_id(ev->origin, shown->event_key), &sig))
		return err_set(e, &err_corrupt,
		    "the line has no signature by the key, or more than one");
	if (!ed25519_verify(shown->event_key, shown->line.event, sig))
		return err_set(e, &err_corrupt, "the event's signature is bad");
	return 0;
}

static int
check_checkpoint(struct arena *a, const struct evidence *ev,
    struct evidence_shown *shown, struct err *e)
{
	struct note note;

	if (note_parse(a, shown->proof.checkpoint, &note, e) ||
	    checkpoint_parse(note.text, &shown->checkpoint, e))
		return -1;
	if (!str_eq(shown->checkpoint.origin, ev->origin))
		return err_set(e, &err_corrupt,
		    "the checkpoint is of another ledger: %.*s",
		    STR_ARGS(shown->checkpoint.origin));
	if (shown->checkpoint.size == 0)
		return err_set(
		    e, &err_corrupt, "the checkpoint is of an empty ledger");
	if (choose_key(
		ev, shown->checkpoint.size - 1, &shown->checkpoint_key, e))
		return -1;
	if (!note_verify(&note, ev->origin, shown->checkpoint_key))
		return err_set(
		    e, &err_corrupt, "the checkpoint's signature is bad");
	return 0;
}

static int
check_path(const struct evidence_shown *shown, struct err *e)
{
	if (!proof_includes(merkle_leaf(shown->line.event), shown->proof.index,
		shown->checkpoint.size, &shown->proof.path,
		shown->checkpoint.root))
		return err_set(e, &err_corrupt,
		    "the event is not in the tree of %" PRIu64 " events",
		    shown->checkpoint.size);
	return 0;
}

int
evidence_check(struct arena *a, const struct evidence *ev,
    const struct public_key *pinned, struct evidence_shown *shown,
    struct err *e)
{
	*shown = (struct evidence_shown){ 0 };
	if (tlog_proof_parse(a, ev->proof, &shown->proof, e))
		return fails(shown, "format");
	if (choose_key(ev, shown->proof.index, &shown->event_key, e) ||
	    (ev->n_keys == 1 && pinned &&
		!public_key_eq(*pinned, shown->event_key) &&
		err_set(e, &err_corrupt,
		    "the key in the file is not the one given")))
		return fails(shown, "key");
	if (check_event(a, ev, shown, e) || check_signature(ev, shown, e))
		return fails(shown, "event");
	if (check_checkpoint(a, ev, shown, e))
		return fails(shown, "checkpoint");
	if (check_path(shown, e))
		return fails(shown, "proof");
	if (evidence_check_keys(a, ev, shown, e) ||
	    check_pinned(ev, shown, pinned, e))
		return fails(shown, "key");
	return 0;
}
