#include "ledger/chain/merkle.h"

#include <string.h>

#include "ledger/base/buf.h"

struct digest
merkle_leaf(struct str event)
{
	struct str parts[] = { STR("\0"), event };

	return sha256_parts(parts, 2);
}

struct digest
merkle_node(struct digest left, struct digest right)
{
	char bytes[1 + 2 * DIGEST_BYTES] = { 1 };

	memcpy(bytes + 1, left.b, DIGEST_BYTES);
	memcpy(bytes + 1 + DIGEST_BYTES, right.b, DIGEST_BYTES);
	return sha256((struct str){ bytes, sizeof bytes });
}

void
merkle_append(struct merkle *m, struct digest node)
{
	int level = 0;

	/* As carrying in binary addition. */
	for (; m->size >> level & 1; level++)
		node = merkle_node(m->full[level], node);
	m->full[level] = node;
	m->size++;
}

struct digest
merkle_root(const struct merkle *m)
{
	struct digest root;
	bool some = false;

	if (m->size == 0)
		return sha256(STR(""));
	for (int l = 0; l < MERKLE_LEVELS; l++) {
		if (!(m->size >> l & 1))
			continue;
		root = some ? merkle_node(m->full[l], root) : m->full[l];
		some = true;
	}
	return root;
}

void
merkle_write(const struct merkle *m, struct buf *b)
{
	buf_add_u64be(b, m->size);
	for (int l = 0; l < MERKLE_LEVELS; l++)
		if (m->size >> l & 1)
			buf_add(b, (struct str){ (const char *)m->full[l].b,
				       DIGEST_BYTES });
}

bool
merkle_read(struct merkle *m, struct str s)
{
	const char *at = s.p + 8;

	*m = (struct merkle){ 0 };
	if (s.n < 8)
		return false;
	for (int i = 0; i < 8; i++)
		m->size = m->size << 8 | (uint8_t)s.p[i];
	if (s.n != 8 + (size_t)__builtin_popcountll(m->size) * DIGEST_BYTES) {
		m->size = 0;
		return false;
	}
	for (int l = 0; l < MERKLE_LEVELS; l++) {
		if (!(m->size >> l & 1))
			continue;
		memcpy(m->full[l].b, at, DIGEST_BYTES);
		at += DIGEST_BYTES;
	}
	return true;
}
