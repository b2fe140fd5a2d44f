#include "ledger/write/scrub.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ledger/write/examine.h"

#define NAP_US         100000
#define SECOND_LOOK_NS 200000000L

struct scrubbing {
	const struct scrub_options *how;
	struct scrub_state *state;
	struct storage s;
	struct meter meter;
	int64_t began_us; /* of this call */
	uint64_t read;    /* in this call */
};

/* The rate is real time, whatever clock a test holds still. */
static int64_t
steady_us(void)
{
	return clock_system.steady(&clock_system).us;
}

static bool
is_stopped(const struct scrubbing *x)
{
	return x->how->stopped && x->how->stopped(x->how->arg);
}

/* Waits until that many bytes may have been read. */
static int
keep_rate(void *arg, uint64_t bytes)
{
	struct scrubbing *x = arg;
	double rate = (double)x->how->bytes_per_second;
	int64_t due;

	x->read += bytes;
	x->state->bytes += bytes;
	if (rate <= 0)
		return is_stopped(x);
	due = x->began_us + (int64_t)((double)x->read * 1e6 / rate);
	while (!is_stopped(x)) {
		int64_t left = due - steady_us();
		struct timespec t = { 0 };

		if (left <= 0)
			return 0;
		t.tv_nsec = (left < NAP_US ? left : NAP_US) * 1000;
		nanosleep(&t, NULL);
	}
	return 1;
}

static void
tell(struct scrubbing *x, const struct damage *d)
{
	x->state->damaged++;
	x->how->found(x->how->arg, d);
}

static int
tell_wanting(void *arg, const struct wanting *w, struct arena *a,
    struct str *bytes, struct err *e)
{
	(void)a;
	(void)bytes;
	(void)e;
	tell(arg, &w->damage);
	return 0;
}

/* Whether to go on after a step. */
static bool
step(struct scrubbing *x)
{
	if (x->how->step)
		x->how->step(x->how->arg, x->state, storage_size(&x->s));
	return !is_stopped(x) &&
	       !(x->how->enough && x->how->enough(x->how->arg));
}

/* A pack that is being made anew under its name may not fit its index for a
 * moment. */
static int
inspect_twice(struct scrubbing *x, const char *name,
    struct pack_inspection *seen, struct err *e)
{
	struct timespec t = { 0, SECOND_LOOK_NS };

	if (inspect_pack(x->s.repo, name, &x->meter, seen, e))
		return -1;
	if (seen->stopped || !seen->damaged)
		return 0;
	nanosleep(&t, NULL);
	return inspect_pack(x->s.repo, name, &x->meter, seen, e);
}

static int
scrub_pack(struct scrubbing *x, const char *name, struct err *e)
{
	struct damage d = { .kind = "pack" };
	struct pack_inspection seen;

	if (inspect_twice(x, name, &seen, e))
		return -1;
	if (seen.stopped)
		return 0;
	if (seen.damaged) {
		snprintf(d.name, sizeof d.name, "%s", name);
		snprintf(d.what, sizeof d.what, "%s", seen.what);
		tell(x, &d);
	}
	snprintf(x->state->pack, sizeof x->state->pack, "%s", name);
	return 1;
}

/* 1 all of them, 0 stopped, -1. */
static int
scrub_packs(struct scrubbing *x, struct err *e)
{
	struct pack_names names = { 0 };
	int rc = 1;

	if (x->state->packs_done)
		return 1;
	if (inspect_list_packs(x->s.repo, &names, e))
		return -1;
	for (size_t i = 0; rc == 1 && i < names.n; i++) {
		if (strcmp(names.p[i], x->state->pack) <= 0)
			continue;
		rc = scrub_pack(x, names.p[i], e);
		if (rc == 1 && !step(x))
			rc = 0;
	}
	x->state->packs_done = rc == 1;
	pack_names_free(&names);
	return rc;
}

static int
scrub_batches(struct scrubbing *x, struct err *e)
{
	struct examination exam = { .repo = x->s.repo,
		.meter = &x->meter,
		.wanting = tell_wanting,
		.arg = x };
	int rc = 1;

	exam.recheck =
	    recheck_new(x->s.repo, storage_origin(&x->s), &x->s.keys);
	for (size_t i = 0; rc == 1 && i < x->s.n; i++) {
		const struct batch_ref *b = &x->s.batches[i];
		uint64_t before = exam.objects;

		if (b->first < x->state->next_seq)
			continue;
		if (examine_batch(&exam, b, e)) {
			rc = -1;
			break;
		}
		x->state->next_seq = b->first + b->count;
		x->state->events += b->count;
		x->state->objects += exam.objects - before;
		if (!step(x) && i + 1 < x->s.n)
			rc = 0;
	}
	recheck_free(exam.recheck);
	return rc;
}

static int
read_own(
    void *arg, struct oid oid, struct arena *a, struct commit *c, struct err *e)
{
	struct scrubbing *x = arg;
	struct damage d = { .kind = "commit" };
	struct err why = { 0 };

	if (commit_read(x->s.repo, oid, a, c, &why) == 0)
		return 1;
	if (why.kind != &err_corrupt)
		return err_set(e, why.kind, "%s", why.detail);
	oid_hex(oid, d.name);
	snprintf(d.what, sizeof d.what,
	    "it cannot be read; nothing tells what came before it");
	tell(x, &d);
	return 0;
}

/* The branch, and without a read model the list of batches by it. */
static int
begin(struct scrubbing *x, struct err *e)
{
	struct commit_source own = { read_own, x };
	struct damage d;
	struct oid tip;
	bool whole;
	int rc = storage_branch(&x->s, &tip, &d, e);

	if (rc == 0)
		tell(x, &d);
	if (rc != 1 || x->s.has_view)
		return rc < 0 ? -1 : 0;
	return storage_walk(&x->s, tip, &own, &whole, e);
}

static int
scrub(struct scrubbing *x, struct err *e)
{
	int rc;

	if (begin(x, e))
		return -1;
	rc = scrub_packs(x, e);
	if (rc == 1)
		rc = scrub_batches(x, e);
	x->state->finished = rc == 1;
	return rc < 0 ? -1 : 0;
}

int
ledger_scrub(const struct ledger_options *o, const struct scrub_options *how,
    struct scrub_state *state, struct err *e)
{
	struct scrubbing x = {
		.how = how, .state = state, .began_us = steady_us()
	};
	int rc;

	if (storage_open(o, &x.s, e))
		return -1;
	x.meter = (struct meter){ keep_rate, &x };
	rc = scrub(&x, e);
	storage_close(&x.s);
	return rc;
}
