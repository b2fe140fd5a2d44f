#include "domain/lineage/kept.h"

int
kept_manifest(struct context *c, const struct export_record *x, struct str *out,
    struct err *e)
{
	struct digest sha256;

	if (!digest_from_hex(x->manifest_sha256.hex, &sha256))
		return err_set(e, &err_corrupt, "a seal is no hash");
	return ledger_read_payload(c->reading, (uint64_t)x->sealed_seq.v,
	    sha256, MANIFEST_KEPT_MAX, c->arena, out, e);
}

int
kept_reply(struct context *c, const struct export_record *x,
    struct lineage_export *out, struct err *e)
{
	struct str manifest;
	char *base64;

	if (kept_manifest(c, x, &manifest, e))
		return -1;
	base64 = arena_alloc(c->arena, BASE64_LENGTH(manifest.n) + 1);
	base64_encode(manifest.p, manifest.n, base64);
	return export_sealed(c, x, manifest, str_from(base64), out, e);
}
