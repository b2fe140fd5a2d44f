/*
 * Another key in force: by rotation and by revocation, cut short at each step,
 * noticed by others, and the same after a rebuild.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/chain/key_event.h"
#include "ledger/chain/verify.h"
#include "ledger/write/backup.h"
#include "ledger/write/key_change.h"
#include "tests/support/event_vector.h"
#include "tests/support/toy.h"

static const struct actor operator= { .kind = { "operator", 8 },
	.id = { "root", 4 } };

struct fixture {
	struct toy toy;
	struct ledger *ledger;
	struct arena *a;
	struct public_key first;
	char repo[400], signing[400], next[400];
};

static void
open_ledger(struct fixture *f)
{
	struct err e = { 0 };

	if (ledger_open(&f->toy.options, &f->ledger, &e))
		fail_msg("ledger_open: %s", e.detail);
}

static void
close_ledger(struct fixture *f)
{
	ledger_close(f->ledger);
	f->ledger = NULL;
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	toy_create(&f->toy, NULL);
	f->a = arena_new();
	snprintf(f->repo, sizeof f->repo, "%s/ledger.git", f->toy.ledger_dir);
	snprintf(
	    f->signing, sizeof f->signing, "%s/signing.key", f->toy.keys_dir);
	snprintf(
	    f->next, sizeof f->next, "%s/signing-next.key", f->toy.keys_dir);
	open_ledger(f);
	f->first = ledger_public_key(f->ledger);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	ledger_close(f->ledger);
	arena_free(f->a);
	toy_remove(&f->toy);
	free(f);
	return 0;
}

static struct receipt
note(struct fixture *f, const char *text)
{
	struct err e = { 0 };
	struct receipt r;

	if (toy_note(f->ledger, f->a, str_from(text), &r, &e))
		fail_msg("toy_note: %s", e.detail);
	return r;
}

static struct key_change
rotate(struct fixture *f)
{
	struct key_change c;
	struct err e = { 0 };

	if (ledger_rotate_key(&f->toy.options, &operator, NULL, f->a, &c, &e))
		fail_msg("rotate: %s", e.detail);
	return c;
}

static struct verify_report
verify_with(struct fixture *f, struct public_key key, uint64_t from)
{
	struct verify_options o = { .key = key, .from_seq = from };
	struct verify_report r;
	struct err e = { 0 };

	if (verify_ledger(f->repo, &o, &r, &e))
		fail_msg("verify_ledger: %s", e.detail);
	return r;
}

static void
assert_verifies(struct fixture *f, struct public_key key)
{
	struct verify_report r = verify_with(f, key, 0);

	if (!r.good)
		fail_msg("event %llu: %s: %s", (unsigned long long)r.failed_seq,
		    r.check, r.reason);
}

/* scripts/verify.sh and stock git say the same. */
static void
assert_script_accepts(struct fixture *f, struct public_key key)
{
	char line[PUBLIC_KEY_SSH + 1], out[4096];
	size_t n;
	FILE *p;

	public_key_ssh(key, line);
	p = popen(
	    arena_printf(f->a, "scripts/verify.sh %s '%s' 2>&1", f->repo, line),
	    "r");
	assert_non_null(p);
	n = fread(out, 1, sizeof out - 1, p);
	out[n] = '\0';
	if (pclose(p) != 0)
		fail_msg("verify.sh: %s", out);
}

/* The read model made anew is the same, row for row. */
static void
assert_rebuilds(struct fixture *f)
{
	struct digest live = toy_hash_view(f->toy.ledger_dir);
	struct err e = { 0 };
	uint64_t events;

	if (ledger_rebuild(&f->toy.options, NULL, NULL, &events, &e))
		fail_msg("ledger_rebuild: %s", e.detail);
	assert_true(digest_eq(live, toy_hash_view(f->toy.ledger_dir)));
}

