/*
 * Rows that the reader accepts, written with every field quoted, read the same
 * again. A whole import by rows, the first line being its mapping, gives
 * records that are complete, or an error.
 */
#include <stdlib.h>

#include "domain/source_records/csv.h"
#include "domain/source_records/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
add_row(struct buf *b, const struct csv_reader *r)
{
	for (size_t i = 0; i < r->n; i++) {
		buf_add_cstr(b, i ? ",\"" : "\"");
		for (size_t k = 0; k < r->fields[i].n; k++) {
			if (r->fields[i].p[k] == '"')
				buf_add_byte(b, '"');
			buf_add_byte(b, (unsigned char)r->fields[i].p[k]);
		}
		buf_add_byte(b, '"');
	}
	buf_add_byte(b, '\n');
}

/* The text written anew; false when it cannot be read. */
static bool
rewrite(struct arena *a, struct str text, struct buf *out)
{
	struct csv_reader *r = ARENA_NEW(a, struct csv_reader);
	struct err e = { 0 };
	int more;

	csv_init(r, a, text, ',');
	while ((more = csv_next(r, &e)) == 1)
		add_row(out, r);
	if (more < 0 && !e.kind)
		abort();
	return more == 0;
}

static void
check_reader(struct arena *a, struct str text)
{
	struct buf once, again;

	buf_init(&once, (size_t)16 << 20);
	buf_init(&again, (size_t)16 << 20);
	if (rewrite(a, text, &once) &&
	    (!rewrite(a, buf_str(&once), &again) ||
		!str_eq(buf_str(&once), buf_str(&again))))
		abort();
	buf_fini(&once);
	buf_fini(&again);
}

static void
check_import(struct arena *a, struct str text)
{
	struct import_file in = { .format = STR("csv"),
		.kind = STR("invoice"),
		.mapping = str_take(&text, '\n'),
		.delimiter = STR("comma"),
		.decimal_sign = STR("comma"),
		.dates = STR("dmy") };
	struct plan plan = { .in = &in };
	struct err e = { 0 };

	in.file = text;
	if (!text.p)
		return;
	if (plan_csv(a, &plan, &e)) {
		if (!e.kind)
			abort();
		return;
	}
	for (size_t i = 0; i < plan.n; i++)
		if (plan.drafts[i].minor <= 0 || !plan.drafts[i].currency ||
		    !plan.drafts[i].content.reference.p ||
		    !plan.drafts[i].counterparty.p)
			abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct str text = { (const char *)data, size };

	check_reader(a, text);
	check_import(a, text);
	arena_free(a);
	return 0;
}
