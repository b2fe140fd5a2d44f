/*
 * Imports and sealed records as the materials of a lineage: an identifier and
 * a hash each.
 */
#include "domain/source_records.h"

static struct source_material
material_from(const struct rows *r, struct arena *a)
{
	char hex[DIGEST_HEX + 1];

	digest_hex(rows_digest(r, 2), hex);
	return (struct source_material){
		.id = rows_int(r, 0),
		.uid = rows_uid(r, 1),
		.sha256 = { arena_str(a, str_from(hex)) },
	};
}

int
source_import_find(struct context *c, struct uid uid,
    struct source_material *out, struct err *e)
{
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT id, uid, file_sha256 FROM source_import WHERE uid = ?",
		"u", uid))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = material_from(&r, c->arena);
	if (rows_end(&r, e))
		return -1;
	return found;
}

/* Those that the query names, which has these three parameters. */
static int
list_after(struct context *c, const char *sql, uint64_t size, int64_t after_id,
    size_t max, struct source_material *out, size_t *n, struct err *e)
{
	struct rows r;

	*n = 0;
	if (db_query(c->db, &r, e, sql, "iii", after_id, (int64_t)size,
		(int64_t)max))
		return -1;
	while (rows_next(&r, e) == 1)
		out[(*n)++] = material_from(&r, c->arena);
	return rows_end(&r, e);
}

int
source_imports_list(struct context *c, uint64_t size, int64_t after_id,
    size_t max, struct source_material *out, size_t *n, struct err *e)
{
	return list_after(c,
	    "SELECT id, uid, file_sha256 FROM source_import"
	    " WHERE id > ? AND seq < ? ORDER BY id LIMIT ?",
	    size, after_id, max, out, n, e);
}

int
source_seals_list(struct context *c, uint64_t size, int64_t after_id,
    size_t max, struct source_material *out, size_t *n, struct err *e)
{
	return list_after(c,
	    "SELECT id, uid, sha256 FROM source_record"
	    " WHERE id > ? AND seq < ? ORDER BY id LIMIT ?",
	    size, after_id, max, out, n, e);
}