static void
test_rotation(void **state)
{
	struct fixture *f = *state;
	struct receipt before = note(f, "before"), after;
	struct key_change c = rotate(f);
	struct verify_report r;

	assert_true(public_key_eq(c.old, f->first));
	assert_int_equal(c.seq, 2);
	r = verify_with(f, c.key, 0);
	assert_false(r.good);
	assert_string_equal(r.check, "signers");
	assert_non_null(strstr(r.reason, "has signed nothing"));
	/* The process that had the ledger open all the while. */
	after = note(f, "after");
	assert_int_equal(after.events[0].seq, 3);
	assert_true(public_key_eq(ledger_public_key(f->ledger), c.key));
	assert_int_equal(after.events[0].key_id,
	    note_key_id(ledger_origin(f->ledger), c.key));
	assert_true(after.events[0].key_id != before.events[0].key_id);
	assert_true(after.events[0].event.at.us / 1000000 >
		    before.events[0].event.at.us / 1000000);
	assert_verifies(f, f->first);
	assert_verifies(f, c.key);
	assert_script_accepts(f, f->first);
	assert_script_accepts(f, c.key);
	assert_rebuilds(f);
	assert_int_equal(access(f->next, F_OK), -1);
}

static void
forge_next(struct fixture *f, struct public_key *out)
{
	struct private_key *key = private_key_new();
	struct err e = { 0 };

	*out = private_key_public(key);
	assert_int_equal(private_key_save(key, f->next, &e), 0);
	private_key_free(key);
}

/* Before the event: the next attempt goes on with the same new key. */
static void
test_cut_short_before_the_event(void **state)
{
	struct fixture *f = *state;
	struct public_key next;

	forge_next(f, &next);
	note(f, "signed by the old key still");
	assert_true(public_key_eq(ledger_public_key(f->ledger), f->first));
	assert_true(public_key_eq(rotate(f).key, next));
	note(f, "by the new one");
	assert_verifies(f, f->first);
}

/* After the event: the new key's file has not got its name yet. */
static void
test_cut_short_after_the_event(void **state)
{
	struct fixture *f = *state;
	struct str old, new;
	struct key_change c;
	struct err e = { 0 };

	assert_int_equal(io_read_file(f->a, f->signing, 4096, &old, &e), 0);
	c = rotate(f);
	close_ledger(f);
	assert_int_equal(io_read_file(f->a, f->signing, 4096, &new, &e), 0);
	assert_false(str_eq(old, new));
	assert_int_equal(io_write_file(f->next, new, 0600, &e), 0);
	assert_int_equal(io_write_file(f->signing, old, 0600, &e), 0);
	open_ledger(f);
	assert_true(public_key_eq(ledger_public_key(f->ledger), c.key));
	assert_int_equal(access(f->next, F_OK), -1);
	note(f, "goes on");
	assert_verifies(f, c.key);
}

