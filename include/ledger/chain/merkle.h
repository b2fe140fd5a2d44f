/*
 * The Merkle tree of RFC 6962 and RFC 9162, over event bytes:
 * leaf = SHA-256(0x00 event), node = SHA-256(0x01 left right).
 *
 * A frontier is all that appending needs: the roots of the full subtrees that
 * the size's binary form names, largest first.
 */
#ifndef LEDGER_CHAIN_MERKLE_H
#define LEDGER_CHAIN_MERKLE_H

#include "ledger/crypto/hash.h"

#define MERKLE_LEVELS 64

struct merkle {
	uint64_t size;
	struct digest
	    full[MERKLE_LEVELS]; /* by level; bit l of size set: valid */
};

struct digest merkle_leaf(struct str event);
struct digest merkle_node(struct digest left, struct digest right);

void merkle_append(struct merkle *, struct digest leaf);

/* SHA-256("") at size 0. */
struct digest merkle_root(const struct merkle *);

/* The frontier as bytes: size (u64 big-endian), then the valid digests, lowest
 * level first. At most 8 + 64*32 bytes. */
struct buf;
void merkle_write(const struct merkle *, struct buf *);
bool merkle_read(struct merkle *, struct str);

#endif
