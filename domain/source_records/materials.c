/*
 * Imports and sealed records as the materials of a lineage: an identifier and
 * a hash each.
 */
#include "domain/source_records.h"

/* The hash by which the ledger keeps the file: of what is stored, which is
 * encrypted, so that it says nothing of a file that is erased. */
static int
import_from(struct context *c, const struct rows *r,
    struct source_material *out, struct err *e)
{
	struct stored_event stored;
	const struct event *event = &stored.recorded.event;

	*out = (struct source_material){ .id = rows_int(r, 0),
		.uid = rows_uid(r, 1) };
	if (ledger_read_event(
		c->reading, (uint64_t)rows_int(r, 2), c->arena, &stored, e))
		return -1;
	if (event->n_payloads != 1)
		return err_set(e, &err_corrupt, "event %llu has no file",
		    (unsigned long long)event->seq);
	out->sha256 = (struct digest_text){ digest_hex_str(
	    c->arena, event->payloads[0].sha256) };
	return 0;
}

static int
seal_from(struct context *c, const struct rows *r, struct source_material *out,
    struct err *e)
{
	(void)e;
	*out = (struct source_material){ .id = rows_int(r, 0),
		.uid = rows_uid(r, 1),
		.sha256 = { digest_hex_str(c->arena, rows_digest(r, 2)) } };
	return 0;
}

int
source_import_find(struct context *c, struct uid uid,
    struct source_material *out, struct err *e)
{
	struct rows r;
	int found, failed = 0;

	if (db_query(c->db, &r, e,
		"SELECT id, uid, seq FROM source_import WHERE uid = ?", "u",
		uid))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		failed = import_from(c, &r, out, e);
	return rows_end(&r, e) || failed ? -1 : found;
}

/* Those that the query names, which has these three parameters. */
static int
list_after(struct context *c, const char *sql, uint64_t size, int64_t after_id,
    size_t max,
    int (*from)(struct context *, const struct rows *, struct source_material *,
	struct err *),
    struct source_material *out, size_t *n, struct err *e)
{
	struct rows r;
	int failed = 0;

	*n = 0;
	if (db_query(c->db, &r, e, sql, "iii", after_id, (int64_t)size,
		(int64_t)max))
		return -1;
	while (!failed && rows_next(&r, e) == 1)
		failed = from(c, &r, &out[(*n)++], e);
	return rows_end(&r, e) || failed ? -1 : 0;
}

int
source_imports_list(struct context *c, uint64_t size, int64_t after_id,
    size_t max, struct source_material *out, size_t *n, struct err *e)
{
	return list_after(c,
	    "SELECT id, uid, seq FROM source_import"
	    " WHERE id > ? AND seq < ? ORDER BY id LIMIT ?",
	    size, after_id, max, import_from, out, n, e);
}

int
source_seals_list(struct context *c, uint64_t size, int64_t after_id,
    size_t max, struct source_material *out, size_t *n, struct err *e)
{
	return list_after(c,
	    "SELECT id, uid, sha256 FROM source_record"
	    " WHERE id > ? AND seq < ? ORDER BY id LIMIT ?",
	    size, after_id, max, seal_from, out, n, e);
}
