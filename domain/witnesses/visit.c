/*
 * One witness asked (C2SP tlog-witness, add-checkpoint): what it cosigned last,
 * the proof that the ledger only grew since, the checkpoint. Everything that
 * comes back is foreign: capped, parsed, and kept only when it verifies.
 */
#include "domain/outbound.h"
#include "domain/witnesses/group.h"
#include "ledger/codec/text.h"

#define REPLY_MAX   4096
#define SECONDS     10
#define REQUEST_MAX (NOTE_MAX + 8192)

/* The hashes that lead from `old` events to the checkpoint's. */
static int
add_proof(const struct visit *v, uint64_t old, struct buf *b, struct err *e)
{
	struct merkle_proof proof = { .n = 0 };
	struct reading reading;
	int failed;

	if (old == 0)
		return 0;
	if (ledger_read_begin(v->ledger, &reading, e))
		return -1;
	failed = ledger_prove_consistency(
	    &reading, old, v->size, v->arena, &proof, e);
	ledger_read_end(&reading);
	for (size_t i = 0; !failed && i < proof.n; i++) {
		base64_add(b, (struct str){ (const char *)proof.hashes[i].b,
				  DIGEST_BYTES });
		buf_add_byte(b, '\n');
	}
	return failed;
}

static int
ask(const struct visit *v, uint64_t old, struct outbound_reply *reply,
    struct err *e)
{
	struct outbound_request request = {
		.url = arena_strf(
		    v->arena, "%.*s/add-checkpoint", STR_ARGS(v->witness->url)),
		.content_type = STR("text/plain; charset=utf-8"),
		.max_reply = REPLY_MAX,
		.seconds = SECONDS,
	};
	struct buf b;
	int failed;

	buf_init(&b, REQUEST_MAX);
	buf_addf(&b, "old %llu\n", (unsigned long long)old);
	failed = add_proof(v, old, &b, e);
	buf_add_byte(&b, '\n');
	buf_add(&b, v->checkpoint);
	request.body = buf_str(&b);
	if (!failed)
		failed = outbound_post(&request, v->arena, reply, e);
	buf_fini(&b);
	return failed;
}

/* The reply's lines are those of a note below the checkpoint's text. */
static int
take_cosignature(struct visit *v, struct str lines, struct err *e)
{
	const struct witness_key *key = &v->witness->key;
	struct note note, signed_note;
	struct str whole;

	if (note_parse(v->arena, v->checkpoint, &note, e))
		return -1;
	whole = arena_strf(
	    v->arena, "%.*s\n%.*s", STR_ARGS(note.text), STR_ARGS(lines));
	v->answer = (struct cosignature){
		.size = (int64_t)v->size,
		.witness = key->name,
		.key_id = arena_strf(v->arena, "%08x", key->key_id),
	};
	if (note_parse(v->arena, whole, &signed_note, NULL) ||
	    !str_eq(signed_note.text, note.text) ||
	    !cosignature_verify(
		&signed_note, key, v->arena, &v->answer.line, &v->answer.time))
		return err_set(e, &err_unavailable,
		    "%.*s answers without a good cosignature of its key %08x",
		    STR_ARGS(key->name), key->key_id);
	return 0;
}

static int
refuse(const struct visit *v, int status, struct err *e)
{
	static const struct {
		int status;
		const char *meaning;
	} meanings[] = {
		{ 400, "it cannot read the request" },
		{ 403, "it does not trust the ledger's key" },
		{ 404, "it does not know the ledger's origin" },
		{ 409, "the size that it cosigned is not the one it said" },
		{ 422, "the ledger does not continue what it has seen" },
	};
	const char *meaning = "it cannot say now";

	for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
		if (meanings[i].status == status)
			meaning = meanings[i].meaning;
	return err_set(e, &err_unavailable, "%.*s answers %d: %s",
	    STR_ARGS(v->witness->key.name), status, meaning);
}

/* "<size>" LF: the size that the witness cosigned last. */
static int
take_size(const struct visit *v, struct str body, uint64_t *old, struct err *e)
{
	struct str digits = str_take(&body, '\n');

	if (!body.p || body.n > 0 || !str_to_u64(digits, old))
		return err_set(e, &err_unavailable,
		    "%.*s answers 409 without a size",
		    STR_ARGS(v->witness->key.name));
	if (*old > v->size)
		return err_set(e, &err_unavailable,
		    "%.*s has cosigned %llu events, this checkpoint has %llu",
		    STR_ARGS(v->witness->key.name), (unsigned long long)*old,
		    (unsigned long long)v->size);
	return 0;
}

static int
make(struct visit *v, struct err *e)
{
	struct outbound_reply reply;
	uint64_t old = v->last;

	if (ask(v, old, &reply, e))
		return -1;
	if (reply.status == 409 &&
	    (take_size(v, reply.body, &old, e) || ask(v, old, &reply, e)))
		return -1;
	if (reply.status != 200)
		return refuse(v, reply.status, e);
	return take_cosignature(v, reply.body, e);
}

void
visit_make(struct visit *v)
{
	v->fault = (struct err){ 0 };
	make(v, &v->fault);
}
