/*
 * scripts/verify.sh, which has no code of ours, comes to the same verdict as
 * verify_ledger, in the same words. Runs in the project's root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ledger/base/io.h"
#include "tests/support/verdict.h"
#include "tests/support/wrong_batch.h"

/* Runs the script; the whole output, and the exit status. */
static char *
run_with(struct small_ledger *l, const char *before, struct public_key key,
    const char *more, int *status)
{
	char line[PUBLIC_KEY_SSH + 1], *command, *out;
	size_t n;
	FILE *f;

	public_key_ssh(key, line);
	command = arena_printf(l->a, "%s scripts/verify.sh %s '%s' %s 2>&1",
	    before, l->repo_path, line, more);
	out = arena_alloc(l->a, 65536);
	f = popen(command, "r");
	assert_non_null(f);
	n = fread(out, 1, 65535, f);
	out[n] = '\0';
	*status = WEXITSTATUS(pclose(f));
	return out;
}

static void
assert_script(struct small_ledger *l, const char *more, int wanted_status,
    const char *wanted)
{
	int status;
	char *out = run_with(l, "", l->key, more, &status);

	if (status != wanted_status || !strstr(out, wanted))
		fail_msg("wanted %d: %s; got %d: %s", wanted_status, wanted,
		    status, out);
}

/* Writes a checkpoint to a file in the ledger's folder. */
static char *
keep(struct small_ledger *l, const struct signer *s, uint64_t size,
    struct digest root)
{
	struct checkpoint c = { signer_origin(s), size, root };
	char *path = arena_printf(l->a, "%s/kept", l->dir);
	struct buf text, note;
	struct err e = { 0 };

	buf_init(&text, 4096);
	buf_init(&note, 4096);
	checkpoint_text(&text, &c);
	assert_int_equal(note_sign(s, buf_str(&text), &note, &e), 0);
	assert_int_equal(io_write_file(path, buf_str(&note), 0644, &e), 0);
	buf_fini(&text);
	buf_fini(&note);
	return path;
}

static void
test_good_ledger(void **state)
{
	struct small_ledger *l = make_ledger();
	char hex[OID_HEX + 1];

	(void)state;
	oid_hex(l->parent, hex);
	assert_script(l, "", 0,
	    "Good: 10 events in 5 batches, 2 payloads.\n"
	    "  origin  " SMALL_LEDGER_ORIGIN "\n  size    10\n");
	assert_script(l, "", 0, hex);
	small_ledger_free(l);
}

static void
test_kept_checkpoint(void **state)
{
	struct small_ledger *l = make_ledger();
	struct merkle at_10 = l->tree;
	struct signer *other = small_ledger_stranger();
	struct oid was = l->parent;
	char *path = keep(l, l->signer, 10, merkle_root(&at_10));

	(void)state;
	small_ledger_add(l, 2);
	assert_script(
	    l, path, 0, "Consistent with the kept checkpoint of 10 events.");
	keep(l, l->signer, 12, merkle_root(&l->tree));
	assert_script(l, path, 0, "of 12 events");
	keep(l, l->signer, 9, merkle_root(&at_10));
	assert_script(l, path, 1, "the history was rewritten");
	keep(l, l->signer, 12, merkle_root(&l->tree));
	small_ledger_move(l, was);
	assert_script(
	    l, path, 1, "the history was cut short: it has 10 events");
	keep(l, other, 10, merkle_root(&at_10));
	assert_script(l, path, 3, "not signed by this key");
	signer_free(other);
	small_ledger_free(l);
}

static void
test_wrong_key(void **state)
{
	struct small_ledger *l = make_ledger();
	struct signer *other = small_ledger_stranger();
	int status;
	char *out = run_with(l, "", signer_public(other), "", &status);

	(void)state;
	assert_int_equal(status, 1);
	assert_non_null(strstr(out, "BAD: event 0: signers: event 0 names"));
	signer_free(other);
	small_ledger_free(l);
}

/* What the repository configures has no say: here a program that believes
 * every signature. */
static void
test_hostile_configuration(void **state)
{
	struct small_ledger *l = make_ledger();
	char *command = arena_printf(
	    l->a, "git -C %s config gpg.ssh.program /bin/true", l->repo_path);

	(void)state;
	assert_int_equal(system(command), 0);
	assert_script(l, "", 0, "Good: 10 events");
	add_wrong(l, NULL, wrong_event_changed);
	assert_script(l, "", 1, "BAD: event 11");
	small_ledger_free(l);
}

static void
test_without_network_from_a_clone(void **state)
{
	struct small_ledger *l = make_ledger();
	char *command = arena_printf(
	    l->a, "git clone -q %s %s/clone 2>&1", l->repo_path, l->dir);
	int status;
	char *out;

	(void)state;
	assert_int_equal(system(command), 0);
	snprintf(l->repo_path, sizeof l->repo_path, "%s/clone", l->dir);
	out = run_with(
	    l, geteuid() == 0 ? "unshare -n" : "", l->key, "", &status);
	if (status != 0 || !strstr(out, "Good: 10 events"))
		fail_msg("%d: %s", status, out);
	small_ledger_free(l);
}

static void
test_removed_objects(void **state)
{
	struct small_ledger *l = make_ledger();
	struct batch b;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(batch_read(l->repo, l->parent, l->a, &b, &e), 0);
	assert_int_equal(unlink(small_ledger_object_path(l, b.commit.tree)), 0);
	assert_script(l, "", 1, "BAD: event 7: repository: ");
	assert_int_equal(
	    unlink(small_ledger_object_path(l, b.commit.parent)), 0);
	assert_script(l, "", 1, "BAD: event");
	small_ledger_free(l);
}

/* For people the script may say it otherwise, but not another check and not
 * another event. Here the batch follows event 0, which is quicker. */
static void
test_wrong_batches(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_wrongs; i++) {
		const struct wrong *w = &wrongs[i];
		struct small_ledger *l;
		char *wanted;

		l = small_ledger_new();
		add_wrong(l, w->events, w->rest);
		wanted = arena_printf(l->a,
		    "BAD: event %llu: %s: ", (unsigned long long)w->seq - 9,
		    w->check);
		assert_script(l, "", 1, wanted);
		small_ledger_free(l);
	}
}

static void
test_usage(void **state)
{
	struct small_ledger *l = make_ledger();

	(void)state;
	assert_script(l, "a b", 2, "Usage: ");
	snprintf(l->repo_path, sizeof l->repo_path, "/nonexistent");
	assert_script(l, "", 3, "not a git repository");
	small_ledger_free(l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_ledger),
		cmocka_unit_test(test_kept_checkpoint),
		cmocka_unit_test(test_wrong_key),
		cmocka_unit_test(test_hostile_configuration),
		cmocka_unit_test(test_without_network_from_a_clone),
		cmocka_unit_test(test_removed_objects),
		cmocka_unit_test(test_wrong_batches),
		cmocka_unit_test(test_usage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
