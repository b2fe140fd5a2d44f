/*
 * Another key in force: by rotation and by revocation, cut short at each step,
 * noticed by others, and the same after a rebuild.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/chain/key_event.h"
#include "ledger/write/backup.h"
#include "ledger/write/key_change.h"
#include "tests/support/event_vector.h"
#include "tests/support/toy_fixture.h"

static const struct actor operator= { .kind = { "operator", 8 },
	.id = { "root", 4 } };

static char *
signing_file(struct toy_fixture *f)
{
	return arena_printf(f->a, "%s/signing.key", f->toy.keys_dir);
}

/* There while a change is under way. */
static char *
next_file(struct toy_fixture *f)
{
	return arena_printf(f->a, "%s/signing-next.key", f->toy.keys_dir);
}

static struct key_change
rotate(struct toy_fixture *f)
{
	struct key_change c;
	struct err e = { 0 };

	if (ledger_rotate_key(&f->toy.options, &operator, NULL, f->a, &c, &e))
		fail_msg("rotate: %s", e.detail);
	return c;
}

/* scripts/verify.sh and stock git say the same. */
static void
assert_script_accepts(struct toy_fixture *f, struct public_key key)
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

static void
test_rotation(void **state)
{
	struct toy_fixture *f = *state;
	struct receipt before = toy_fixture_note(f, "before"), after;
	struct key_change c = rotate(f);
	struct verify_report r;

	assert_true(public_key_eq(c.old, f->key));
	assert_int_equal(c.seq, 2);
	r = toy_fixture_verify(f, c.key, 0);
	assert_false(r.good);
	assert_string_equal(r.check, "signers");
	assert_non_null(strstr(r.reason, "has signed nothing"));
	/* The process that had the ledger open all the while. */
	after = toy_fixture_note(f, "after");
	assert_int_equal(after.events[0].seq, 3);
	assert_true(public_key_eq(ledger_public_key(f->ledger), c.key));
	assert_int_equal(after.events[0].key_id,
	    note_key_id(ledger_origin(f->ledger), c.key));
	assert_true(after.events[0].key_id != before.events[0].key_id);
	assert_true(after.events[0].event.at.us / 1000000 >
		    before.events[0].event.at.us / 1000000);
	toy_fixture_assert_verifies(f, f->key);
	toy_fixture_assert_verifies(f, c.key);
	assert_script_accepts(f, f->key);
	assert_script_accepts(f, c.key);
	toy_fixture_assert_rebuilds(f);
	assert_int_equal(access(next_file(f), F_OK), -1);
}

static void
forge_next(struct toy_fixture *f, struct public_key *out)
{
	struct private_key *key = private_key_new();
	struct err e = { 0 };

	*out = private_key_public(key);
	assert_int_equal(private_key_save(key, next_file(f), &e), 0);
	private_key_free(key);
}

/* Before the event: the next attempt goes on with the same new key. */
static void
test_cut_short_before_the_event(void **state)
{
	struct toy_fixture *f = *state;
	struct public_key next;

	forge_next(f, &next);
	toy_fixture_note(f, "signed by the old key still");
	assert_true(public_key_eq(ledger_public_key(f->ledger), f->key));
	assert_true(public_key_eq(rotate(f).key, next));
	toy_fixture_note(f, "by the new one");
	toy_fixture_assert_verifies(f, f->key);
}

/* After the event: the new key's file has not got its name yet. */
static void
test_cut_short_after_the_event(void **state)
{
	struct toy_fixture *f = *state;
	struct str old, new;
	struct key_change c;
	struct err e = { 0 };

	assert_int_equal(
	    io_read_file(f->a, signing_file(f), 4096, &old, &e), 0);
	c = rotate(f);
	toy_fixture_close(f);
	assert_int_equal(
	    io_read_file(f->a, signing_file(f), 4096, &new, &e), 0);
	assert_false(str_eq(old, new));
	assert_int_equal(io_write_file(next_file(f), new, 0600, &e), 0);
	assert_int_equal(io_write_file(signing_file(f), old, 0600, &e), 0);
	toy_fixture_open(f);
	assert_true(public_key_eq(ledger_public_key(f->ledger), c.key));
	assert_int_equal(access(next_file(f), F_OK), -1);
	toy_fixture_note(f, "goes on");
	toy_fixture_assert_verifies(f, c.key);
}

