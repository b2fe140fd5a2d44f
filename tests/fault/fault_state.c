/*
 * Files that are not as they were left: a stale lock on the branch; state.db
 * missing, older, newer, unreadable, of another ledger; the branch set back
 * beside a running process; a sync that failed; commands that fail among others
 * that do not; and contents that SHA-1 collision detection refuses.
 *
 * libgit2 is built with that detection, but no bytes are published that
 * trigger it behind the header which git puts before a content. So its refusal
 * is played here, in the words of libgit2, by a function that is put before the
 * library's.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/store/git2_library.h"
#include "tests/support/witness.h"

#define POISON "these bytes collide"

static __typeof__(&git_odb_hash) real_hash;

static int
hash(git_oid *out, const void *p, size_t n, git_object_t kind)
{
	if (memmem(p, n, POISON, strlen(POISON)) == NULL)
		return real_hash(out, p, n, kind);
	git2.error_set_str(GIT_ERROR_SHA, "SHA1 collision attack detected");
	return -1;
}

static bool sync_fails;

int
syncfs(int fd)
{
	int (*real)(int);

	*(void **)&real = dlsym(RTLD_NEXT, "syncfs");
	if (!sync_fails)
		return real(fd);
	errno = EIO;
	return -1;
}

static struct toy toy;
static struct ledger *ledger;
static struct claims claims;
static int notes;

static struct claim
note(const char *text)
{
	char own[CLAIM_TEXT];
	struct claim c;

	snprintf(own, sizeof own, "%s, note %d", text, notes++);
	c = claim_note(ledger, own);
	claims_add(&claims, &c);
	return c;
}

static void
expect_good(const char *when)
{
	struct claim c = note(when);

	if (c.kind != CLAIM_ACKED)
		witness_die(&toy, "%s: %s: %s", when, c.slug, c.detail);
}

static void
expect_slug(const char *when, const char *slug)
{
	struct claim c = note(when);

	if (c.kind != CLAIM_REFUSED || strcmp(c.slug, slug) != 0)
		witness_die(&toy, "%s: not answered %s but %s", when, slug,
		    c.kind == CLAIM_ACKED ? "yes" : c.slug);
}

static void
expect_open_fails(const char *when, const struct err_kind *kind)
{
	struct err e = { 0 };

	if (ledger_open(&toy.options, &ledger, &e) == 0)
		witness_die(&toy, "%s: was opened", when);
	if (e.kind != kind)
		witness_die(&toy, "%s: %s: %s", when, e.kind->slug, e.detail);
}

static void
shell(const char *what)
{
	if (witness_shell("cd '%s' && %s", toy.ledger_dir, what) != 0)
		witness_die(&toy, "%s", what);
}

static void
same_view(const char *when, struct digest before)
{
	if (!digest_eq(before, toy_hash_view(toy.ledger_dir)))
		witness_die(&toy, "%s: the read model is another one", when);
}

static void
stale_lock(void)
{
	static const char make[] = "touch ledger.git/refs/heads/main.lock";
	static const char gone[] = "test ! -e ledger.git/refs/heads/main.lock";

	ledger = witness_open(&toy);
	shell(make);
	expect_good("stale lock, while open");
	shell(gone);
	ledger_close(ledger);
	shell(make);
	ledger = witness_open(&toy);
	expect_good("stale lock, at opening");
	shell(gone);
	ledger_close(ledger);
}

static void
older_state(void)
{
	ledger = witness_open(&toy);
	expect_good("older state");
	ledger_close(ledger);
	shell("cp state.db state.old");
	ledger = witness_open(&toy);
	for (int i = 0; i < 20; i++)
		expect_good("after the copy");
	ledger_sync(ledger, NULL);
	ledger_close(ledger);
	shell("rm -f state.db-* && mv state.old state.db");
	ledger = witness_open(&toy);
	claims_check(&claims, &toy, ledger);
	expect_good("older state, caught up");
	ledger_close(ledger);
	shell("rm state.db");
	ledger = witness_open(&toy);
	claims_check(&claims, &toy, ledger);
	ledger_close(ledger);
	witness_rebuild(&toy);
}

/* The repository restored from before: state.db knows of more. */
static void
newer_state(void)
{
	struct digest before;

	shell("cp -a ledger.git older.git");
	ledger = witness_open(&toy);
	for (int i = 0; i < 5; i++)
		expect_good("will be missing");
	ledger_close(ledger);
	before = toy_hash_view(toy.ledger_dir);
	shell("mv ledger.git newer.git && cp -a older.git ledger.git");
	expect_open_fails("newer state", &err_rolled_back);
	expect_open_fails("newer state, once more", &err_rolled_back);
	same_view("newer state", before);
	shell("rm -rf ledger.git && mv newer.git ledger.git && rm -rf"
	      " older.git");
	ledger = witness_open(&toy);
	claims_check(&claims, &toy, ledger);
	expect_good("the repository is back");
	ledger_close(ledger);
}

