#include <string.h>

#include "ledger/write/tiles.h"
#include "ledger/write/writer.h"

void
position_advance(struct position *p, const struct event *ev, const void *data,
    const struct event_type *type)
{
	const struct clock_confirmed *confirmed = data;

	if (type == &event_clock_confirmed)
		p->clock_floor = confirmed->wall;
	else if (ev->at.us > p->last_at.us)
		p->clock_floor.us = 0;
	p->size = ev->seq + 1;
	p->head = ev->hash;
	p->last_at = ev->at;
}

static bool
read_oid(const struct rows *r, int column, struct oid *out)
{
	struct str s = rows_borrow(r, column);

	if (s.n != OID_BYTES)
		return false;
	memcpy(out->b, s.p, OID_BYTES);
	return true;
}

static int
read_row(struct rows *r, struct position *p, struct err *e)
{
	int rc = rows_next(r, e);

	*p = (struct position){ 0 };
	if (rc != 1)
		return rc;
	p->size = (uint64_t)rows_int(r, 0);
	p->batches = (uint64_t)rows_int(r, 1);
	p->head = rows_digest(r, 2);
	if (!merkle_read(&p->tree, rows_borrow(r, 3)))
		return err_set(
		    e, &err_view_damaged, "read model: tree unreadable");
	p->has_commit = read_oid(r, 4, &p->commit);
	p->last_at.us = rows_int(r, 5);
	p->clock_floor.us = rows_int(r, 6);
	return 0;
}

int
position_load(struct db *db, struct position *p, struct err *e)
{
	struct rows r;
	int rc = -1;

	if (db_query(db, &r, e,
		"SELECT size, batches, head, tree, commit_oid, last_at,"
		" clock_floor FROM ledger_position",
		"") == 0) {
		rc = read_row(&r, p, e);
		if (rows_end(&r, e))
			rc = -1;
	}
	return rc;
}

int
position_save(struct db *db, const struct position *p, struct err *e)
{
	struct str oid = { p->has_commit ? (const char *)p->commit.b : NULL,
		OID_BYTES };
	struct buf tree;
	int rc;

	buf_init(&tree, 8 + MERKLE_LEVELS * DIGEST_BYTES);
	merkle_write(&p->tree, &tree);
	rc = db_run(db, e,
	    "INSERT OR REPLACE INTO ledger_position VALUES"
	    " (1, ?, ?, ?, ?, ?, ?, ?)",
	    "iidbbii", (int64_t)p->size, (int64_t)p->batches, p->head,
	    buf_str(&tree), oid, p->last_at.us, p->clock_floor.us);
	buf_fini(&tree);
	return rc;
}

int
position_add_batch(struct db *db, uint64_t first, const struct digest *leaves,
    size_t n, struct oid commit, struct err *e)
{
	struct str oid = { (const char *)commit.b, OID_BYTES };

	if (db_run(db, e, "INSERT INTO ledger_batch VALUES (?, ?, ?)", "iib",
		(int64_t)first, (int64_t)n, oid))
		return -1;
	return tiles_append(db, first, leaves, n, e);
}
