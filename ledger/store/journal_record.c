#include <string.h>

#include "ledger/store/bytes.h"
#include "ledger/store/journal_file.h"

#define MAGIC       "\xffPRBREC1"
#define MAGIC_N     8
#define MAC_AT      88
#define OBJECT_HEAD (8 + OID_BYTES)

size_t
record_size(const struct record *r)
{
	size_t n = RECORD_HEAD;

	for (size_t i = 0; i < r->n_objects; i++) {
		if (r->objects[i].bytes.n > JOURNAL_RECORD_MAX)
			return 0;
		n += OBJECT_HEAD + r->objects[i].bytes.n;
		if (n > JOURNAL_RECORD_MAX)
			return 0;
	}
	n = (n + JOURNAL_UNIT - 1) / JOURNAL_UNIT * JOURNAL_UNIT;
	return n > JOURNAL_RECORD_MAX ? 0 : n;
}

static struct digest
record_mac(const uint8_t *bytes, size_t total, const uint8_t key[JOURNAL_KEY])
{
	const char *p = (const char *)bytes;
	struct str parts[] = {
		{ p, MAC_AT },
		{ p + RECORD_HEAD, total - RECORD_HEAD },
	};

	return hmac_sha256(
	    (struct str){ (const char *)key, JOURNAL_KEY }, parts, 2);
}

void
record_encode(const struct record *r, uint64_t position,
    const uint8_t key[JOURNAL_KEY], uint8_t *out, size_t total)
{
	uint8_t *at = out + RECORD_HEAD;
	struct digest mac;

	memset(out, 0, RECORD_HEAD);
	memcpy(out, MAGIC, MAGIC_N);
	put_u64(out + 8, position);
	put_u64(out + 16, total);
	put_u64(out + 24, r->first_seq);
	put_u64(out + 32, r->count);
	put_u32(out + 40, (uint32_t)r->n_objects);
	put_u32(out + 44, r->has_parent);
	if (r->has_parent)
		memcpy(out + 48, r->parent.b, OID_BYTES);
	memcpy(out + 68, r->commit.b, OID_BYTES);
	for (size_t i = 0; i < r->n_objects; i++) {
		const struct object *o = &r->objects[i];

		put_u32(at, (uint32_t)o->kind);
		put_u32(at + 4, (uint32_t)o->bytes.n);
		memcpy(at + 8, o->oid.b, OID_BYTES);
		at += OBJECT_HEAD;
		if (o->bytes.n)
			memcpy(at, o->bytes.p, o->bytes.n);
		at += o->bytes.n;
	}
	memset(at, 0, total - (size_t)(at - out));
	mac = record_mac(out, total, key);
	memcpy(out + MAC_AT, mac.b, DIGEST_BYTES);
}

bool
record_begins(const uint8_t head[RECORD_HEAD], uint64_t position)
{
	return !memcmp(head, MAGIC, MAGIC_N) && get_u64(head + 8) == position;
}

uint64_t
record_claims(const uint8_t head[RECORD_HEAD])
{
	return get_u64(head + 16);
}

bool
record_whole(const uint8_t *bytes, size_t total, const uint8_t key[JOURNAL_KEY])
{
	struct digest mac = record_mac(bytes, total, key);

	return constant_time_eq(mac.b, bytes + MAC_AT, DIGEST_BYTES);
}

/* One object off the bytes; the id is covered by the record's MAC. */
static bool
object_take(struct str *rest, struct object *out)
{
	const uint8_t *p = (const uint8_t *)rest->p;
	uint32_t kind, n;

	if (rest->n < OBJECT_HEAD)
		return false;
	kind = get_u32(p);
	n = get_u32(p + 4);
	if (kind < OBJECT_COMMIT || kind > OBJECT_BLOB ||
	    n > rest->n - OBJECT_HEAD)
		return false;
	out->kind = (enum object_kind)kind;
	memcpy(out->oid.b, p + 8, OID_BYTES);
	out->bytes = str_slice(*rest, OBJECT_HEAD, OBJECT_HEAD + n);
	*rest = str_slice(*rest, OBJECT_HEAD + n, rest->n);
	return true;
}

bool
record_decode(
    struct arena *a, const uint8_t *bytes, size_t total, struct record *r)
{
	struct str rest = { (const char *)bytes + RECORD_HEAD,
		total - RECORD_HEAD };
	uint32_t n = get_u32(bytes + 40), parent = get_u32(bytes + 44);
	struct object *objects;

	if (parent > 1 || n > rest.n / OBJECT_HEAD)
		return false;
	objects = arena_array(a, n ? n : 1, sizeof(*objects));
	for (uint32_t i = 0; i < n; i++)
		if (!object_take(&rest, &objects[i]))
			return false;
	if (rest.n >= JOURNAL_UNIT)
		return false;
	for (size_t i = 0; i < rest.n; i++)
		if (rest.p[i])
			return false;
	r->has_parent = parent;
	memcpy(r->parent.b, bytes + 48, OID_BYTES);
	memcpy(r->commit.b, bytes + 68, OID_BYTES);
	r->first_seq = get_u64(bytes + 24);
	r->count = get_u64(bytes + 32);
	r->objects = objects;
	r->n_objects = n;
	return true;
}
