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

static int
not_given(const struct evidence *ev, const struct pinned *pinned,
    struct public_key signs, const char *what, struct err *e)
{
	return err_set(e, &err_corrupt, "%s: key id %08x signed the %s",
	    pinned->n == 1 ? "the key in the file is not the one given"
			   : "no key in the file is one of those given",
	    note_key_id(ev->origin, signs), what);
}

/* A file of one key is refused before anything else is looked at. */
static int
check_only_key(const struct evidence *ev, const struct evidence_shown *shown,
    const struct pinned *pinned, struct err *e)
{
	if (!pinned || ev->n_keys != 1 || pinned_has(pinned, shown->event_key))
		return 0;
	return not_given(ev, pinned, shown->event_key, "event", e);
}

/* A pinned key answers for the checkpoint by itself, or by the keys that came
 * after it; the tree answers for all that came before. */
static int
check_pinned(const struct evidence *ev, const struct evidence_shown *shown,
    const struct pinned *pinned, struct err *e)
{
	const struct evidence_key *signs =
	    evidence_key_at(ev, shown->checkpoint.size - 1);

	if (!pinned)
		return 0;
	assert(signs); /* check_checkpoint found it */
	for (const struct evidence_key *k = ev->keys; k <= signs; k++)
		if (pinned_has(pinned, k->key))
			return 0;
	return not_given(ev, pinned, signs->key, "checkpoint", e);
}

static int
check_event(struct arena *a, struct str line, struct str origin,
    struct evidence_shown *shown, struct err *e)
{
	if (batch_line_parse(a, line, &shown->line, e) ||
	    event_parse(a, shown->line.event, &shown->event, e))
		return -1;
	if (!str_eq(shown->event.ledger, origin))
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
read_checkpoint(struct arena *a, struct note *note,
    struct evidence_shown *shown, struct err *e)
{
	if (note_parse(a, shown->proof.checkpoint, note, e) ||
	    checkpoint_parse(note->text, &shown->checkpoint, e))
		return -1;
	if (shown->checkpoint.size == 0)
		return err_set(
		    e, &err_corrupt, "the checkpoint is of an empty ledger");
	return 0;
}

static int
check_checkpoint(struct arena *a, const struct evidence *ev,
    struct evidence_shown *shown, struct err *e)
{
	struct note note;

	if (read_checkpoint(a, &note, shown, e))
		return -1;
	if (!str_eq(shown->checkpoint.origin, ev->origin))
		return err_set(e, &err_corrupt,
		    "the checkpoint is of another ledger: %.*s",
		    STR_ARGS(shown->checkpoint.origin));
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
    const struct pinned *pinned, struct evidence_shown *shown, struct err *e)
{
	*shown = (struct evidence_shown){ 0 };
	if (tlog_proof_parse(a, ev->proof, &shown->proof, e))
		return fails(shown, "format");
	if (choose_key(ev, shown->proof.index, &shown->event_key, e) ||
	    check_only_key(ev, shown, pinned, e))
		return fails(shown, "key");
	if (check_event(a, ev->line, ev->origin, shown, e) ||
	    check_signature(ev, shown, e))
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

/* What kind of failure a missing key is, the caller need not tell apart. */
static int
refuse(struct evidence_shown *shown, const char *check, struct err *e)
{
	if (e && e->kind == &err_not_found)
		e->kind = &err_corrupt;
	return fails(shown, check);
}

int
evidence_check_bare(struct arena *a, struct str line, struct str proof,
    const struct pinned *pinned, struct evidence_shown *shown, struct err *e)
{
	struct str origin;
	struct note note;

	*shown = (struct evidence_shown){ 0 };
	if (tlog_proof_parse(a, proof, &shown->proof, e))
		return fails(shown, "format");
	if (read_checkpoint(a, &note, shown, e))
		return fails(shown, "checkpoint");
	origin = shown->checkpoint.origin;
	if (check_event(a, line, origin, shown, e) ||
	    pinned_of_line(pinned, &shown->line, origin, &shown->event_key, e))
		return refuse(shown, "event", e);
	if (pinned_of_note(pinned, &note, origin, &shown->checkpoint_key, e))
		return refuse(shown, "checkpoint", e);
	if (check_path(shown, e))
		return fails(shown, "proof");
	return 0;
}
