/*
 * The worker's scrub: a cycle over the whole repository at a set rate, in
 * slices, so that a lease need not last for days. Between slices its place is
 * in a file of this machine's, which may be lost: then it begins again.
 */
#include "domain/damage.h"
#include "domain/ledger_ops/group.h"
#include "domain/service.h"
#include "ledger/base/io.h"
#include "ledger/base/log.h"

#define DAY_US    INT64_C(86400000000)
#define SLICE_US  (INT64_C(50) * 60 * 1000000)
#define SAVE_US   INT64_C(10000000)
#define ALARM_US  INT64_C(10000000) /* from a damage to its event */
#define PLACE_MAX 4096
/* What a slice tells of has to fit into the event that ends its job. */
#define TOLD_AT_ONCE 60

static bool scrub_due(struct context *);
static int scrub_run(
    struct context *, const struct job *, const struct json **, struct err *);
static int scrub_settle(
    struct context *, const struct job *, const struct json *, struct err *);

const struct job_kind job_ledger_scrub = {
	.name = "ledger.scrub",
	.lease_s = 21600,
	.attempts = 3,
	.run = scrub_run,
	.settle = scrub_settle,
	.due = scrub_due,
	.no_reading = true,
	.background = true,
};

/* The file. */
struct scrub_place {
	struct str pack;
	bool packs_done, finished;
	int64_t next_seq, events, objects, bytes, damaged, busy_us;
	struct instant started_at;
};

/* What a slice found out: the job's result. */
struct scrub_slice {
	struct list found, mended;
	int64_t seen;
	const void *scrubbed;
};

/* clang-format off */
SHAPE(scrub_place, "Where a scrub stands",
	FIELD(scrub_place, pack, .required = true, .max = 64, .doc = "The last pack that was looked at"),
	FIELD(scrub_place, packs_done, .required = true, .doc = "Whether it was the last of all"),
	FIELD(scrub_place, finished, .required = true, .doc = "Whether nothing is left"),
	FIELD(scrub_place, next_seq, .required = true, .min = 0, .doc = "Batches from this event on are left"),
	FIELD(scrub_place, events, .required = true, .min = 0, .doc = "Events gone over"),
	FIELD(scrub_place, objects, .required = true, .min = 0, .doc = "Objects looked at"),
	FIELD(scrub_place, bytes, .required = true, .min = 0, .doc = "Bytes read"),
	FIELD(scrub_place, damaged, .required = true, .min = 0, .doc = "Damages found"),
	FIELD(scrub_place, busy_us, .required = true, .min = 0, .doc = "Time at work"),
	FIELD(scrub_place, started_at, .required = true, .doc = "When it began"));

SHAPE(scrub_slice, "What a slice of a scrub found out",
	FIELD(scrub_slice, found, .required = true, .of = &damaged_object_shape, .max = TOLD_AT_ONCE, .doc = "What is damaged"),
	FIELD(scrub_slice, seen, .required = true, .min = 0, .doc = "How much is damaged"),
	FIELD(scrub_slice, mended, .required = true, .of = &damaged_object_shape, .max = TOLD_AT_ONCE, .doc = "What was damaged and is whole again"),
	FIELD(scrub_slice, scrubbed, .of = &scrubbed_shape, .doc = "The whole scrub, at its end"));
/* clang-format on */

struct slice {
	struct context *c;
	const char *file;
	struct scrub_state state;
	struct instant started_at;
	int64_t busy_us; /* in slices before */
	int64_t began_us, saved_us, alarm_us;
	bool alarm, full;
	struct scrubbed last;
	struct damage_list found;
};

static int64_t
steady_us(void)
{
	return clock_system.steady(&clock_system).us;
}

static int
find_file(struct context *c, struct ledger_options *o, const char **file,
    struct err *e)
{
	if (service_ledger_options(c->service, c->place, c->arena, o, e))
		return -1;
	*file = arena_printf(c->arena, "%s/scrub", o->dir);
	return 0;
}

/* How long ago the last one ended; before the first, how long a worker has been
 * looking after this ledger: a new ledger's disk is as new. */
