/*
 * One request against the limits of its credential and its application. The
 * narrower ones are asked first and give back when a wider one refuses, so that
 * what others share is taken only by who passes. Who is not limited is counted
 * all the same.
 */
#include "domain/applications.h"
#include "domain/limits/group.h"
#include "domain/limits/months.h"
#include "domain/pool.h"
#include "ledger/base/log.h"

#define MONTH_WINDOW_S 2592000 /* thirty days: a month's length varies */
#define SECOND_NS      1000000000u
#define SECOND_US      1000000

enum sort { SORT_BURST, SORT_MONTHLY };

/* One limit, and the cell that holds its count. */
struct counter {
	const char *name;
	enum sort sort;
	struct limit_cell *cell;
	struct bucket bucket;
	uint64_t quota, rate;
};

struct counters {
	struct counter items[4];
	size_t n;
	struct limit_cell *unlimited; /* counted and not limited; or NULL */
	struct limit_cell nothing;    /* for who was never counted */
	struct month month;
	struct instant now;
	uint64_t now_ns;
};

static void
add(struct counters *c, const char *burst, const char *monthly,
    struct limit_cell *cell, struct limit limit)
{
	uint64_t rate = (uint64_t)limit.requests_per_second;
	struct bucket bucket = bucket_of(rate, (uint64_t)limit.burst);

	c->items[c->n++] = (struct counter){ burst, SORT_BURST, cell, bucket,
		bucket.burst, rate ? rate : 1 };
	c->items[c->n++] = (struct counter){ monthly, SORT_MONTHLY, cell,
		bucket, (uint64_t)limit.monthly, 1 };
}

static void
tell_full(struct limit_table *table)
{
	if (atomic_fetch_add(&table->uncounted, 1) % 1000 == 0)
		log_line(LOG_ERROR, "limits",
		    "the table of this month is full: requests of credentials "
		    "that it lacks pass uncounted");
}

/* The cells of application and credential; false: they cannot be had. Who was
 * never counted has none, and needs none to be looked at. */
static bool
find_cells(struct service *s, const struct limits_party *party, bool make,
    struct counters *c, struct limit_cell **whole, struct limit_cell **own)
{
	struct err e = { 0 };
	struct limit_table *table =
	    limits_store_table(service_limits(s), &c->month, make, &e);

	*whole = *own = &c->nothing;
	if (!table)
		return e.kind == NULL;
	*whole = limit_cell_find(table->cells, LIMIT_CELLS,
	    limit_key_of_application(&party->place, party->application), make);
	*own = limit_cell_find(table->cells, LIMIT_CELLS,
	    limit_key_of_credential(&party->place, party->credential), make);
	if (make && (!*whole || !*own)) {
		tell_full(table);
		return false;
	}
	*whole = *whole ? *whole : &c->nothing;
	*own = *own ? *own : &c->nothing;
	return true;
}

/* Which limits hold: those of the credential alone unless some are set for its
 * application; and then the application's, with the credential's own if any. */
static void
add_limits(struct counters *c, const struct limits *set,
    const struct config *config, struct limit_cell *whole,
    struct limit_cell *own)
{
	struct limit application =
	    limit_of_application(config, set->application);
	struct limit credential =
	    limit_of_credential(set->credential, application);

	if (!limit_is_set(set->application)) {
		add(c, "burst", "monthly", own, credential);
		c->unlimited = whole;
	} else if (!limit_is_set(set->credential)) {
		add(c, "burst", "monthly", whole, application);
		c->unlimited = own;
	} else {
		add(c, "burst", "monthly", own, credential);
		add(c, "application-burst", "application-monthly", whole,
		    application);
	}
}

static bool
find(struct service *s, const struct limits_party *party, bool make,
    struct counters *out)
{
	struct limit_cell *whole, *own;

