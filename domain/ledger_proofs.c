#include "domain/ledger_proofs.h"

#include "ledger/chain/signers.h"

int
signed_root_read(struct context *c, struct opt_int size,
    struct signed_root *out, struct err *e)
{
	struct checkpoint says;
	struct note note;

	out->size = size.set ? (uint64_t)size.v : 0;
	if (ledger_read_checkpoint(
		c->reading, &out->size, c->arena, &out->note, e))
		return -1;
	if (note_parse(c->arena, out->note, &note, NULL) ||
	    checkpoint_parse(note.text, &says, NULL) || says.size != out->size)
		return err_set(e, &err_corrupt,
		    "the checkpoint of size %llu cannot be read",
		    (unsigned long long)out->size);
	out->root = says.root;
	return 0;
}

int
inclusion_prove(struct context *c, int64_t seq, const struct signed_root *at,
    struct inclusion *out, struct err *e)
{
	struct tlog_proof proof = { .index = (uint64_t)seq,
		.checkpoint = at->note };
	struct buf b;

	if (ledger_read_event(
		c->reading, (uint64_t)seq, c->arena, &out->event, e) ||
	    ledger_prove_inclusion(
		c->reading, (uint64_t)seq, at->size, c->arena, &out->path, e))
		return -1;
	proof.path = out->path;
	buf_init(&b, NOTE_MAX + 8192);
	tlog_proof_add(&b, &proof);
	out->tlog_proof = arena_str(c->arena, buf_str(&b));
	buf_fini(&b);
	return 0;
}

int
key_history_prove(struct context *c, const struct signed_root *at,
    struct key_history *out, struct err *e)
{
	struct evidence_key *keys =
	    arena_array(c->arena, EVIDENCE_KEYS, sizeof *keys);
	struct signers *signers = ARENA_NEW(c->arena, struct signers);
	uint64_t named_by[EVIDENCE_KEYS];
	struct inclusion proof;

	if (ledger_read_keys(c->reading, signers, e))
		return -1;
	out->n = evidence_keys_from(signers, at->size, keys, named_by);
	out->keys = keys;
	for (size_t i = 1; i < out->n; i++) {
		if (inclusion_prove(c, (int64_t)named_by[i], at, &proof, e))
			return -1;
		keys[i].line = proof.event.line;
		keys[i].proof = proof.tlog_proof;
	}
	return 0;
}
