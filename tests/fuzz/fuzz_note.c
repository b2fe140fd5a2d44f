/*
 * note_parse and checkpoint_parse take nothing that has a second form: what
 * they accept, written anew, is the input.
 */
#include <stdlib.h>

#include "ledger/codec/text.h"
#include "ledger/crypto/note.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
add_signature(struct buf *b, const struct note_signature *s)
{
	struct buf bytes;

	buf_init(&bytes, NOTE_MAX);
	buf_add_u32be(&bytes, s->key_id);
	buf_add(&bytes, s->bytes);
	buf_add_cstr(b, "\u2014 ");
	buf_add(b, s->name);
	buf_add_byte(b, ' ');
	base64_add(b, buf_str(&bytes));
	buf_add_byte(b, '\n');
	buf_fini(&bytes);
}

static void
check_note(const struct note *note, struct str input)
{
	struct buf b;

	buf_init(&b, NOTE_MAX);
	buf_add(&b, note->text);
	buf_add_byte(&b, '\n');
	for (size_t i = 0; i < note->n; i++)
		add_signature(&b, &note->signatures[i]);
	if (!str_eq(buf_str(&b), input))
		abort();
	buf_fini(&b);
}

static void
check_checkpoint(const struct checkpoint *c, struct str text)
{
	struct buf b;

	buf_init(&b, NOTE_MAX);
	checkpoint_text(&b, c);
	if (!str_eq(buf_str(&b), text))
		abort();
	buf_fini(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct arena *a = arena_new();
	struct str input = { (const char *)p, n };
	struct checkpoint c;
	struct note note;
	struct err e = { 0 };

	if (note_parse(a, input, &note, &e)) {
		if (e.kind != &err_malformed)
			abort();
		note.text = input; /* perhaps a checkpoint by itself */
	} else {
		check_note(&note, input);
		note_verify(&note, STR("a"), (struct public_key){ { 9 } });
	}
	if (note.text.n <= NOTE_MAX / 2 &&
	    checkpoint_parse(note.text, &c, &e) == 0)
		check_checkpoint(&c, note.text);
	origin_is_valid(input);
	arena_free(a);
	return 0;
}
