#include "ledger/audit/complete_report.h"

#include "ledger/audit/audit.h"

typedef unsigned long long ull;

static struct str
text_of(struct arena *a, struct uid uid)
{
	char text[UID_TEXT + 1];

	if (uid_is_none(uid))
		return STR_NONE;
	uid_format(uid, text);
	return arena_str(a, str_from(text));
}

static const struct complete_file *
last_of(const struct complete_shown *s)
{
	return &s->files[s->n - 1];
}

/* Which records of the kind: those from the one file's beginning to the
 * other's end. */
static void
write_range(FILE *f, struct arena *a, uint64_t n,
    const struct complete_file *from, const struct complete_file *until)
{
	struct str after = text_of(a, from->after), to = text_of(a, until->to);

	fprintf(f, "%llu are all records of kind %.*s", (ull)n,
	    STR_ARGS(until->kind));
	if (after.p)
		fprintf(f, " above %.*s", STR_ARGS(after));
	if (to.p)
		fprintf(f, " up to %.*s", STR_ARGS(to));
}

/* No one ledger has all these records and no other: another record may have
 * come between two pages. */
static void
write_pages(FILE *f, struct arena *a, const struct complete_shown *s)
{
	uint64_t least = s->files[0].size;

	fputs("Good: the pages are of ledgers of several sizes, and each is "
	      "complete for its own.\n",
	    f);
	for (size_t i = 0; i < s->n; i++) {
		const struct complete_file *page = &s->files[i];

		fputs("  ", f);
		write_range(f, a, page->n_rows, page, page);
		fprintf(f, "\n    in the ledger of %llu events, index %.*s\n",
		    (ull)page->size, STR_ARGS(digest_hex_str(a, page->root)));
		least = page->size < least ? page->size : least;
	}
	fprintf(f,
	    "That the larger ledgers continue the smaller ones is not shown "
	    "here. If they do, no record\nof the ledger of %llu events is "
	    "missing; others may have come since, and a page have\nbeen read "
	    "before them.\n",
	    (ull)least);
}

static void
write_shown(FILE *f, struct arena *a, const struct complete_shown *s)
{
	const struct complete_file *last = last_of(s);

	if (uid_is_none(last->subject) && s->size == 0) {
		write_pages(f, a, s);
		fprintf(f, "  ledger   %.*s\n", STR_ARGS(last->origin));
		return;
	}
	fputs("Good: these ", f);
	if (uid_is_none(last->subject))
		write_range(f, a, s->records, s->files, last);
	else
		fprintf(f, "%llu are all events about the %.*s %.*s",
		    (ull)s->records, STR_ARGS(last->kind),
		    STR_ARGS(text_of(a, last->subject)));
	fprintf(f,
	    "\nin the ledger of %llu events.\n  ledger   %.*s\n"
	    "  index    %.*s\n",
	    (ull)s->size, STR_ARGS(last->origin),
	    STR_ARGS(digest_hex_str(a, last->root)));
}

/* The index holds of a record its identifier and its events' hashes. */
static void
write_unchecked(FILE *f, const struct complete_shown *s)
{
	if (s->n_unchecked == 0)
		return;
	fputs("Not checked, since nothing in the file shows it:", f);
	for (size_t i = 0; i < s->n_unchecked; i++) {
		fputs(i > 0 ? ", " : " ", f);
		print_plain(f, s->unchecked[i]);
	}
	fputs(
	    s->n_unchecked == COMPLETE_UNCHECKED_MAX ? " and others.\n" : ".\n",
	    f);
}

void
complete_report_write(
    FILE *f, struct arena *a, const struct complete_verdict *v)
{
	if (!v->good) {
		fault_write(
		    f, &(struct fault){ v->fault.check, v->reason, false, 0 });
		return;
	}
	write_shown(f, a, &v->shown);
	write_unchecked(f, &v->shown);
}

/* Where it begins and ends, and for which ledger that holds; size 0: for
 * none. */
static void
put_range(struct arena *a, struct json *v, const struct complete_file *from,
    const struct complete_file *until, uint64_t size)
{
	json_put(v, "size", size ? json_int(a, (int64_t)size) : json_null(a));
	json_put_str(
	    a, v, "index", size ? digest_hex_str(a, until->root) : STR_NONE);
	json_put_str(a, v, "after", text_of(a, from->after));
	json_put_str(a, v, "to", text_of(a, until->to));
}

static struct json *
pages_json(struct arena *a, const struct complete_shown *s)
{
	struct json *list = json_array(a);

	for (size_t i = 0; i < s->n; i++) {
		const struct complete_file *page = &s->files[i];
		struct json *v = json_object(a);

		put_range(a, v, page, page, page->size);
		json_put_int(a, v, "count", (int64_t)page->data->n);
		json_push(list, v);
	}
	return list;
}

static struct json *
shown_json(struct arena *a, const struct complete_shown *s)
{
	const struct complete_file *last = last_of(s);
	struct json *v = json_object(a), *unchecked = json_array(a);

	json_put_str(a, v, "ledger", last->origin);
	json_put_str(a, v, "kind", last->kind);
	json_put_str(a, v, "subject", text_of(a, last->subject));
	put_range(a, v, s->files, last, s->size);
	json_put_int(a, v, "count", (int64_t)s->records);
	json_put(v, "pages", pages_json(a, s));
	for (size_t i = 0; i < s->n_unchecked; i++)
		json_push(unchecked, json_string(a, s->unchecked[i]));
	json_put(v, "not_checked", unchecked);
	return v;
}

static struct json *
failed_json(struct arena *a, const struct complete_verdict *v)
{
	return fault_json(
	    a, &(struct fault){ v->fault.check, v->reason, false, 0 }, false);
}

void
complete_report_write_json(
    FILE *f, struct arena *a, const struct complete_verdict *v)
{
	struct json *o = json_object(a);

	json_put(o, "good", json_bool(a, v->good));
	json_put(o, "shown", v->good ? shown_json(a, &v->shown) : json_null(a));
	json_put(o, "failed", v->good ? json_null(a) : failed_json(a, v));
	print_json(f, o);
}
