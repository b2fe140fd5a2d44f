#include "ledger/crypto/note.h"

#include <string.h>

#include "ledger/codec/text.h"

#define ED25519        0x01 /* C2SP signed-note: the type of signature */
#define DASH           "\u2014 "
#define SIGNATURES_MAX 100

static uint32_t
u32_from(const uint8_t b[4])
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
	       (uint32_t)b[2] << 8 | b[3];
}

static void
u32_to(uint32_t v, uint8_t b[4])
{
	for (int i = 0; i < 4; i++)
		b[i] = (uint8_t)(v >> (24 - 8 * i));
}

uint32_t
note_key_id(struct str name, struct public_key k)
{
	struct str parts[] = { name, STR("\n\x01"),
		{ (const char *)k.b, sizeof k.b } };

	return u32_from(sha256_parts(parts, 3).b);
}

void
note_verifier_key(struct buf *b, struct str name, struct public_key k)
{
	uint8_t key[1 + sizeof k.b] = { ED25519 };

	memcpy(key + 1, k.b, sizeof k.b);
	buf_add(b, name);
	buf_addf(b, "+%08x+", note_key_id(name, k));
	base64_add(b, (struct str){ (const char *)key, sizeof key });
}

/* Characters beyond ASCII that Unicode calls white space. */
static bool
has_wide_space(struct str s)
{
	static const char *const spaces[] = { "\xc2\x85", "\xc2\xa0",
		"\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81", "\xe2\x80\x82",
		"\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86",
		"\xe2\x80\x87", "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a",
		"\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f",
		"\xe3\x80\x80" };

	for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
		if (memmem(s.p, s.n, spaces[i], strlen(spaces[i])))
			return true;
	return false;
}

static bool
is_name(struct str s)
{
	return s.n > 0 && str_find(s, ' ') == s.n && str_find(s, '+') == s.n &&
	       !has_wide_space(s);
}

static bool
is_text(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((uint8_t)s.p[i] < 0x20 && s.p[i] != '\n')
			return false;
	return str_is_utf8(s);
}

int
note_sign(const struct signer *signer, struct str text, struct buf *out,
    struct err *e)
{
	uint8_t id_and_bytes[4 + sizeof(struct signature)];
	struct signature sig;

	if (!is_text(text) || !str_has_suffix(text, STR("\n")))
		return err_set(
		    e, &err_internal, "this text cannot be a note's");
	if (signer_sign(signer, SIGNS_NOTE, text, &sig, e))
		return -1;
	u32_to(signer_key_id(signer), id_and_bytes);
	memcpy(id_and_bytes + 4, sig.b, sizeof sig.b);
	buf_add(out, text);
	buf_add(out, STR("\n" DASH));
	buf_add(out, signer_origin(signer));
	buf_add_byte(out, ' ');
	base64_add(out,
	    (struct str){ (const char *)id_and_bytes, sizeof id_and_bytes });
	buf_add_byte(out, '\n');
	if (buf_failed(out))
		return err_set(e, &err_internal, "no room for a signed note");
	return 0;
}

/* "— name base64", without its LF. */
static bool
parse_signature(struct arena *a, struct str line, struct note_signature *out)
{
	uint8_t *bytes;
	size_t n;

	if (!str_has_prefix(line, STR(DASH)))
		return false;
	line = str_slice(line, sizeof DASH - 1, line.n);
	out->name = str_take(&line, ' ');
	bytes = arena_alloc(a, line.n + 1);
	if (!is_name(out->name) || !base64_decode(line, bytes, line.n, &n) ||
	    n < 5)
		return false;
	out->key_id = u32_from(bytes);
	out->bytes = (struct str){ (const char *)bytes + 4, n - 4 };
	return true;
}

static size_t
count_lines(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += s.p[i] == '\n';
	return n;
}

/* Parts the text, which keeps its LF, from the lines after the last blank one.
 */
static bool
split(struct str bytes, struct str *text, struct str *lines)
{
	for (size_t i = bytes.n; i >= 2; i--) {
		if (bytes.p[i - 1] != '\n' || bytes.p[i - 2] != '\n')
			continue;
		*text = str_slice(bytes, 0, i - 1);
		*lines = str_slice(bytes, i, bytes.n);
		return str_has_suffix(*lines, STR("\n"));
	}
	return false;
}

int
note_parse(struct arena *a, struct str bytes, struct note *out, struct err *e)
{
	struct str lines;

	*out = (struct note){ .text = STR_NONE };
	if (bytes.n > NOTE_MAX)
		return err_set(e, &err_malformed,
		    "a signed note has at most %d bytes", NOTE_MAX);
	if (!is_text(bytes) || !split(bytes, &out->text, &lines))
		return err_set(e, &err_malformed,
		    "not a text, a blank line and signature lines");
	out->n = count_lines(lines);
	if (out->n > SIGNATURES_MAX)
		return err_set(e, &err_malformed,
		    "a signed note has at most %d signatures", SIGNATURES_MAX);
	out->signatures = arena_array(a, out->n, sizeof *out->signatures);
	for (size_t i = 0; i < out->n; i++)
		if (!parse_signature(
			a, str_take(&lines, '\n'), &out->signatures[i]))
			return err_set(e, &err_malformed,
			    "signature line %zu of the note is not one", i + 1);
	return 0;
}

struct str
note_kept(struct str bytes)
{
	if (str_has_suffix(bytes, STR("\n\n")))
		bytes.n--;
	return bytes;
}

bool
note_verify(const struct note *note, struct str name, struct public_key k)
{
	uint32_t id = note_key_id(name, k);
	bool found = false;

	for (size_t i = 0; i < note->n; i++) {
		const struct note_signature *s = &note->signatures[i];
		struct signature sig;

		if (s->key_id != id || !str_eq(s->name, name))
			continue;
		if (s->bytes.n != sizeof sig.b)
			return false;
		memcpy(sig.b, s->bytes.p, sizeof sig.b);
		if (!ed25519_verify(k, note->text, sig))
			return false;
		found = true;
	}
	return found;
}
