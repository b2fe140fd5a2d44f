#include "ledger/chain/pinned.h"

#include "ledger/chain/batch.h"

bool
pinned_has(const struct pinned *p, struct public_key key)
{
	for (size_t i = 0; i < p->n; i++)
		if (public_key_eq(p->keys[i], key))
			return true;
	return false;
}

static int
by_another(const char *what, uint32_t key_id, struct err *e)
{
	return err_set(e, &err_not_found,
	    "%s is signed by key id %08x, which was not given: give that key "
	    "with another --key",
	    what, key_id);
}

/* Whether one of the keys has that id under this name. */
static bool
has_id(const struct pinned *p, struct str origin, uint32_t key_id)
{
	for (size_t i = 0; i < p->n; i++)
		if (note_key_id(origin, p->keys[i]) == key_id)
			return true;
	return false;
}

bool
pinned_note_key_id(const struct note *note, struct str origin, uint32_t *key_id)
{
	for (size_t i = 0; i < note->n; i++)
		if (str_eq(note->signatures[i].name, origin)) {
			*key_id = note->signatures[i].key_id;
			return true;
		}
	return false;
}

/* Why none of them signed it. Other names are those of witnesses. */
static int
refuse_note(const struct pinned *p, const struct note *note, struct str origin,
    struct err *e)
{
	uint32_t key_id;

	if (!pinned_note_key_id(note, origin, &key_id))
		return err_set(e, &err_corrupt,
		    "the checkpoint is not signed by its ledger");
	for (size_t i = 0; i < note->n; i++)
		if (str_eq(note->signatures[i].name, origin) &&
		    has_id(p, origin, note->signatures[i].key_id))
			return err_set(e, &err_corrupt,
			    "the checkpoint's signature is bad");
	return by_another("the checkpoint", key_id, e);
}

int
pinned_of_note(const struct pinned *p, const struct note *note,
    struct str origin, struct public_key *out, struct err *e)
{
	for (size_t i = 0; i < p->n; i++)
		if (note_verify(note, origin, p->keys[i])) {
			*out = p->keys[i];
			return 0;
		}
	return refuse_note(p, note, origin, e);
}

int
pinned_of_line(const struct pinned *p, const struct batch_line *line,
    struct str origin, struct public_key *out, struct err *e)
{
	struct signature sig;
	uint32_t key_id;

	for (size_t i = 0; i < p->n; i++) {
		if (!batch_line_signature(
			line, note_key_id(origin, p->keys[i]), &sig))
			continue;
		*out = p->keys[i];
		return ed25519_verify(p->keys[i], line->event, sig)
			   ? 0
			   : err_set(e, &err_corrupt,
				 "the event's signature is bad");
	}
	if (!batch_line_key_id(line, &key_id) || has_id(p, origin, key_id))
		return err_set(
		    e, &err_corrupt, "the line's signatures are malformed");
	return by_another("the event", key_id, e);
}
