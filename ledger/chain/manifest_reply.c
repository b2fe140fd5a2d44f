/* What the service's reply says beside the envelope: it must say the same. */
#include <inttypes.h>
#include <string.h>

#include "ledger/chain/manifest_run.h"

static int
corrupt(struct err *e, const char *why)
{
	return err_set(e, &err_corrupt, "%s", why);
}

static int
compare_manifest(struct manifest_run *run, struct err *e)
{
	struct manifest_part there = run->manifest;
	struct manifest_part ours = { run->statement, 0, run->statement_bytes };
	char x[32768], y[32768];
	size_t n, m;

	there.fd = run->fd;
	if (there.end - there.at != ours.end)
		return corrupt(e, "the member manifest is not, byte for byte, "
				  "what the envelope holds");
	do {
		if (manifest_part_read(&there, x, sizeof x, &n, e) ||
		    manifest_part_read(&ours, y, sizeof y, &m, e))
			return -1;
		if (memcmp(x, y, n) != 0)
			return corrupt(e, "the member manifest is not, byte "
					  "for byte, what the envelope holds");
	} while (n > 0);
	return 0;
}

static int
compare_hash(const struct manifest_run *run, struct err *e)
{
	char hex[DIGEST_HEX + 1];

	digest_hex(run->report->sha256, hex);
	if (!run->manifest_sha256 ||
	    run->manifest_sha256->type != JSON_STRING ||
	    !str_is(run->manifest_sha256->text, hex))
		return corrupt(e, "manifest_sha256 is not the hash of what the "
				  "envelope holds");
	return 0;
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
check_proof(struct manifest_run *run, struct err *e)
{
	const struct evidence_key *k;
	struct tlog_proof proof;
	struct checkpoint c;
	struct note note;

	if (run->proof->type != JSON_STRING)
		return corrupt(e, "the member proof is not text");
	if (tlog_proof_parse(run->a, run->proof->text, &proof, e) ||
	    note_parse(run->a, proof.checkpoint, &note, e) ||
	    checkpoint_parse(note.text, &c, e))
		return -1;
	if (!str_eq(c.origin, run->ev.origin))
		return corrupt(e, "the member proof is of another ledger");
	if (proof.index < run->checkpoint.size || proof.index >= c.size)
		return err_set(e, &err_corrupt,
		    "the member proof is of event %" PRIu64
		    ", which cannot have sealed it",
		    proof.index);
	k = evidence_key_at(&run->ev, c.size - 1);
	if (!k || !claims(&note, c.origin, k->key))
		return 0;
	if (!note_verify(&note, c.origin, k->key))
		return corrupt(
		    e, "the signature of the checkpoint in proof is bad");
	run->report->sealed = true;
	run->report->sealed_seq = proof.index;
	return 0;
}

int
manifest_check_reply(struct manifest_run *run, struct err *e)
{
	run->check = "reply";
	if (!run->report->reply)
		return 0;
	if (compare_manifest(run, e) || compare_hash(run, e))
		return -1;
	if (!run->proof || run->proof->type == JSON_NULL)
		return 0;
	return check_proof(run, e);
}