/* Another process rotates while this one has the ledger open. */
static void
test_other_process(void **state)
{
	struct toy_fixture *f = *state;
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
	toy_fixture_note(f, "without a word to us");
	assert_false(public_key_eq(ledger_public_key(f->ledger), f->key));
	toy_fixture_assert_verifies(f, f->key);
}

static void
test_new_key_file(void **state)
{
	struct toy_fixture *f = *state;
	char *path = arena_printf(f->a, "%s/elsewhere.pem", f->toy.dir);
	struct private_key *key = private_key_new();
	struct key_change c;
	struct err e = { 0 };

	assert_int_equal(private_key_save(key, path, &e), 0);
	assert_int_equal(
	    ledger_rotate_key(&f->toy.options, &operator, path, f->a, &c, &e),
	    0);
	assert_true(public_key_eq(c.key, private_key_public(key)));
	toy_fixture_note(f, "by that");
	/* The same one again is refused, and nothing is left of it. */
	assert_int_equal(
	    ledger_rotate_key(&f->toy.options, &operator, path, f->a, &c, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_conflict);
	assert_int_equal(access(next_file(f), F_OK), -1);
	private_key_free(key);
	toy_fixture_note(f, "goes on");
}

static int64_t
count_notes(struct toy_fixture *f)
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
is_void(struct toy_fixture *f, uint64_t seq)
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
	struct toy_fixture *f = *state;
	struct key_change thief, c;
	struct err e = { 0 };
	int64_t notes;

	toy_fixture_note(f, "good");
	toy_fixture_note(f, "good too");
	notes = count_notes(f);
	toy_fixture_note(f, "stolen");
	thief = rotate(f);
	toy_fixture_note(f, "by the thief's key");
	assert_int_equal(unlink(signing_file(f)), 0);
	if (ledger_revoke_key(
		&f->toy.options, &operator, 3, NULL, NULL, f->a, &c, &e))
		fail_msg("revoke: %s", e.detail);
	assert_true(public_key_eq(c.old, f->key));
	assert_int_equal(c.seq, 6);
	toy_fixture_note(f, "goes on");
	assert_int_equal(count_notes(f), notes + 2);
	for (uint64_t seq = 0; seq < 8; seq++)
		assert_int_equal(is_void(f, seq), seq >= 3 && seq < 6);
	toy_fixture_assert_verifies(f, f->key);
	toy_fixture_assert_verifies(f, c.key);
	assert_script_accepts(f, f->key);
	assert_script_accepts(f, c.key);
	assert_true(toy_fixture_verify(f, c.key, 7).good);
	toy_fixture_assert_rebuilds(f);
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
	struct toy_fixture *f = *state;
	struct key_change c;
	struct err e = { 0 };

	toy_fixture_note(f, "one");
	assert_int_equal(ledger_revoke_key(&f->toy.options, &operator, 9, NULL,
			     NULL, f->a, &c, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_invalid);
	assert_int_equal(ledger_revoke_key(&f->toy.options, &operator, 2,
			     signing_file(f), NULL, f->a, &c, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_invalid);
	assert_int_equal(access(next_file(f), F_OK), -1);
	toy_fixture_note(f, "goes on");
}

/* A backup from before and after; both of its keys are believed. */
static void
test_backup_after_rotation(void **state)
{
	struct toy_fixture *f = *state;
	char *to = arena_printf(f->a, "%s/backup.git", f->toy.dir);
	struct backup_watch watch = { 0 };
	struct backup_report report;
	struct err e = { 0 };

	toy_fixture_note(f, "one");
	assert_int_equal(
	    ledger_backup(&f->toy.options, to, &watch, &report, &e), 0);
	rotate(f);
	if (ledger_backup(&f->toy.options, to, &watch, &report, &e))
		fail_msg("backup: %s", e.detail);
	toy_fixture_note(f, "two");
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
		WITH_TOY(test_rotation),
		WITH_TOY(test_cut_short_before_the_event),
		WITH_TOY(test_cut_short_after_the_event),
		WITH_TOY(test_other_process),
		WITH_TOY(test_new_key_file),
		WITH_TOY(test_revocation),
		WITH_TOY(test_refused_revocations),
		WITH_TOY(test_backup_after_rotation),
		cmocka_unit_test(test_frozen_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
