/*
 * limits list and limits show: what is permitted, what is left of it now, and
 * what was used this month. Reads the table and changes nothing in it.
 */
#include "domain/limits/group.h"
#include "domain/limits/months.h"
#include "domain/pool.h"

#define CREDENTIALS_MAX 1000

struct application_limits {
	int64_t id;
	struct uid application_uid;
	struct str name;
	struct opt_int requests_per_second, burst, monthly;
	bool own_limits;
	struct opt_int remaining_now;
	int64_t used_this_month;
};

struct credential_limits {
	int64_t id;
	struct uid credential_uid;
	struct str public_id, status;
	int64_t requests_per_second, burst, monthly;
	bool own_limits;
	int64_t remaining_now, used_this_month;
};

struct limits_shown {
	const void *application;
	struct list credentials;
	struct str month;
	int64_t uncounted;
};

struct limits_page_query {
	int64_t limit, after_id;
};

struct limits_query {
	struct uid application;
};

/* clang-format off */
SHAPE(application_limits, "How many requests an application may make, and made",
	FIELD(application_limits, id, .doc = "Number"),
	FIELD(application_limits, application_uid, .doc = "Identifier of the application"),
	FIELD(application_limits, name, .doc = "Its name"),
	FIELD(application_limits, requests_per_second, .doc = "Requests a second of all its credentials together; null: no limit but that of each"),
	FIELD(application_limits, burst, .doc = "Requests at once; null likewise"),
	FIELD(application_limits, monthly, .doc = "Requests in a calendar month, UTC; null likewise"),
	FIELD(application_limits, own_limits, .doc = "Whether operators set one of them; the others are then the configuration's"),
	FIELD(application_limits, remaining_now, .doc = "Requests that are permitted at once, at this moment; null: no limit but that of each credential"),
	FIELD(application_limits, used_this_month, .doc = "Requests that were permitted this month"));
SHAPE(credential_limits, "How many requests a credential may make, and made",
	FIELD(credential_limits, id, .doc = "Number among keys, or among OAuth clients"),
	FIELD(credential_limits, credential_uid, .doc = "Identifier of the key or client"),
	FIELD(credential_limits, public_id, .doc = "The part of the key that is no secret, or the client id; counts are by it"),
	FIELD(credential_limits, status, .doc = "active or revoked"),
	FIELD(credential_limits, requests_per_second, .doc = "Requests a second"),
	FIELD(credential_limits, burst, .doc = "Requests at once"),
	FIELD(credential_limits, monthly, .doc = "Requests in a calendar month, UTC"),
	FIELD(credential_limits, own_limits, .doc = "Whether operators set one of them; the others are the application's, or the configuration's where nothing is set for it"),
	FIELD(credential_limits, remaining_now, .doc = "Requests that are permitted at once, at this moment"),
	FIELD(credential_limits, used_this_month, .doc = "Requests that were permitted this month"));
SHAPE(limits_shown, "Limits of an application and its credentials",
	FIELD(limits_shown, application, .of = &application_limits_shape, .doc = "The application, all its credentials together"),
	FIELD(limits_shown, credentials, .of = &credential_limits_shape, .max = CREDENTIALS_MAX, .doc = "Its API keys and OAuth clients, the newest first"),
	FIELD(limits_shown, month, .doc = "The month that is counted"),
	FIELD(limits_shown, uncounted, .doc = "Requests of any application that passed uncounted, because the table is full"));
SHAPE(limits_page_query, "Which part of the list", PAGE_QUERY(limits_page_query));
SHAPE(limits_query, "Of which application",
	FIELD(limits_query, application, .required = true, .doc = "Its identifier"));
PAGE_SHAPE(application_limits_page, "Limits of the applications", application_limits_shape);
/* clang-format on */

READ_OPERATION(limits_show, limits_query, limits_shown, .id = "limits.show",
    .command = "limits show", .product = "Core Platform",
    .summary = "Show an application's request limits and what is left of them");
LIST_OPERATION(limits_list, limits_page_query, application_limits_page,
    .id = "limits.list", .command = "limits list", .product = "Core Platform",
    .summary = "List the applications' request limits and what is left");

/* The table of a moment; NULL: nothing was counted yet. */
struct counts {
	struct limit_table *table;
	struct month month;
	uint64_t now_ns;
};

static int
open_counts(struct context *c, struct counts *out, struct err *e)
{
	struct err own = { 0 };

	out->month = month_of(c->now);
	out->now_ns = (uint64_t)service_steady(c->service).us * 1000;
	out->table = limits_store_table(
	    service_limits(c->service), &out->month, false, &own);
	return own.kind ? err_set(e, own.kind, "%s", own.detail) : 0;
}

static void
look(const struct counts *counts, struct limit_key key, struct limit limit,
    int64_t *remaining, int64_t *used)
{
	struct bucket bucket = bucket_of(
	    (uint64_t)limit.requests_per_second, (uint64_t)limit.burst);
	struct limit_cell *cell =
	    counts->table
		? limit_cell_find(counts->table->cells, LIMIT_CELLS, key, false)
		: NULL;
	uint64_t until = cell ? atomic_load(&cell->spent_until_ns) : 0;
	int64_t left = (int64_t)bucket_left(until, bucket, counts->now_ns);

	*used = cell ? (int64_t)atomic_load(&cell->used) : 0;
	*remaining = *used < limit.monthly ? limit.monthly - *used : 0;
	if (left < *remaining)
		*remaining = left;
}

