/* The proof of the event that sealed the manifest, which comes in a reply, and
 * what else a reply says of that event. */
#include <inttypes.h>
#include <stdio.h>

#include "ledger/chain/manifest_run.h"

static int
corrupt(struct err *e, const char *why)
{
	return err_set(e, &err_corrupt, "%s", why);
}

/* Whether the note claims a signature by the key: one by a later key, of which
 * this file cannot know, says nothing against the reply. */
static bool
claims(const struct note *note, struct str origin, struct public_key key)
{
	uint32_t id = note_key_id(origin, key);

	for (size_t i = 0; i < note->n; i++)
		if (note->signatures[i].key_id == id &&
		    str_eq(note->signatures[i].name, origin))
			return true;
	return false;
}

/* The event that sealed the manifest comes after what it covers. The event
 * itself is not in the reply, so its place in the tree cannot be shown. */
static int
check_proof(struct manifest_run *run, struct str text, struct tlog_proof *proof,
    struct err *e)
{
	const struct evidence_key *k;
	struct checkpoint c;
	struct note note;

	if (tlog_proof_parse(run->a, text, proof, e) ||
	    note_parse(run->a, proof->checkpoint, &note, e) ||
	    checkpoint_parse(note.text, &c, e))
		return -1;
	if (!str_eq(c.origin, run->ev.origin))
		return corrupt(e, "the member proof is of another ledger");
	if (proof->index < run->checkpoint.size || proof->index >= c.size)
		return err_set(e, &err_corrupt,
		    "the member proof is of event %" PRIu64
		    ", which cannot have sealed it",
		    proof->index);
	k = evidence_key_at(&run->ev, c.size - 1);
	if (!k || !claims(&note, c.origin, k->key))
		return 0;
	if (!note_verify(&note, c.origin, k->key))
		return corrupt(
		    e, "the signature of the checkpoint in proof is bad");
	run->report->sealed = true;
	run->report->sealed_seq = proof->index;
	return 0;
}

/* The last place is for all that have no other. */
void
manifest_unchecked(struct manifest_report *r, const char *of, struct str name)
{
	size_t last = MANIFEST_UNCHECKED_MAX - 1;

	if (r->n_unchecked > last)
		return;
	if (r->n_unchecked == last || !manifest_is_name(name)) {
		of = "";
		name = STR("others");
	}
	snprintf(r->unchecked[r->n_unchecked++], MANIFEST_NAME_MAX + 1,
	    "%s%.*s", of, STR_ARGS(name));
}

static bool
is_index(const struct json *v, uint64_t index)
{
	uint64_t n;

	return v->type == JSON_NUMBER && str_to_u64(v->text, &n) && n == index;
}

static bool
is_key_id(const struct json *v, struct str origin, struct public_key key)
{
	char hex[9];

	snprintf(hex, sizeof hex, "%08x", note_key_id(origin, key));
	return v->type == JSON_STRING && str_is(v->text, hex);
}

/* The reply to the request that made it names the sealing event too. That
 * event is not in the file, so neither its hash nor its signature can be held
 * against anything. */
static int
compare_evidence(struct manifest_run *run, const struct json *evidence,
    const struct tlog_proof *proof, struct err *e)
{
	const struct evidence_key *k = NULL;

	if (proof && run->report->sealed)
		k = evidence_key_at(&run->ev, proof->index);
	for (const struct json *v = evidence->first; v; v = v->next) {
		bool good = true;

		if (str_is(v->name, "ledger"))
			good = str_eq(v->text, run->ev.origin);
		else if (proof && str_is(v->name, "seq"))
			good = is_index(v, proof->index);
		else if (proof && str_is(v->name, "checkpoint"))
			good = str_eq(v->text, proof->checkpoint);
		else if (k && str_is(v->name, "key_id"))
			good = is_key_id(v, run->ev.origin, k->key);
		else
			manifest_unchecked(run->report, "evidence.", v->name);
		if (!good)
			return err_set(e, &err_corrupt,
			    "%.*s in the member evidence is not what the "
			    "member proof says",
			    STR_ARGS(v->name));
	}
	return 0;
}

int
manifest_check_seal(struct manifest_run *run, struct err *e)
{
	const struct json *text = json_get(run->said, "proof");
	const struct json *evidence = json_get(run->said, "evidence");
	bool there = text && text->type != JSON_NULL;
	struct tlog_proof proof;

	if (there && text->type != JSON_STRING)
		return corrupt(e, "the member proof is not text");
	if (there) {
		if (check_proof(run, text->text, &proof, e))
			return -1;
		manifest_unchecked(run->report, "",
		    run->report->sealed ? STR("proof.path") : STR("proof"));
	}
	if (!evidence)
		return 0;
	if (evidence->type != JSON_OBJECT)
		return corrupt(e, "the member evidence is not an object");
	return compare_evidence(run, evidence, there ? &proof : NULL, e);
}