static bool
is_time(struct context *c)
{
	struct scrubbed last = { 0 };
	struct err e = { 0 };
	int found = damage_read_scrub(c->db, &last, &e);

	if (found == 0)
		found = db_get_int(c->db, &last.finished_at.us, c->now.us, &e,
		    "SELECT coalesce(min(queued_at), ?) FROM job", "i",
		    c->now.us);
	if (found < 0) {
		log_line(LOG_WARN, "worker", "cannot read the last scrub: %s",
		    e.detail);
		return false;
	}
	return c->now.us - last.finished_at.us >=
	       service_config(c->service)->scrub_days * DAY_US;
}

static bool
read_place(struct arena *a, const char *file, struct scrub_place *out)
{
	struct json *v;
	struct str text;

	return !io_read_file(a, file, PLACE_MAX, &text, NULL) &&
	       !json_parse(a, text, &json_limits_default, &v, NULL) &&
	       !shape_decode_json(&scrub_place_shape, v, a, out, NULL) &&
	       out->pack.n < sizeof((struct scrub_state *)NULL)->pack;
}

static bool
scrub_due(struct context *c)
{
	struct scrub_place place;
	struct ledger_options o;
	const char *file;

	if (is_time(c))
		return true;
	/* One that was begun goes on. */
	return !find_file(c, &o, &file, NULL) &&
	       read_place(c->arena, file, &place) && !place.finished;
}

/* Where the slice before ended, unless that was the end and is recorded. */
static void
load(struct slice *s)
{
	struct scrub_place place;

	s->started_at = service_now(s->c->service);
	if (!read_place(s->c->arena, s->file, &place) ||
	    place.started_at.us <= s->last.started_at.us)
		return;
	s->state = (struct scrub_state){
		.packs_done = place.packs_done,
		.finished = place.finished,
		.next_seq = (uint64_t)place.next_seq,
		.events = (uint64_t)place.events,
		.objects = (uint64_t)place.objects,
		.bytes = (uint64_t)place.bytes,
		.damaged = (uint64_t)place.damaged,
	};
	for (size_t i = 0; i < place.pack.n; i++)
		s->state.pack[i] = place.pack.p[i];
	s->busy_us = place.busy_us;
	s->started_at = place.started_at;
}

static int64_t
busy_us(const struct slice *s)
{
	return s->busy_us + steady_us() - s->began_us;
}

static void
save(struct slice *s)
{
	struct arena *a = arena_new();
	struct scrub_place place = {
		.pack = str_from(s->state.pack),
		.packs_done = s->state.packs_done,
		.finished = s->state.finished,
		.next_seq = (int64_t)s->state.next_seq,
		.events = (int64_t)s->state.events,
		.objects = (int64_t)s->state.objects,
		.bytes = (int64_t)s->state.bytes,
		.damaged = (int64_t)s->state.damaged,
		.busy_us = busy_us(s),
		.started_at = s->started_at,
	};
	struct err e = { 0 };
	struct buf b;

	buf_init(&b, PLACE_MAX);
	json_write(shape_encode(&scrub_place_shape, &place, a), &b);
	if (io_write_file(s->file, buf_str(&b), 0600, &e))
		log_line(LOG_WARN, "worker",
		    "the scrub's place is not kept: %s", e.detail);
	buf_fini(&b);
	arena_free(a);
	s->saved_us = steady_us();
}

static bool
stopped(void *arg)
{
	const struct slice *s = arg;

	return service_is_stopping(s->c->service);
}

/* An alarm does not wait for the end of the slice. */
static bool
enough(void *arg)
{
	const struct slice *s = arg;
	int64_t now = steady_us();

	return now - s->began_us >= SLICE_US ||
	       (s->alarm && now - s->alarm_us >= ALARM_US) ||
	       (!s->full && s->found.n >= TOLD_AT_ONCE);
}

