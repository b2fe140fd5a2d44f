/*
 * Looking for damage now, and mending it. What is found and mended is recorded
 * in the ledger, if it can be opened.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "domain/damage.h"
#include "domain/mirror.h"
#include "domain/probityctl/ctl.h"
#include "ledger/base/io.h"
#include "ledger/write/heal.h"

#define SHOW_US 100000

struct scrub_request {
	struct opt_int rate;
};

struct heal_request {
	struct str from;
};

/* clang-format off */
SHAPE(scrub_request, "How fast to read",
	FIELD(scrub_request, rate, .min = 1, .max = 100000, .doc = "MiB a second; scrub_mib_per_second when not given"));
SHAPE(heal_request, "Where whole objects are taken from",
	FIELD(heal_request, from, .required = true, .doc = "Path of a mirror, backup or clone; ssh://… or https://…"));
/* clang-format on */

struct work {
	struct ctl *ctl;
	struct ledger_options options;
	struct damage_news news;
	struct damage_list left;
	int64_t shown_us; /* when the progress was */
};

static int
decide(struct tx *tx, void *arg, struct err *e)
{
	return damage_decide(tx, arg, e);
}

static int
submit(struct work *w, struct ledger *l, struct err *e)
{
	struct arena *a = w->ctl->arena;
	struct command command = {
		.decide = decide,
		.arg = &w->news,
		.actor = { .kind = STR("operator"), .id = operator_name(a) },
		.arena = a,
	};
	struct receipt receipt;

	if (damage_find_mended(l, &w->options, a, &w->news.mended, e))
		return -1;
	return ledger_submit(l, &command, &receipt, e);
}

/* A ledger that cannot be opened or written keeps no record of it; what was
 * found is printed all the same. */
static void
record(struct work *w)
{
	struct service *s = w->ctl->service;
	struct err e = { 0 };
	struct ledger *l;

	if (service_acquire(s, &w->ctl->place, &l, &e) == 0) {
		submit(w, l, &e);
		service_release(s, l);
	}
	if (e.kind)
		fprintf(stderr, "probityctl: not recorded in the ledger: %s\n",
		    e.detail);
}

static struct json *
list_json(struct arena *a, const struct damage_list *list)
{
	struct json *v = json_array(a);

	for (size_t i = 0; i < list->n; i++)
		json_push(
		    v, shape_encode(&damaged_object_shape, &list->p[i], a));
	return v;
}

static void
print_json(const struct json *v)
{
	struct buf b;

	buf_init(&b, (size_t)4 << 20);
	json_write_pretty(v, &b);
	printf("%.*s\n", STR_ARGS(buf_str(&b)));
	buf_fini(&b);
}

static void
print_list(const char *word, const struct damage_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct damaged_object *o = &list->p[i];

		printf("%-20s  %.*s %.*s", word, STR_ARGS(o->kind),
		    STR_ARGS(o->name));
		if (o->first_seq.set)
			printf(", events %" PRId64 " to %" PRId64,
			    o->first_seq.v, o->last_seq.v);
		printf(": %.*s\n", STR_ARGS(o->what));
	}
}

static int
say_damaged(uint64_t n, struct err *e)
{
	fflush(stdout);
	return err_set(e, &err_damaged,
	    n == 1 ? "%" PRIu64 " damage is there"
		   : "%" PRIu64 " damages are there",
	    n);
}

static void
on_found(void *arg, const struct damage *d)
{
	struct work *w = arg;

	damage_list_add(&w->news.found, w->ctl->arena, d);
}

static void
on_step(void *arg, const struct scrub_state *state, uint64_t total)
{
	struct work *w = arg;
	int64_t now = clock_system.steady(&clock_system).us;

	if (now - w->shown_us < SHOW_US && state->events < total)
		return;
	w->shown_us = now;
	fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " events, %" PRIu64 " MiB",
	    state->events, total, state->bytes >> 20);
	if (state->events >= total)
		fputc('\n', stderr);
}

static uint64_t
rate(const struct ctl *ctl)
{
	struct str given = ctl_param(ctl, "rate");
	uint64_t mib;

	if (!given.p || !str_to_u64(given, &mib))
		mib = (uint64_t)ctl->config.scrub_mib_per_second;
	return mib << 20;
}

