#include "ledger/store/pack_entry.h"

#include <string.h>
#include <zlib.h>

#include "ledger/crypto/hash.h"

#define HEAD 12 /* "PACK", version, number of entries */

static int
corrupt(struct err *e, const char *why)
{
	return err_set(e, &err_corrupt, "not a whole git pack: %s", why);
}

static uint32_t
u32_at(struct str s, size_t at)
{
	const uint8_t *p = (const uint8_t *)s.p + at;

	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

int
pack_head(struct str pack, uint32_t *n, struct err *e)
{
	uint8_t sum[SHA1_BYTES];
	struct str body;

	if (pack.n < HEAD + SHA1_BYTES || memcmp(pack.p, "PACK", 4) != 0 ||
	    u32_at(pack, 4) != 2)
		return corrupt(e, "it does not begin as one of version 2");
	body = str_slice(pack, 0, pack.n - SHA1_BYTES);
	sha1_parts(&body, 1, sum);
	if (memcmp(sum, pack.p + body.n, SHA1_BYTES) != 0)
		return corrupt(e, "its SHA-1 is another");
	*n = u32_at(pack, 8);
	return 0;
}

/* The next byte before the trailing SHA-1. */
static bool
take(struct str pack, size_t *at, uint8_t *out)
{
	if (*at >= pack.n - SHA1_BYTES)
		return false;
	*out = (uint8_t)pack.p[(*at)++];
	return true;
}

/* Type and length: three bits and a number, its lowest bits first. */
static bool
take_type(struct str pack, size_t *at, struct pack_entry *entry, size_t *n)
{
	unsigned shift = 4;
	uint8_t c;

	if (!take(pack, at, &c))
		return false;
	entry->type = c >> 4 & 7;
	*n = c & 15;
	for (; c & 0x80; shift += 7) {
		if (shift > 53 || !take(pack, at, &c))
			return false;
		*n |= (size_t)(c & 0x7f) << shift;
	}
	return true;
}

/* How far before the entry its base is: each byte but the last counts one
 * more, so that every distance has one form. */
static bool
take_distance(struct str pack, size_t *at, struct pack_entry *entry)
{
	size_t distance = 0;
	uint8_t c;

	for (int i = 0; i < 8; i++) {
		if (!take(pack, at, &c))
			return false;
		distance = distance << 7 | (c & 0x7f);
		if (!(c & 0x80)) {
			entry->base_at = entry->at - distance;
			return distance > 0 && distance <= entry->at;
		}
		distance++;
	}
	return false;
}

static bool
take_base(struct str pack, size_t *at, struct pack_entry *entry)
{
	if (entry->type == ENTRY_OFS_DELTA)
		return take_distance(pack, at, entry);
	if (entry->type != ENTRY_REF_DELTA)
		return entry->type >= OBJECT_COMMIT &&
		       entry->type <= OBJECT_BLOB;
	for (size_t i = 0; i < OID_BYTES; i++)
		if (!take(pack, at, &entry->base.b[i]))
			return false;
	return true;
}

/* Exactly n bytes, and the end of the compressed stream. */
static bool
inflate_all(struct str in, size_t *used, uint8_t *out, size_t n)
{
	uint8_t more;
	z_stream z = { .avail_in = (uInt)in.n };
	int rc;

	/* zlib has no const here, and does not write there. */
	memcpy(&z.next_in, &in.p, sizeof z.next_in);
	if (inflateInit(&z) != Z_OK)
		return false;
	z.next_out = n ? out : &more;
	z.avail_out = (uInt)n;
	rc = inflate(&z, Z_FINISH);
	if (rc == Z_BUF_ERROR && z.avail_out == 0) {
		z.next_out = &more;
		z.avail_out = 1;
		rc = inflate(&z, Z_FINISH);
		n += z.avail_out == 0;
	}
	*used = in.n - z.avail_in;
	inflateEnd(&z);
	return rc == Z_STREAM_END && z.total_out == n;
}

int
pack_entry_read(struct str pack, size_t *at, size_t *room, struct arena *a,
    struct pack_entry *entry, struct err *e)
{
	size_t n, used;
	uint8_t *out;

	*entry = (struct pack_entry){ .at = *at };
	if (!take_type(pack, at, entry, &n) || !take_base(pack, at, entry))
		return corrupt(e, "an entry's head is malformed");
	if (n > *room)
		return err_set(e, &err_too_large,
		    "the objects of the pack are too large together");
	*room -= n;
	out = arena_alloc(a, n + 1);
	if (!inflate_all(
		str_slice(pack, *at, pack.n - SHA1_BYTES), &used, out, n))
		return corrupt(e, "an entry cannot be unpacked");
	*at += used;
	entry->bytes = (struct str){ (const char *)out, n };
	return 0;
}

/* A number, its lowest seven bits first. */
static bool
take_number(struct str *s, size_t *out)
{
	*out = 0;
	for (unsigned shift = 0; shift < 56 && s->n > 0; shift += 7) {
		uint8_t c = (uint8_t)s->p[0];

		*s = str_slice(*s, 1, s->n);
		*out |= (size_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return true;
	}
	return false;
}

/* The bytes of a number that the bits of `which` name, lowest first. */
static bool
take_some(struct str *s, unsigned which, size_t *out)
{
	*out = 0;
	for (unsigned shift = 0; which; which >>= 1, shift += 8) {
		if (!(which & 1))
			continue;
		if (s->n == 0)
			return false;
		*out |= (size_t)(uint8_t)s->p[0] << shift;
		*s = str_slice(*s, 1, s->n);
	}
	return true;
}

/* The bytes that the next instruction stands for. */
static bool
take_piece(struct str base, struct str *delta, struct str *piece)
{
	unsigned op = (uint8_t)delta->p[0];
	size_t from, n;

	*delta = str_slice(*delta, 1, delta->n);
	if (!(op & 0x80)) {
		*piece = str_slice(*delta, 0, op);
		*delta = str_slice(*delta, op, delta->n);
		return op > 0 && piece->n == op;
	}
	if (!take_some(delta, op & 15, &from) ||
	    !take_some(delta, op >> 4 & 7, &n))
		return false;
	n = n ? n : 0x10000;
	*piece = str_slice(base, from, from + n);
	return from <= base.n && piece->n == n;
}

int
pack_delta(struct str base, struct str delta, size_t *room, struct arena *a,
    struct str *out, struct err *e)
{
	size_t n, left;
	struct str piece;
	char *to;

	if (!take_number(&delta, &n) || n != base.n || !take_number(&delta, &n))
		return corrupt(e, "a delta is not one of its base");
	if (n > *room)
		return err_set(e, &err_too_large,
		    "the objects of the pack are too large together");
	*room -= n;
	to = arena_alloc(a, n + 1);
	*out = (struct str){ to, n };
	for (left = n; delta.n > 0; left -= piece.n, to += piece.n) {
		if (!take_piece(base, &delta, &piece) || piece.n > left)
			return corrupt(e, "a delta is malformed");
		memcpy(to, piece.p, piece.n);
	}
	return left ? corrupt(e, "a delta ends too early") : 0;
}
