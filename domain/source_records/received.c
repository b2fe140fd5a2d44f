#include "domain/source_records/received.h"

/* clang-format off */
SHAPE(import_received, "A file imported",
	FIELD(import_received, id, .required = true, .doc = "Integer id"),
	FIELD(import_received, format, .required = true, .doc = "csv or camt.053"),
	FIELD(import_received, kind, .required = true, .doc = "Kind of its records"),
	FIELD(import_received, file, .required = true, .of = &sealed_text_shape, .doc = "The file: this event's payload, encrypted"),
	FIELD(import_received, file_name, .omit_null = true, .of = &sealed_text_shape, .doc = "Base name of the file, encrypted"),
	FIELD(import_received, file_sha256, .required = true, .of = &sealed_text_shape, .doc = "SHA-256 of the file, encrypted"),
	FIELD(import_received, request_sha256, .required = true, .of = &sealed_text_shape, .doc = "SHA-256 over file and options, encrypted"),
	FIELD(import_received, file_bytes, .required = true, .doc = "Length of the file"),
	FIELD(import_received, mapping, .omit_null = true, .of = &sealed_text_shape, .doc = "CSV: which column is what, encrypted"),
	FIELD(import_received, delimiter, .omit_null = true, .doc = "CSV: comma, semicolon or tab"),
	FIELD(import_received, decimal_sign, .omit_null = true, .doc = "CSV: point or comma"),
	FIELD(import_received, dates, .omit_null = true, .doc = "CSV: iso, dmy or mdy"),
	FIELD(import_received, general_ledger_id, .omit_null = true, .doc = "General ledger account given for the whole file"),
	FIELD(import_received, records, .required = true, .doc = "Records sealed"),
	FIELD(import_received, first_record_id, .omit_null = true, .doc = "Integer id of the first record"),
	FIELD(import_received, statement_uids, .max = 64, .doc = "Bank statements, in the file's order"),
	FIELD(import_received, totals, .of = &import_total_shape, .max = 400, .doc = "Sums by currency and direction"),
	FIELD(import_received, warnings, .max = 64, .doc = "What did not stop the import but wants looking at"));
/* clang-format on */

EVENT_TYPE(import_received, "source_import.received", import_received,
    "A file of source records was imported; the file is the payload, "
    "encrypted");

static int
insert_import(struct db *db, const struct event *ev,
    const struct import_received *d, struct arena *a, struct err *e)
{
	const struct sealed_text *file = d->file_sha256,
				 *request = d->request_sha256;
	struct str file_box, request_box;

	if (sealed_text_box(a, file, &file_box, e) ||
	    sealed_text_box(a, request, &request_box, e))
		return -1;
	return db_run(db, e,
	    "INSERT INTO source_import (id, uid, file_bytes, request_box, "
	    "file_box, content_key, at, seq) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
	    "iuibbuti", d->id, ev->subject, d->file_bytes, request_box,
	    file_box, file->key, ev->at, (int64_t)ev->seq);
}

static int
project_import_received(struct db *db, const struct event *ev,
    const struct import_received *d, struct err *e)
{
	struct arena *a = arena_new();
	int rc = insert_import(db, ev, d, a, e);

	arena_free(a);
	return rc ? -1 : source_total_add(db, STR("import"), 1, e);
}

int
import_seal(struct context *c, struct plan *plan, struct err *e)
{
	const struct import_file *in = plan->in;
	struct import_sealed *s = &plan->sealed;
	struct content_key key;
	struct sealed_place place;
	struct str box;

	if (content_begin(c, &key, &plan->uid, e))
		return -1;
	s->file_name =
	    content_text(c, &key, plan->uid, "file_name", in->file_name);
	s->mapping = content_text(c, &key, plan->uid, "mapping", in->mapping);
	s->file_sha256 = content_text(c, &key, plan->uid, "file_sha256",
	    digest_hex_str(c->arena, plan->file));
	s->request_sha256 = content_text(c, &key, plan->uid, "request_sha256",
	    digest_hex_str(c->arena, plan->request));
	place = content_place(c, plan->uid, "file");
	box = sealed_payload_make(c->arena, &key, &place, in->file, &s->file);
	content_end(&key);
	plan->payload.name = STR("file");
	plan->payload.media_type = STR("application/octet-stream");
	return ledger_store_payload(c->ledger, box, &plan->payload, e);
}

/* Whether a row's import is the plan's. An erased one is nobody's. 1, 0, -1. */
static int
is_same(struct context *c, const struct plan *plan, const struct rows *r,
    struct err *e)
{
	struct content_key key;
	struct erasure erasure;
	struct str request;
	int found = content_find(c, rows_uid(r, 3), &key, &erasure, e);

	if (found == 1 &&
	    content_open(c, &key, rows_uid(r, 1), "request_sha256",
		rows_str(r, 4, c->arena), &request, e))
		found = -1;
	content_end(&key);
	if (found != 1)
		return found;
	return str_eq(request, digest_hex_str(c->arena, plan->request));
}

int
import_find_newer(struct context *c, struct plan *plan, struct err *e)
{
	struct rows r;
	int same = 0;

	if (plan->same >= 0)
		return 0;
	if (db_query(c->db, &r, e,
		"SELECT id, uid, seq, content_key, request_box"
		" FROM source_import WHERE file_bytes = ? AND id > ?"
		" ORDER BY id",
		"ii", (int64_t)plan->in->file.n, plan->seen))
		return -1;
	while (same == 0 && rows_next(&r, e) == 1) {
		same = is_same(c, plan, &r, e);
		if (same == 1)
			plan->same = rows_int(&r, 2);
	}
	return rows_end(&r, e) || same < 0 ? -1 : 0;
}

/* With a snapshot of the tables; imports of before files were encrypted are
 * found by their hash. */
static int
find_same(struct context *c, struct plan *plan, struct err *e)
{
	plan->seen = 0;
	if (db_get_int(c->db, &plan->same, -1, e,
		"SELECT seq FROM source_import WHERE request_sha256 = ?", "d",
		plan->request) ||
	    import_find_newer(c, plan, e))
		return -1;
	return db_get_int(c->db, &plan->seen, 0, e,
	    "SELECT coalesce(max(id), 0) FROM source_import", "");
}

int
import_find_same(struct context *c, struct plan *plan, struct err *e)
{
	struct reading reading;
	int rc;

	if (ledger_read_begin(c->ledger, &reading, e))
		return -1;
	c->db = reading.db;
	rc = find_same(c, plan, e);
	ledger_read_end(&reading);
	c->db = NULL;
	return rc;
}

int
import_open_file(struct context *c, const struct event *ev,
    const struct import_received *d, struct file_facts *out, struct err *e)
{
	const struct sealed_text *sha256 = d->file_sha256;
	struct content_key key;
	struct erasure erasure;
	int found = content_find(c, sha256->key, &key, &erasure, e);

	if (found == 0)
		return content_refuse(c, &erasure, e);
	if (found == 1 && (content_open_text(c, &key, ev->subject, d->file_name,
			       "file_name", &out->name, e) ||
			      content_open_text(c, &key, ev->subject, sha256,
				  "file_sha256", &out->sha256, e)))
		found = -1;
	content_end(&key);
	return found < 0 ? -1 : 0;
}