static void
print_scrub(const struct work *w, const struct scrubbed *s)
{
	struct arena *a = w->ctl->arena;
	struct json *v;

	if (w->ctl->json) {
		v = shape_encode(&scrubbed_shape, s, a);
		json_put(v, "damage", list_json(a, &w->news.found));
		print_json(v);
		return;
	}
	printf("%-20s  %" PRId64 "\n%-20s  %" PRId64 "\n%-20s  %" PRId64
	       "\n%-20s  %" PRId64 "\n",
	    "events", s->events, "objects", s->objects, "bytes read", s->bytes,
	    "seconds", s->seconds);
	print_list("damaged", &w->news.found);
}

int
run_scrub(struct ctl *ctl, struct err *e)
{
	struct work w = { .ctl = ctl };
	struct scrub_options how = { .bytes_per_second = rate(ctl),
		.found = on_found,
		.step = isatty(STDERR_FILENO) ? on_step : NULL,
		.arg = &w };
	struct scrub_state state = { 0 };
	struct scrubbed whole = { .started_at = service_now(ctl->service) };

	if (service_ledger_options(
		ctl->service, &ctl->place, ctl->arena, &w.options, e) ||
	    ledger_scrub(&w.options, &how, &state, e))
		return -1;
	whole.events = (int64_t)state.events;
	whole.objects = (int64_t)state.objects;
	whole.bytes = (int64_t)state.bytes;
	whole.damaged = (int64_t)state.damaged;
	whole.finished_at = service_now(ctl->service);
	whole.seconds = (whole.finished_at.us - whole.started_at.us) / 1000000;
	if (whole.seconds < 0)
		whole.seconds = 0;
	w.news.scrubbed = &whole;
	record(&w);
	print_scrub(&w, &whole);
	return state.damaged > 0 ? say_damaged(state.damaged, e) : 0;
}

static void
on_outcome(void *arg, const struct damage *d, bool mended)
{
	struct work *w = arg;

	damage_list_add(&w->news.found, w->ctl->arena, d);
	damage_list_add(mended ? &w->news.mended : &w->left, w->ctl->arena, d);
}

static void
print_heal(const struct work *w, const struct heal_report *r)
{
	struct arena *a = w->ctl->arena;
	struct json *v = json_object(a);

	if (!w->ctl->json) {
		printf("%-20s  %" PRIu64 "\n%-20s  %" PRIu64 "\n%-20s  %" PRIu64
		       "\n",
		    "events", r->events, "events of the mirror", r->mirror_size,
		    "objects moved", r->moved);
		print_list("mended", &w->news.mended);
		print_list("not mended", &w->left);
		return;
	}
	json_put_int(a, v, "events", (int64_t)r->events);
	json_put_int(a, v, "mirror_size", (int64_t)r->mirror_size);
	json_put_int(a, v, "moved", (int64_t)r->moved);
	json_put(v, "mended", list_json(a, &w->news.mended));
	json_put(v, "left", list_json(a, &w->left));
	print_json(v);
}

static int
heal_from(struct work *w, const char *path, struct err *e)
{
	struct heal_options how = { .outcome = on_outcome,
		.progress = isatty(STDERR_FILENO) ? show_progress : NULL,
		.arg = w };
	struct heal_report r;

	if (ledger_heal(&w->options, path, &how, &r, e))
		return -1;
	print_heal(w, &r);
	record(w);
	return r.left > 0 ? say_damaged(r.left, e) : 0;
}

/* A copy for this once, beside the ledger. */
static int
heal_from_afar(struct work *w, struct str from, struct err *e)
{
	struct arena *a = w->ctl->arena;
	char *copy = arena_printf(a, "%s/mirror.fetched", w->options.dir);
	int rc = -1;

	(void)io_remove_tree(copy);
	if (repo_create(copy, e) == 0 &&
	    mirror_fetch(w->ctl->service, &w->ctl->place, from, copy, a, e) ==
		0)
		rc = heal_from(w, copy, e);
	(void)io_remove_tree(copy);
	return rc;
}

int
run_heal(struct ctl *ctl, struct err *e)
{
	struct str from = ctl_param(ctl, "from");
	struct work w = { .ctl = ctl };

	if (service_ledger_options(
		ctl->service, &ctl->place, ctl->arena, &w.options, e))
		return -1;
	if (str_has_prefix(from, STR("ssh://")) ||
	    str_has_prefix(from, STR("https://")))
		return heal_from_afar(&w, from, e);
	return heal_from(&w, arena_cstr(ctl->arena, from), e);
}
