#include "domain/lineage/record.h"

int
export_find(
    struct context *c, struct uid uid, struct export_record *out, struct err *e)
{
	struct rows r;
	int found;

	if (db_query(c->db, &r, e,
		"SELECT uid, scope_type, scope_id, size, events, generated_at,"
		" key_id, sealed_seq, bytes, manifest_sha256, signature, kept"
		" FROM lineage_export WHERE uid = ?",
		"u", uid))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*out = (struct export_record){
			.uid = rows_uid(&r, 0),
			.scope_type = rows_str(&r, 1, c->arena),
			.scope_id = rows_uid(&r, 2),
			.size = rows_int(&r, 3),
			.events = rows_int(&r, 4),
			.generated_at = rows_instant(&r, 5),
			.key_id = rows_str(&r, 6, c->arena),
			.sealed_seq = rows_opt_int(&r, 7),
			.bytes = rows_opt_int(&r, 8),
			.manifest_sha256 = { rows_str(&r, 9, c->arena) },
			.signature = rows_str(&r, 10, c->arena),
			.kept = rows_bool(&r, 11),
		};
	if (rows_end(&r, e))
		return -1;
	return found;
}

struct json *
export_job_input(struct arena *a, struct uid uid)
{
	struct json *v = json_object(a);
	char text[UID_TEXT + 1];

	uid_format(uid, text);
	json_put_str(a, v, "export", arena_str(a, str_from(text)));
	return v;
}
