/*
 * The clock set back and far ahead. What a process saw, another one knows: by
 * the last event and by the file `clock`. An operator's word lets it go on.
 */
#include <stdio.h>
#include <string.h>

#include "tests/support/witness.h"

#define SECOND 1000000LL

static int64_t wall_off, steady_off;

static struct instant
wall(const struct clock *c)
{
	(void)c;
	return (
	    struct instant){ clock_system.wall(&clock_system).us + wall_off };
}

static struct instant
steady(const struct clock *c)
{
	(void)c;
	return (struct instant){ clock_system.steady(&clock_system).us +
				 steady_off };
}

static const struct clock moved = { wall, steady };
static struct toy toy;
static struct ledger *ledger;
static struct claims claims;
static int notes;

/* Another process: what it knows is in the ledger's directory. */
static void
open_again(void)
{
	ledger_close(ledger);
	ledger = witness_open(&toy);
}

static struct claim
note(void)
{
	char text[CLAIM_TEXT];
	struct claim c;

	snprintf(text, sizeof text, "note %d", notes++);
	c = claim_note(ledger, text);
	claims_add(&claims, &c);
	return c;
}

static void
expect_good(const char *when)
{
	struct claim c = note();

	if (c.kind != CLAIM_ACKED)
		witness_die(&toy, "%s: %s: %s", when, c.slug, c.detail);
}

static void
expect_refused(const char *when)
{
	for (int i = 0; i < 3; i++) {
		struct claim c = note();

		if (c.kind != CLAIM_REFUSED ||
		    strcmp(c.slug, "clock-implausible"))
			witness_die(&toy, "%s: answered %s", when,
			    c.kind == CLAIM_ACKED ? "yes" : c.slug);
		if (i == 1)
			open_again();
	}
}

static int
decide_confirm(struct tx *tx, void *arg, struct err *e)
{
	struct clock_confirmed data = { .wall = wall(&moved),
		.last = tx_now(tx) };

	(void)arg;
	return tx_emit(tx, &event_clock_confirmed, "ledger", tx_uid(tx), &data,
	    NULL, 0, e);
}

static void
confirm(void)
{
	struct arena *a = arena_new();
	struct command c = { .decide = decide_confirm,
		.actor = { .kind = STR("operator"), .id = STR("tester") },
		.request = uid_new(),
		.arena = a,
		.confirms_clock = true };
	struct receipt r;
	struct err e = { 0 };

	if (ledger_submit(ledger, &c, &r, &e))
		witness_die(&toy, "confirming: %s", e.detail);
	arena_free(a);
}

static void
set_back(void)
{
	wall_off = 0;
	expect_good("the clock is right");
	wall_off = -10 * SECOND;
	expect_refused("10 s back");
	wall_off = 0;
	expect_good("the clock is right again");
	wall_off = -SECOND / 2;
	expect_good("half a second back, as clocks are slewed");
	wall_off = -3600 * SECOND;
	expect_refused("an hour back");
	confirm();
	expect_good("an hour back, confirmed");
	open_again();
	expect_good("an hour back, confirmed, another process");
	wall_off -= 10 * SECOND;
	expect_refused("10 s back from what was confirmed");
	wall_off = 0;
	expect_refused("an hour ahead of what was confirmed");
	confirm();
	expect_good("right again, confirmed");
}

static void
far_ahead(void)
{
	wall_off = 200 * SECOND;
	expect_good("200 s ahead is within what is accepted");
	wall_off = 3600 * SECOND;
	expect_refused("an hour ahead");
	wall_off = 200 * SECOND;
	expect_good("no longer ahead");
	wall_off += 3600 * SECOND;
	steady_off += 3600 * SECOND;
	expect_good("an hour ahead after an hour");
	wall_off += 20 * 365 * 86400 * SECOND;
	expect_refused("twenty years ahead");
	confirm();
	expect_good("twenty years ahead, confirmed");
	wall_off -= 20 * 365 * 86400 * SECOND;
	expect_refused("and back");
	confirm();
	expect_good("and back, confirmed");
}

int
main(void)
{
	toy_create(&toy, witness_fast_dir());
	toy.options.clock = &moved;
	ledger = witness_open(&toy);
	set_back();
	far_ahead();
	ledger_close(ledger);
	witness_all(&claims, &toy);
	printf("%zu acknowledged, %zu refused\n", claims.acked, claims.refused);
	toy_remove(&toy);
	return 0;
}
