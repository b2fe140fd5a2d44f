#include <string.h>

#include "ledger/store/repo_git.h"

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
