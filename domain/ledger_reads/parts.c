#include "domain/ledger_reads/parts.h"

struct digest_text
digest_as_text(struct arena *a, struct digest digest)
{
	return (struct digest_text){ digest_hex_str(a, digest) };
}

struct str
commit_as_text(struct arena *a, struct oid commit)
{
	char text[OID_HEX + 1];

	oid_hex(commit, text);
	return arena_str(a, str_from(text));
}

struct str_list
hashes_as_text(struct arena *a, const struct merkle_proof *path)
{
	struct str *items = arena_array(a, path->n + 1, sizeof *items);

	for (size_t i = 0; i < path->n; i++)
		items[i] = digest_as_text(a, path->hashes[i]).hex;
	return (struct str_list){ items, path->n };
}
