/* The items of the replies against the rows of the index. */
#include <stdarg.h>
#include <stdio.h>

#include "ledger/audit/complete.h"

/* Over all files: where they stand, and the events' chain so far. */
struct comparing {
	struct complete_fault *fault;
	struct err *e;
	int64_t seq; /* of the event before; -1: none */
	uint64_t count;
	struct digest chain;
};

__attribute__((format(printf, 2, 3))) static int
bad(struct comparing *c, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	c->fault->check = "records";
	return err_set(c->e, &err_corrupt, "%s", text);
}

static bool
is_uid(struct str text, struct uid uid)
{
	char own[UID_TEXT + 1];

	uid_format(uid, own);
	return str_is(text, own);
}

/* The identifier in a row's key. */
static struct str
uid_of(const struct index_row *row)
{
	return str_slice(row->key, row->key.n - UID_TEXT, row->key.n);
}

/* A list straight from the index also says what the row says. */
static bool
says_the_same(const struct complete_file *f, const struct json *item,
    const struct index_row *row)
{
	char hex[DIGEST_HEX + 1];
	int64_t events;

	if (complete_is_bare(f))
		return complete_has_no_events(item);
	digest_hex(row->hash, hex);
	return str_is(json_get_str(item, "chain"), hex) &&
	       json_get_int(item, "events", &events) && events >= 0 &&
	       (uint64_t)events == row->count;
}

/* A text that is no identifier is a stranger's, and may be of any length. */
static int
misplaced(struct comparing *c, const struct complete_file *f,
    const struct json *item, struct str uid)
{
	struct str there = json_get_str(item, "uid");
	struct uid parsed;

	if (!uid_parse(there, &parsed))
		there = STR("something without an identifier");
	return bad(c, "the list has %.*s where %.*s %.*s belongs",
	    STR_ARGS(there), STR_ARGS(f->kind), STR_ARGS(uid));
}

static int
compare_records(struct comparing *c, const struct complete_file *f)
{
	const struct json *item = f->data->first;

	for (size_t i = 0; i < f->n_rows; i++, item = item->next) {
		struct str uid = uid_of(&f->rows[i]);

		if (!item)
			return bad(c, "%.*s %.*s is missing at the end",
			    STR_ARGS(f->kind), STR_ARGS(uid));
		if (!str_eq(json_get_str(item, "uid"), uid))
			return misplaced(c, f, item, uid);
		if (!says_the_same(f, item, &f->rows[i]))
			return bad(c,
			    "events or chain of the %.*s %.*s is missing, or "
			    "not what the index says",
			    STR_ARGS(f->kind), STR_ARGS(uid));
	}
	if (item)
		return bad(c, "the list has more than the index");
	c->count += f->n_rows;
	return 0;
}

static int
add_event(
    struct comparing *c, const struct complete_file *f, const struct json *item)
{
	const struct json *subject = json_get(item, "subject");
	struct digest hash;
	int64_t seq, id;

	if (!json_get_int(item, "seq", &seq) || seq <= c->seq ||
	    (uint64_t)seq >= f->size ||
	    !digest_from_hex(json_get_str(item, "hash"), &hash))
		return bad(c, "an event has no place or no hash");
	if (json_get(item, "id") &&
	    (!json_get_int(item, "id", &id) || id != seq + 1))
		return bad(c, "event %lld has an id that is not seq + 1",
		    (long long)seq);
	if (!str_eq(json_get_str(subject, "kind"), f->kind) ||
	    !is_uid(json_get_str(subject, "uid"), f->subject))
		return bad(
		    c, "event %lld is about another record", (long long)seq);
	c->seq = seq;
	c->count++;
	c->chain = index_chain_next(c->chain, hash);
	return 0;
}

/* Counted and chained over all files; the last one's index has the sum. */
static int
compare_events(struct comparing *c, const struct complete_file *f)
{
	for (const struct json *v = f->data->first; v; v = v->next)
		if (add_event(c, f, v))
			return -1;
	if (f->has_more)
		return 0;
	if (f->n_rows == 0)
		return c->count > 0
			   ? bad(c, "the index has no such record, the "
				    "list has events about it")
			   : 0;
	if (f->rows[0].count != c->count)
		return bad(c, "the list has %llu events, the index %llu",
		    (unsigned long long)c->count,
		    (unsigned long long)f->rows[0].count);
	if (!digest_eq(f->rows[0].hash, c->chain))
		return bad(c, "the list has other events than the index");
	return 0;
}

/* A page ends where it says, and the next one begins there. */
static int
check_joint(struct comparing *c, const struct complete_file *f,
    const struct complete_file *next)
{
	bool list = uid_is_none(f->subject);

	if (list && f->has_more == uid_is_none(f->to))
		return bad(c, "the list ends elsewhere than its proof");
	if (!next)
		return 0;
	if (!f->has_more)
		return bad(c, "a page follows the last one");
	if (!str_eq(f->kind, next->kind) || !str_eq(f->origin, next->origin) ||
	    !uid_eq(f->subject, next->subject) ||
	    (list && !uid_eq(f->to, next->after)))
		return bad(c, "the files are not one list's pages, in order");
	return 0;
}

/* Two signed ledgers of one size have one history, or the key signed two. */
static int
check_sizes(struct comparing *c, const struct complete_file *files, size_t n)
{
	for (size_t i = 1; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (files[i].size == files[k].size &&
			    (!digest_eq(files[i].root, files[k].root) ||
				!digest_eq(files[i].tree, files[k].tree)))
				return bad(c,
				    "two files of %llu events are of different "
				    "ledgers, signed by one key: keep them",
				    (unsigned long long)files[i].size);
	return 0;
}

static uint64_t
size_of(const struct complete_file *files, size_t n)
{
	if (!uid_is_none(files[0].subject))
		return files[n - 1].size;
	for (size_t i = 1; i < n; i++)
		if (files[i].size != files[0].size)
			return 0;
	return files[0].size;
}

int
complete_compare(const struct complete_file *files, size_t n,
    struct complete_shown *shown, struct complete_fault *fault, struct err *e)
{
	struct comparing c = { .fault = fault, .e = e, .seq = -1 };

	*shown = (struct complete_shown){ files, n, size_of(files, n), 0,
		{ { 0 } }, 0 };
	*fault = (struct complete_fault){ 0 };
	for (size_t i = 0; i < n; i++) {
		const struct complete_file *f = &files[i];

		if (check_joint(&c, f, i + 1 < n ? f + 1 : NULL) ||
		    (uid_is_none(f->subject) ? compare_records(&c, f)
					     : compare_events(&c, f)))
			return -1;
		complete_find_unchecked(shown, f);
	}
	if (check_sizes(&c, files, n))
		return -1;
	if (!uid_is_none(files[n - 1].subject) && files[n - 1].has_more)
		return err_set(e, &err_usage,
		    "the list of events goes on: give the files of all its "
		    "pages, in order");
	shown->records = c.count;
	return 0;
}
