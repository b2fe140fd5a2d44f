#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/crypto/hash.h"
#include "ledger/store/repo_git.h"

const char *
object_kind_word(enum object_kind kind)
{
	switch (kind) {
	case OBJECT_COMMIT:
		return "commit";
	case OBJECT_TREE:
		return "tree";
	case OBJECT_BLOB:
		return "blob";
	}
	abort();
}

struct oid
repo_oid_plain(enum object_kind kind, struct str bytes)
{
	char header[32];
	int n = snprintf(
	    header, sizeof(header), "%s %zu", object_kind_word(kind), bytes.n);
	struct str parts[2] = { { header, (size_t)n + 1 }, bytes };
	struct oid o;

	sha1_parts(parts, 2, o.b);
	return o;
}

bool
object_is_whole(git_odb_object *object)
{
	struct str bytes = { git2.odb_object_data(object),
		git2.odb_object_size(object) };
	enum object_kind kind = (enum object_kind)git2.odb_object_type(object);

	return oid_eq(repo_oid_plain(kind, bytes),
	    oid_from_git(git2.odb_object_id(object)));
}

static const char hex_digits[] = "0123456789abcdef";

void
oid_hex(struct oid o, char out[OID_HEX + 1])
{
	for (size_t i = 0; i < OID_BYTES; i++) {
		out[2 * i] = hex_digits[o.b[i] >> 4];
		out[2 * i + 1] = hex_digits[o.b[i] & 15];
	}
	out[OID_HEX] = '\0';
}

static int
hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

bool
oid_from_hex(struct str s, struct oid *out)
{
	struct oid o;

	if (!s.p || s.n != OID_HEX)
		return false;
	for (size_t i = 0; i < OID_BYTES; i++) {
		int high = hex_value(s.p[2 * i]);
		int low = hex_value(s.p[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		o.b[i] = (uint8_t)(high << 4 | low);
	}
	*out = o;
	return true;
}

bool
oid_eq(struct oid a, struct oid b)
{
	return !memcmp(a.b, b.b, OID_BYTES);
}

git_oid
oid_to_git(struct oid o)
{
	git_oid out;

	memcpy(out.id, o.b, OID_BYTES);
	return out;
}

struct oid
oid_from_git(const git_oid *id)
{
	struct oid out;

	memcpy(out.b, id->id, OID_BYTES);
	return out;
}

void
loose_name(struct oid o, char out[LOOSE_NAME])
{
	char hex[OID_HEX + 1];

	oid_hex(o, hex);
	out[0] = hex[0];
	out[1] = hex[1];
	out[2] = '/';
	memcpy(out + 3, hex + 2, OID_HEX - 1);
}