static void
found(void *arg, const struct damage *d)
{
	struct slice *s = arg;

	if (!s->alarm)
		s->alarm_us = steady_us();
	s->alarm = true;
	if (s->full || s->found.n >= TOLD_AT_ONCE) {
		s->found.all++;
		return;
	}
	damage_list_add(&s->found, s->c->arena, d);
	log_line(LOG_ERROR, "scrub", "%.*s: %s %s: %s",
	    STR_ARGS(ledger_origin(s->c->ledger)), d->kind, d->name, d->what);
}

static void
step(void *arg, const struct scrub_state *state, uint64_t total)
{
	struct slice *s = arg;

	(void)state;
	(void)total;
	if (steady_us() - s->saved_us >= SAVE_US)
		save(s);
}

/* Where so much is known to be damaged that more names help nobody, they are
 * counted. */
static int
read_known(struct slice *s, struct err *e)
{
	struct damage_list open = { 0 };
	struct reading reading;
	int rc;

	if (ledger_read_begin(s->c->ledger, &reading, e))
		return -1;
	rc = damage_read_open(reading.db, s->c->arena, &open, e);
	if (rc == 0 && damage_read_scrub(reading.db, &s->last, e) < 0)
		rc = -1;
	ledger_read_end(&reading);
	s->full = open.n >= DAMAGE_TOLD_MAX;
	return rc;
}

static const struct scrubbed *
whole_scrub(struct slice *s)
{
	struct scrubbed *whole = ARENA_NEW(s->c->arena, struct scrubbed);

	*whole = (struct scrubbed){
		.events = (int64_t)s->state.events,
		.objects = (int64_t)s->state.objects,
		.bytes = (int64_t)s->state.bytes,
		.damaged = (int64_t)s->state.damaged,
		.seconds = busy_us(s) / 1000000,
		.started_at = s->started_at,
		.finished_at = service_now(s->c->service),
	};
	return whole;
}

static int
scrub_run(struct context *c, const struct job *job, const struct json **result,
    struct err *e)
{
	struct slice s = { .c = c, .began_us = steady_us() };
	struct scrub_options how = { .stopped = stopped,
		.enough = enough,
		.found = found,
		.step = step,
		.arg = &s };
	struct damage_list mended = { 0 };
	struct scrub_slice out = { 0 };
	struct ledger_options o;

	(void)job;
	s.saved_us = s.began_us;
	how.bytes_per_second =
	    (uint64_t)service_config(c->service)->scrub_mib_per_second << 20;
	if (find_file(c, &o, &s.file, e) || read_known(&s, e))
		return -1;
	load(&s);
	if (!s.state.finished && ledger_scrub(&o, &how, &s.state, e))
		return -1;
	save(&s);
	if (damage_find_mended(c->ledger, &o, c->arena, &mended, e))
		return -1;
	out.found = (struct list){ s.found.p, s.found.n };
	out.seen = (int64_t)s.found.all;
	out.mended = (struct list){ mended.p,
		mended.n < TOLD_AT_ONCE ? mended.n : TOLD_AT_ONCE };
	if (s.state.finished)
		out.scrubbed = whole_scrub(&s);
	*result = shape_encode(&scrub_slice_shape, &out, c->arena);
	return 0;
}

static struct damage_list
list_of(struct list l, int64_t all, struct arena *a)
{
	struct damage_list out = { .n = l.n, .all = (uint64_t)all };

	out.p = arena_array(a, l.n + 1, sizeof *out.p);
	for (size_t i = 0; i < l.n; i++)
		out.p[i] = ((const struct damaged_object *)l.items)[i];
	return out;
}

static int
scrub_settle(struct context *c, const struct job *job,
    const struct json *result, struct err *e)
{
	struct damage_news news = { 0 };
	struct scrub_slice in;

	(void)job;
	if (shape_decode_json(&scrub_slice_shape, result, c->arena, &in, e))
		return -1;
	news.found = list_of(in.found, in.seen, c->arena);
	news.mended = list_of(in.mended, (int64_t)in.mended.n, c->arena);
	news.scrubbed = in.scrubbed;
	return damage_decide(c->tx, &news, e);
}