	*out = (struct counters){ .now = service_now(s) };
	out->now_ns = (uint64_t)service_steady(s).us * 1000;
	out->month = month_of(out->now);
	if (!find_cells(s, party, make, out, &whole, &own))
		return false;
	add_limits(out, &party->limits, service_config(s), whole, own);
	return true;
}

static bool
take(const struct counters *c, const struct counter *k)
{
	if (k->sort == SORT_BURST)
		return bucket_take(
		    &k->cell->spent_until_ns, k->bucket, c->now_ns);
	return quota_take(&k->cell->used, k->quota);
}

static void
give_back(const struct counter *k)
{
	if (k->sort == SORT_BURST)
		bucket_give_back(&k->cell->spent_until_ns, k->bucket);
	else
		quota_give_back(&k->cell->used);
}

static uint64_t
divide_up(uint64_t a, uint64_t b)
{
	return a / b + (a % b > 0);
}

static struct limits_item
item_of(const struct counters *c, const struct counter *k)
{
	uint64_t until = atomic_load(&k->cell->spent_until_ns);
	uint64_t used = atomic_load(&k->cell->used);
	struct limits_item item = { .name = k->name, .quota = k->quota };

	if (k->sort == SORT_BURST) {
		item.window_s = divide_up(k->quota, k->rate);
		item.left = bucket_left(until, k->bucket, c->now_ns);
		item.reset_s = divide_up(
		    bucket_wait_ns(until, k->bucket, c->now_ns), SECOND_NS);
	} else {
		item.window_s = MONTH_WINDOW_S;
		item.left = used < k->quota ? k->quota - used : 0;
		item.reset_s = divide_up(
		    (uint64_t)(c->month.end.us - c->now.us), SECOND_US);
	}
	return item;
}

static void
report(const struct counters *c, struct limits_report *out)
{
	for (size_t i = 0; i < c->n; i++)
		out->items[i] = item_of(c, &c->items[i]);
	out->n = c->n;
}

/* Which limits, and until when. Between the refusal and the report another
 * request may have given back what this one lacked. */
static int
refuse(struct limits_report *r, size_t failed, struct arena *a, struct err *e)
{
	struct json *extension = json_object(a), *names = json_array(a);
	uint64_t wait_s = 1;

	r->items[failed].left = 0;
	if (r->items[failed].reset_s == 0)
		r->items[failed].reset_s = 1;
	for (size_t i = 0; i < r->n; i++) {
		struct limits_item *item = &r->items[i];

		item->violated = item->left == 0;
		if (!item->violated)
			continue;
		json_push(names, json_string(a, str_from(item->name)));
		if (item->reset_s > wait_s)
			wait_s = item->reset_s;
	}
	json_put(extension, "violated-policies", names);
	err_set(e, &err_rate, "%s: %llu requests are permitted in it",
	    r->items[failed].name, (unsigned long long)r->items[failed].quota);
	if (e) {
		e->extension = extension;
		e->retry_after_s = (uint32_t)wait_s;
	}
	return -1;
}

int
limits_take(struct service *s, const struct limits_party *party,
    struct arena *a, struct limits_report *out, struct err *e)
{
	struct counters c;
	size_t taken = 0;

	*out = (struct limits_report){ .n = 0 };
	if (!find(s, party, true, &c))
		return 0;
	while (taken < c.n && take(&c, &c.items[taken]))
		taken++;
	if (taken < c.n)
		for (size_t i = taken; i-- > 0;)
			give_back(&c.items[i]);
	else if (c.unlimited)
		atomic_fetch_add(&c.unlimited->used, 1);
	report(&c, out);
	return taken < c.n ? refuse(out, taken, a, e) : 0;
}

void
limits_look(struct service *s, const struct limits_party *party,
    struct limits_report *out)
{
	struct counters c;

	*out = (struct limits_report){ .n = 0 };
	if (find(s, party, false, &c))
		report(&c, out);
}

int
limits_keep(struct service *s, struct err *e)
{
	struct month month = month_of(service_now(s));

	return limits_store_keep(service_limits(s), &month, e);
}