static void
branch_set_back(void)
{
	struct reading r;
	struct err e = { 0 };

	ledger = witness_open(&toy);
	ledger_sync(ledger, NULL);
	shell("cat ledger.git/refs/heads/main > main.saved && cd ledger.git &&"
	      " git --git-dir=. update-ref refs/heads/main main~3");
	expect_slug("branch set back", "ledger-rolled-back");
	expect_slug("branch set back", "ledger-rolled-back");
	if (ledger_read_begin(ledger, &r, &e))
		witness_die(&toy, "reading: %s", e.detail);
	ledger_read_end(&r);
	shell("cp main.saved ledger.git/refs/heads/main");
	expect_good("the branch is back");
	ledger_close(ledger);
}

static void
unreadable_state(void)
{
	uint64_t events;
	struct err e = { 0 };

	shell("rm -f state.db-* && head -c 40960 /dev/urandom > state.db");
	expect_open_fails("unreadable state", &err_view_damaged);
	if (ledger_rebuild(&toy.options, NULL, NULL, &events, &e))
		witness_die(&toy, "rebuild: %s", e.detail);
	ledger = witness_open(&toy);
	claims_check(&claims, &toy, ledger);
	expect_good("made anew");
	ledger_close(ledger);
}

static void
foreign_state(void)
{
	struct toy other;

	toy_create(&other, witness_fast_dir());
	shell("cp state.db state.own");
	if (witness_shell("rm -f '%s'/state.db-*; cp '%s/state.db' '%s'",
		toy.ledger_dir, other.ledger_dir, toy.ledger_dir) != 0)
		witness_die(&toy, "cp");
	expect_open_fails("state of another ledger", &err_rolled_back);
	shell("mv state.own state.db");
	ledger = witness_open(&toy);
	expect_good("the own state again");
	ledger_close(ledger);
	toy_remove(&other);
}

/* Whether the libgit2 that runs here detects at all. */
static int
look_for_words(struct dl_phdr_info *info, size_t size, void *arg)
{
	static const char words[] = "SHA1 collision attack detected";

	(void)size;
	if (strstr(info->dlpi_name, "libgit2") == NULL)
		return 0;
	*(bool *)arg =
	    witness_shell("grep -qaF '%s' '%s'", words, info->dlpi_name) == 0;
	return 1;
}

/* Emits, then meets a fault. */
static int
decide_fault(struct tx *tx, void *arg, struct err *e)
{
	struct toy_noted data = { .id = 1 << 20, .text = *(struct str *)arg };

	if (tx_emit(tx, &event_toy_noted, "toy", tx_uid(tx), &data, NULL, 0, e))
		return -1;
	return err_set(e, &err_internal, "a fault, as asked");
}

static void
submit_fault(struct claim *c)
{
	struct arena *a = arena_new();
	struct str text = str_from(c->text);
	struct command command = { .decide = decide_fault,
		.arg = &text,
		.actor = { .kind = STR("operator"), .id = STR("tester") },
		.request = uid_new(),
		.arena = a };
	struct receipt r;
	struct err e = { 0 };

	c->kind = ledger_submit(ledger, &command, &r, &e) ? CLAIM_REFUSED
							  : CLAIM_ACKED;
	snprintf(c->slug, sizeof c->slug, "%s", e.kind ? e.kind->slug : "");
	arena_free(a);
}

static void *
note_in_crowd(void *arg)
{
	struct claim *c = arg;

	if (strncmp(c->text, "fault", 5) == 0)
		submit_fault(c);
	else
		*c = claim_note(ledger, c->text);
	return NULL;
}