static struct limit
limit_at(const struct rows *r, int column)
{
	return (struct limit){ rows_int(r, column), rows_int(r, column + 1),
		rows_int(r, column + 2) };
}

#define APPLICATION_LIMITS                                              \
	"SELECT a.id, a.uid, a.name, la.requests_per_second, la.burst," \
	" la.monthly FROM application a"                                \
	" LEFT JOIN request_limit la ON la.subject = a.uid "

/* What is set for the application, filled up; all 0: it has no limit. */
static struct limit
whole_limit(const struct context *c, struct limit set)
{
	return limit_is_set(set)
		   ? limit_of_application(service_config(c->service), set)
		   : (struct limit){ 0 };
}

static struct application_limits
application_from(
    struct context *c, const struct rows *r, const struct counts *counts)
{
	struct limit set = limit_at(r, 3), limit = whole_limit(c, set);
	bool own = limit_is_set(set);
	struct application_limits out = {
		.id = rows_int(r, 0),
		.application_uid = rows_uid(r, 1),
		.name = rows_str(r, 2, c->arena),
		.requests_per_second = { own, limit.requests_per_second },
		.burst = { own, limit.burst },
		.monthly = { own, limit.monthly },
		.own_limits = own,
		.remaining_now = { .set = own },
	};

	look(counts, limit_key_of_application(c->place, out.application_uid),
	    limit, &out.remaining_now.v, &out.used_this_month);
	return out;
}

static int
limits_list_read(struct context *c, const struct limits_page_query *in,
    struct page *out, struct err *e)
{
	struct application_limits *items =
	    arena_array(c->arena, (size_t)in->limit, sizeof *items);
	struct counts counts;
	struct rows r;

	if (open_counts(c, &counts, e) ||
	    db_query(c->db, &r, e,
		APPLICATION_LIMITS "WHERE a.id > ? ORDER BY a.id LIMIT ?", "ii",
		in->after_id, in->limit + 1))
		return -1;
	out->data.items = items;
	while (rows_next(&r, e) == 1 && !out->has_more) {
		if (out->data.n == (size_t)in->limit)
			out->has_more = true;
		else
			items[out->data.n++] = application_from(c, &r, &counts);
	}
	if (out->has_more)
		out->next_after_id =
		    (struct opt_int){ true, items[out->data.n - 1].id };
	return rows_end(&r, e);
}

static struct credential_limits
credential_from(struct context *c, const struct rows *r,
    const struct counts *counts, const struct application_limits *application)
{
	struct limit set = limit_at(r, 4);
	struct limit limit = limit_of_credential(
	    set, limit_of_application(service_config(c->service),
		     (struct limit){ application->requests_per_second.v,
			 application->burst.v, application->monthly.v }));
	struct credential_limits out = {
		.id = rows_int(r, 0),
		.credential_uid = rows_uid(r, 1),
		.public_id = rows_str(r, 2, c->arena),
		.status = rows_str(r, 3, c->arena),
		.requests_per_second = limit.requests_per_second,
		.burst = limit.burst,
		.monthly = limit.monthly,
		.own_limits = limit_is_set(set),
	};

	look(counts, limit_key_of_credential(c->place, out.public_id), limit,
	    &out.remaining_now, &out.used_this_month);
	if (application->own_limits &&
	    (!out.own_limits ||
		application->remaining_now.v < out.remaining_now))
		out.remaining_now = application->remaining_now.v;
	return out;
}

static int
add_credentials(struct context *c, const struct counts *counts,
    const struct application_limits *application, struct list *out,
    struct err *e)
{
	struct credential_limits *items =
	    arena_array(c->arena, CREDENTIALS_MAX, sizeof *items);
	struct rows r;

	if (db_query(c->db, &r, e,
		"SELECT c.id, c.uid, c.public_id, c.status,"
		" lc.requests_per_second, lc.burst, lc.monthly FROM ("
		"SELECT id, uid, application, public_id, status FROM credential"
		" UNION ALL SELECT id, uid, application, client_id, status"
		" FROM oauth_client) c"
		" LEFT JOIN request_limit lc ON lc.subject = c.uid"
		" WHERE c.application = ? ORDER BY c.uid DESC LIMIT ?",
		"ui", application->application_uid, (int64_t)CREDENTIALS_MAX))
		return -1;
	while (rows_next(&r, e) == 1 && out->n < CREDENTIALS_MAX)
		items[out->n++] = credential_from(c, &r, counts, application);
	out->items = items;
	return rows_end(&r, e);
}

static int
limits_show_read(struct context *c, const struct limits_query *in,
    struct limits_shown *out, struct err *e)
{
	struct application_limits *application =
	    ARENA_NEW(c->arena, struct application_limits);
	struct counts counts;
	struct rows r;
	int found;

	if (open_counts(c, &counts, e) ||
	    db_query(c->db, &r, e, APPLICATION_LIMITS "WHERE a.uid = ?", "u",
		in->application))
		return -1;
	found = rows_next(&r, e);
	if (found == 1)
		*application = application_from(c, &r, &counts);
	if (rows_end(&r, e))
		return -1;
	if (found != 1)
		return err_set(
		    e, &err_not_found, "there is no such application");
	out->application = application;
	out->month = arena_str(c->arena, str_from(counts.month.name));
	if (counts.table)
		out->uncounted = (int64_t)atomic_load(&counts.table->uncounted);
	return add_credentials(c, &counts, application, &out->credentials, e);
}
