/* source-record file: an imported file, as it was imported. */
#include "domain/operation.h"
#include "domain/source_records/group.h"
#include "domain/source_records/received.h"

struct import_query {
	struct uid import_uid;
};

/* clang-format off */
SHAPE(import_query, "Which import",
	FIELD(import_query, import_uid, .required = true, .doc = "Its identifier"));
/* clang-format on */

CONTENT_OPERATION(source_record_file, import_query, .id = "source_record.file",
    .command = "source-record file", .product = "Financial Actions",
    .media_type = "application/octet-stream", .refusals = REFUSES(&err_erased),
    .summary = "Write an imported file to standard output");

static int
find_seq(struct context *c, struct uid import, int64_t *seq, struct err *e)
{
	if (db_get_int(c->db, seq, -1, e,
		"SELECT seq FROM source_import WHERE uid = ?", "u", import))
		return -1;
	if (*seq < 0)
		return err_set(e, &err_not_found, "there is no such import");
	return 0;
}

static int
decrypt(struct context *c, const struct event *ev, struct str box,
    struct str *file, struct err *e)
{
	struct sealed_place place = content_place(c, ev->subject, "file");
	struct import_received d;
	const struct sealed_text *about;
	struct content_key key;
	struct erasure erasure;
	int found;

	if (context_event_data(c, ev, &event_import_received, &d, e))
		return -1;
	about = d.file;
	found = content_find(c, about->key, &key, &erasure, e);
	if (found == 0)
		return content_refuse(c, &erasure, e);
	if (found == 1 &&
	    sealed_payload_open(c->arena, &key, &place, about, box, file, e))
		found = -1;
	content_end(&key);
	return found < 0 ? -1 : 0;
}

static int
source_record_file_read(struct context *c, const struct import_query *in,
    struct content *out, struct err *e)
{
	struct stored_event stored;
	const struct event *ev = &stored.recorded.event;
	int64_t seq;

	if (find_seq(c, in->import_uid, &seq, e) ||
	    ledger_read_event(c->reading, (uint64_t)seq, c->arena, &stored, e))
		return -1;
	if (ev->n_payloads != 1)
		return err_set(e, &err_corrupt,
		    "event %lld has no file beside it", (long long)seq);
	if (ledger_read_payload(c->reading, (uint64_t)seq,
		ev->payloads[0].sha256, IMPORT_FILE_BYTES + SEALED_OVERHEAD,
		c->arena, &out->bytes, e))
		return -1;
	if (str_is(ev->type, event_import_recorded.name))
		return 0;
	return decrypt(c, ev, out->bytes, &out->bytes, e);
}