/* One poisonous command among many is refused alone. */
static void
poison(int round)
{
	struct claim told[16];
	pthread_t threads[16];

	memset(told, 0, sizeof told);
	for (int i = 0; i < 16; i++) {
		snprintf(told[i].text, CLAIM_TEXT, "%s %d %d",
		    i % 8 == 7 ? "fault" : "neighbour", round, i);
		if (pthread_create(&threads[i], NULL, note_in_crowd, &told[i]))
			abort();
	}
	for (int i = 0; i < 16; i++) {
		pthread_join(threads[i], NULL);
		if (told[i].kind !=
			(i % 8 == 7 ? CLAIM_REFUSED : CLAIM_ACKED) ||
		    (i % 8 == 7 && strcmp(told[i].slug, "internal-error")))
			witness_die(&toy, "\"%s\": %s: %s", told[i].text,
			    told[i].slug, told[i].detail);
		claims_add(&claims, &told[i]);
	}
}

/* The kernel tells of a lost write once; the next sync succeeds, also to
 * another process. Whatever was not synced has to be written again. */
static void
failed_sync(bool other)
{
	struct ledger *second = NULL;
	struct err e = { 0 };

	ledger = witness_open(&toy);
	expect_good("before the failed sync");
	if (other)
		second = witness_open(&toy);
	shell("sleep 0.02; touch mark; sleep 0.02");
	sync_fails = true;
	if (ledger_sync(ledger, &e) == 0)
		witness_die(&toy, "a failed sync was not told");
	sync_fails = false;
	if (!other) {
		ledger_close(ledger);
		ledger = witness_open(&toy);
	}
	if (ledger_sync(other ? second : ledger, &e))
		witness_die(&toy, "sync: %s", e.detail);
	shell("test ledger.git/refs/heads/main -nt mark && cd ledger.git &&"
	      " c=$(cat refs/heads/main) && test objects/$(echo $c | cut -c1-2)"
	      "/$(echo $c | cut -c3-) -nt ../mark");
	expect_good("after the failed sync");
	ledger_close(second);
	ledger_close(ledger);
}

static void
poisonous(void)
{
	ledger = witness_open(&toy);
	for (int round = 0; round < 30; round++)
		poison(round);
	expect_good("after poison");
	ledger_close(ledger);
}

/* An event that its own shape refuses could not be projected again. */
static void
unfit(void)
{
	static char text[5000];
	struct arena *a = arena_new();
	struct receipt r;
	struct err e = { 0 };

	memset(text, 'x', sizeof text);
	ledger = witness_open(&toy);
	if (toy_note(ledger, a, (struct str){ text, sizeof text }, &r, &e) == 0)
		witness_die(&toy, "an event of the wrong shape was recorded");
	if (e.kind != &err_internal)
		witness_die(
		    &toy, "wrong shape: %s: %s", e.kind->slug, e.detail);
	expect_good("after the wrong shape");
	ledger_close(ledger);
	arena_free(a);
	witness_rebuild(&toy);
}

static void
collision(void)
{
	struct payload p;
	struct err e = { 0 };
	bool detects = false;

	if (git2_load(&e))
		witness_die(&toy, "libgit2 is not there");
	real_hash = git2.odb_hash;
	git2.odb_hash = hash;
	dl_iterate_phdr(look_for_words, &detects);
	if (!detects)
		witness_die(&toy, "libgit2 has no collision detection");
	ledger = witness_open(&toy);
	if (ledger_store_payload(ledger, STR("a content: " POISON), &p, &e) ==
	    0)
		witness_die(&toy, "a colliding content was stored");
	if (e.kind != &err_invalid)
		witness_die(&toy, "collision: %s: %s", e.kind->slug, e.detail);
	expect_good("after collisions");
	ledger_close(ledger);
}

int
main(void)
{
	toy_create(&toy, witness_fast_dir());
	stale_lock();
	older_state();
	newer_state();
	branch_set_back();
	unreadable_state();
	foreign_state();
	failed_sync(false);
	failed_sync(true);
	poisonous();
	unfit();
	collision();
	witness_all(&claims, &toy);
	printf("%zu acknowledged, %zu refused\n", claims.acked, claims.refused);
	toy_remove(&toy);
	return 0;
}
