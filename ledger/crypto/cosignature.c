#include "ledger/crypto/cosignature.h"

#include <string.h>

#include "ledger/codec/text.h"

#define ED25519_COSIGNATURE 0x04
#define HASH_DIGITS         8
#define TIME_BYTES          8
#define YEAR_10000_S        UINT64_C(253402300800)
#define LINE_MAX            512
#define DASH                "\u2014 "

uint32_t
witness_key_id(struct str name, struct public_key k)
{
	struct str parts[] = { name, STR("\n\x04"),
		{ (const char *)k.b, sizeof k.b } };
	struct digest d = sha256_parts(parts, 3);

	return (uint32_t)d.b[0] << 24 | (uint32_t)d.b[1] << 16 |
	       (uint32_t)d.b[2] << 8 | d.b[3];
}

static bool
is_name(struct str s)
{
	if (s.n == 0 || s.n > WITNESS_NAME_MAX)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] <= ' ' || (unsigned char)s.p[i] > '~')
			return false;
	return true;
}

int
witness_key_parse(struct str text, struct witness_key *out, struct err *e)
{
	uint8_t hash[HASH_DIGITS / 2], key[1 + sizeof out->key.b];
	struct str digits;
	size_t n;

	out->name = str_take(&text, '+');
	digits = str_take(&text, '+');
	if (!is_name(out->name) || !hex_decode(digits, hash, sizeof hash) ||
	    !text.p || !base64_decode(text, key, sizeof key, &n) ||
	    n != sizeof key)
		return err_set(e, &err_malformed,
		    "a witness's key is name+hash+base64, the hash 8 digits");
	if (key[0] != ED25519_COSIGNATURE)
		return err_set(e, &err_malformed,
		    "the key of %.*s is not for cosignatures (type 4)",
		    STR_ARGS(out->name));
	memcpy(out->key.b, key + 1, sizeof out->key.b);
	out->key_id = witness_key_id(out->name, out->key);
	if (out->key_id != ((uint32_t)hash[0] << 24 | (uint32_t)hash[1] << 16 |
			       (uint32_t)hash[2] << 8 | hash[3]))
		return err_set(e, &err_malformed,
		    "the hash of %.*s is not its key's", STR_ARGS(out->name));
	return 0;
}

static uint64_t
time_of(struct str bytes)
{
	uint64_t s = 0;

	for (size_t i = 0; i < TIME_BYTES; i++)
		s = s << 8 | (uint8_t)bytes.p[i];
	return s;
}

/* 0 when the signature is not good. */
static uint64_t
verified_time(
    struct str text, struct public_key key, const struct note_signature *s)
{
	struct signature sig;
	struct buf b;
	uint64_t seconds;
	bool good;

	if (s->bytes.n != TIME_BYTES + sizeof sig.b)
		return 0;
	seconds = time_of(s->bytes);
	if (seconds >= YEAR_10000_S)
		return 0;
	memcpy(sig.b, s->bytes.p + TIME_BYTES, sizeof sig.b);
	buf_init(&b, NOTE_MAX + 64);
	buf_addf(
	    &b, "cosignature/v1\ntime %llu\n", (unsigned long long)seconds);
	buf_add(&b, text);
	good = !buf_failed(&b) && ed25519_verify(key, buf_str(&b), sig);
	buf_fini(&b);
	return good ? seconds : 0;
}

static struct str
line_of(struct arena *a, const struct note_signature *s)
{
	struct buf bytes, line;
	struct str out;

	buf_init(&bytes, 4 + s->bytes.n);
	buf_add_u32be(&bytes, s->key_id);
	buf_add(&bytes, s->bytes);
	buf_init(&line, LINE_MAX);
	buf_add(&line, STR(DASH));
	buf_add(&line, s->name);
	buf_add_byte(&line, ' ');
	base64_add(&line, buf_str(&bytes));
	buf_add_byte(&line, '\n');
	out = arena_str(a, buf_str(&line));
	buf_fini(&bytes);
	buf_fini(&line);
	return out;
}

bool
cosignature_verify(const struct note *note, const struct witness_key *witness,
    struct arena *a, struct str *line, struct instant *at)
{
	const struct note_signature *found = NULL;

	for (size_t i = 0; i < note->n; i++) {
		const struct note_signature *s = &note->signatures[i];
		uint64_t seconds;

		if (s->key_id != witness->key_id ||
		    !str_eq(s->name, witness->name))
			continue;
		seconds = verified_time(note->text, witness->key, s);
		if (seconds == 0)
			return false;
		at->us = (int64_t)seconds * 1000000;
		found = s;
	}
	if (!found)
		return false;
	*line = line_of(a, found);
	return true;
}