/* Another process rotates while this one has the ledger open. */
static void
test_other_process(void **state)
{
	struct fixture *f = *state;
	struct key_change c;
	struct err e = { 0 };
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(ledger_rotate_key(
			  &f->toy.options, &operator, NULL, f->a, &c, &e)
			  ? 1
			  : 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	note(f, "without a word to us");
	assert_false(public_key_eq(ledger_public_key(f->ledger), f->first));
	assert_verifies(f, f->first);
}

static void
test_new_key_file(void **state)
{
	struct fixture *f = *state;
	char *path = arena_printf(f->a, "%s/elsewhere.pem", f->toy.dir);
	struct private_key *key = private_key_new();
	struct key_change c;
	struct err e = { 0 };

	assert_int_equal(private_key_save(key, path, &e), 0);
	assert_int_equal(
	    ledger_rotate_key(&f->toy.options, &operator, path, f->a, &c, &e),
	    0);
	assert_true(public_key_eq(c.key, private_key_public(key)));
	note(f, "by that");
	/* The same one again is refused, and nothing is left of it. */
	assert_int_equal(
	    ledger_rotate_key(&f->toy.options, &operator, path, f->a, &c, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_conflict);
	assert_int_equal(access(f->next, F_OK), -1);
	private_key_free(key);
	note(f, "goes on");
}

static int64_t
count_notes(struct fixture *f)
{
	struct reading r;
	struct err e = { 0 };
	int64_t n;

	assert_int_equal(ledger_read_begin(f->ledger, &r, &e), 0);
	assert_int_equal(
	    db_get_int(r.db, &n, -1, &e,
		"SELECT count(*) FROM ledger_subject WHERE NOT void", ""),
	    0);
	ledger_read_end(&r);
	return n;
}

static bool
is_void(struct fixture *f, uint64_t seq)
{
	struct stored_event stored;
	struct reading r;
	struct err e = { 0 };

	assert_int_equal(ledger_read_begin(f->ledger, &r, &e), 0);
	if (ledger_read_event(&r, seq, f->a, &stored, &e))
		fail_msg("event %d: %s", (int)seq, e.detail);
	ledger_read_end(&r);
	return stored.revocation != NULL;
}

/* Events 3 and 4, and a rotation by a thief, are void; signing.key is gone. */
static void
test_revocation(void **state)
{
	struct fixture *f = *state;
	struct key_change thief, c;
	struct err e = { 0 };
	int64_t notes;

	note(f, "good");
	note(f, "good too");
	notes = count_notes(f);
	note(f, "stolen");
	thief = rotate(f);
	note(f, "by the thief's key");
	assert_int_equal(unlink(f->signing), 0);
	if (ledger_revoke_key(
		&f->toy.options, &operator, 3, NULL, NULL, f->a, &c, &e))
		fail_msg("revoke: %s", e.detail);
	assert_true(public_key_eq(c.old, f->first));
	assert_int_equal(c.seq, 6);
	note(f, "goes on");
	assert_int_equal(count_notes(f), notes + 2);
	for (uint64_t seq = 0; seq < 8; seq++)
		assert_int_equal(is_void(f, seq), seq >= 3 && seq < 6);
	assert_verifies(f, f->first);
	assert_verifies(f, c.key);
	assert_script_accepts(f, f->first);
	assert_script_accepts(f, c.key);
	assert_true(verify_with(f, c.key, 7).good);
	assert_rebuilds(f);
	/* Not what the revocation before made good. */
	assert_int_equal(ledger_revoke_key(&f->toy.options, &operator, 2, NULL,
			     NULL, f->a, &c, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_conflict);
	(void)thief;
}

static void
test_refused_revocations(void **state)
{
	struct fixture *f = *state;
	struct key_change c;
	struct err e = { 0 };

	note(f, "one");
	assert_int_equal(ledger_revoke_key(&f->toy.options, &operator, 9, NULL,
			     NULL, f->a, &c, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_invalid);
	assert_int_equal(ledger_revoke_key(&f->toy.options, &operator, 2,
			     f->signing, NULL, f->a, &c, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_invalid);
	assert_int_equal(access(f->next, F_OK), -1);
	note(f, "goes on");
}

/* A backup from before and after; both of its keys are believed. */
static void
test_backup_after_rotation(void **state)
{
	struct fixture *f = *state;
	char *to = arena_printf(f->a, "%s/backup.git", f->toy.dir);
	struct backup_watch watch = { 0 };
	struct backup_report report;
	struct err e = { 0 };

	note(f, "one");
	assert_int_equal(
	    ledger_backup(&f->toy.options, to, &watch, &report, &e), 0);
	rotate(f);
	if (ledger_backup(&f->toy.options, to, &watch, &report, &e))
		fail_msg("backup: %s", e.detail);
	note(f, "two");
	if (ledger_backup(&f->toy.options, to, &watch, &report, &e))
		fail_msg("backup: %s", e.detail);
	assert_int_equal(report.verify.size, 4);
}

extern const struct event_type event_key_rotated, event_key_revoked;

static void
test_frozen_events(void **state)
{
	struct arena *a = arena_new();
	struct str origin = STR("ledger.example.com/acme/sandbox");
	struct rotated rotated;
	struct revoked revoked;
	struct err e = { 0 };
	struct json *v;
	void *data = arena_alloc(a, 4096);

	(void)state;
	event_vector_check(&event_key_rotated);
	event_vector_check(&event_key_revoked);
	assert_int_equal(
	    json_parse(a, event_vector_read(&event_key_rotated, a, data),
		&json_limits_default, &v, &e),
	    0);
	assert_int_equal(rotated_decode(v, origin, &rotated, &e), 0);
	assert_int_equal(
	    rotated_decode(v, STR("other.example.com/a"), &rotated, &e), -1);
	assert_int_equal(
	    json_parse(a, event_vector_read(&event_key_revoked, a, data),
		&json_limits_default, &v, &e),
	    0);
	assert_int_equal(revoked_decode(v, origin, &revoked, &e), 0);
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rotation, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_cut_short_before_the_event, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_cut_short_after_the_event, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_other_process, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_new_key_file, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_revocation, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_refused_revocations, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_backup_after_rotation, setup, teardown),
		cmocka_unit_test(test_frozen_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
