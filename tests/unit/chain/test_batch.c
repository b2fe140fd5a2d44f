#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/chain/batch.h"
#include "tests/support/small_ledger.h"

static void
assert_str(struct str got, const char *wanted)
{
	assert_int_equal(got.n, strlen(wanted));
	assert_memory_equal(got.p, wanted, got.n);
}

static void
test_lines_there_and_back(void **state)
{
	struct signature s1, s2, got;
	struct batch_line line;
	struct err e = { 0 };
	struct str rest;
	struct buf b;

	(void)state;
	memset(&s1, 1, sizeof s1);
	memset(&s2, 2, sizeof s2);
	buf_init(&b, 4096);
	batch_line_add(&b, 0x01020304, s1, STR("{\"a\":\"x y\"}"));
	batch_line_add(&b, 0xfffefdfc, s2, STR("{}"));
	rest = buf_str(&b);
	assert_int_equal(batch_line_next(&rest, &line, &e), 1);
	assert_str(line.event, "{\"a\":\"x y\"}");
	assert_true(str_has_prefix(line.signatures, STR("AQIDBAEBAQEB")));
	assert_int_equal(line.signatures.n, 92);
	assert_true(batch_line_signature(&line, 0x01020304, &got));
	assert_memory_equal(&got, &s1, sizeof got);
	assert_false(batch_line_signature(&line, 0x01020305, &got));
	assert_int_equal(batch_line_next(&rest, &line, &e), 1);
	assert_str(line.event, "{}");
	assert_true(batch_line_signature(&line, 0xfffefdfc, &got));
	assert_memory_equal(&got, &s2, sizeof got);
	assert_int_equal(batch_line_next(&rest, &line, &e), 0);
	buf_fini(&b);
}

static void
test_malformed_lines(void **state)
{
	static const char *const bad[] = { "AAAA {}", "AAAA{}\n", " {}\n",
		"AAAA \n", "\n" };
	struct batch_line line;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct str rest = str_from(bad[i]);
		struct err e = { 0 };

		assert_int_equal(batch_line_next(&rest, &line, &e), -1);
		assert_ptr_equal(e.kind, &err_corrupt);
	}
}

static void
test_signature_lists(void **state)
{
	struct signature sig = { { 7 } }, got;
	struct batch_line one, line = { 0 };
	struct arena *a = arena_new();
	struct err e = { 0 };
	struct str rest, t;
	struct buf b;

	(void)state;
	buf_init(&b, 4096);
	batch_line_add(&b, 5, sig, STR("{}"));
	rest = buf_str(&b);
	assert_int_equal(batch_line_next(&rest, &one, &e), 1);
	t = one.signatures;
	/* Beside others, before and after. */
	line.signatures =
	    arena_strf(a, "AAAACQEC,%.*s,AAAACAECAwQF", STR_ARGS(t));
	assert_true(batch_line_signature(&line, 5, &got));
	assert_memory_equal(&got, &sig, sizeof got);
	assert_false(batch_line_signature(&line, 9, &got));
	/* Twice, with an empty one, not base64, too short for a key id. */
	line.signatures = arena_strf(a, "%.*s,%.*s", STR_ARGS(t), STR_ARGS(t));
	assert_false(batch_line_signature(&line, 5, &got));
	line.signatures = arena_strf(a, "%.*s,", STR_ARGS(t));
	assert_false(batch_line_signature(&line, 5, &got));
	line.signatures = arena_strf(a, "%.*s,A*==", STR_ARGS(t));
	assert_false(batch_line_signature(&line, 5, &got));
	line.signatures = arena_strf(a, "%.*s,AAAABQ==", STR_ARGS(t));
	assert_false(batch_line_signature(&line, 5, &got));
	buf_fini(&b);
	arena_free(a);
}

#define HEX40 "00112233445566778899aabbccddeeff00112233"
#define WHO   "ledger.example.com/a/b <ledger.example.com/a/b> 1767323046 +0000"
#define HEADER \
	"tree " HEX40 "\nparent " HEX40 "\nauthor " WHO "\ncommitter " WHO "\n"
#define GPGSIG "gpgsig -----BEGIN\n abc\n -----END\n"
#define HASH   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define TRAILERS                                                     \
	"Ledger-Size: 12\nLedger-Root: " HASH "\nLedger-Head: " HASH \
	"\nLedger-Signers: " HASH "\n"

static void
test_commit_is_parsed(void **state)
{
	struct arena *a = arena_new();
	struct err e = { 0 };
	struct commit c;

	(void)state;
	assert_int_equal(
	    commit_parse(a, STR(HEADER GPGSIG "\nfirst\n\nA: b\n"), &c, &e), 0);
	assert_true(c.has_parent);
	assert_str(c.author, WHO);
	assert_str(c.committer, WHO);
	assert_int_equal(c.time, 1767323046);
	assert_str(c.gpgsig, "-----BEGIN\nabc\n-----END\n");
	assert_str(c.signed_bytes, HEADER "\nfirst\n\nA: b\n");
	assert_str(c.message, "first\n\nA: b\n");
	arena_free(a);
}

static void
test_commit_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"tree " HEX40,
		"tree " HEX40 "\n",
		"tree 00\nauthor " WHO "\ncommitter " WHO "\n" GPGSIG "\nm\n",
		"tree " HEX40 "\nparent " HEX40 "\nparent " HEX40
		"\nauthor " WHO "\ncommitter " WHO "\n" GPGSIG "\nm\n",
		HEADER "\nm\n",
		HEADER GPGSIG GPGSIG "\nm\n",
		HEADER "encoding x\n" GPGSIG "\nm\n",
		HEADER GPGSIG "mergetag x\n\nm\n",
		HEADER GPGSIG,
		"tree " HEX40 "\ncommitter " WHO "\nauthor " WHO "\n" GPGSIG
		"\nm\n",
		"tree " HEX40 "\nauthor " WHO "\ncommitter x +0000\n" GPGSIG
		"\nm\n",
		"tree " HEX40 "\nauthor " WHO
		"\ncommitter x <x> 1 +0100\n" GPGSIG "\nm\n",
	};
	struct arena *a = arena_new();
	struct commit c;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct err e = { 0 };

		if (!commit_parse(a, str_from(bad[i]), &c, &e))
			fail_msg("accepted: %s", bad[i]);
		assert_ptr_equal(e.kind, &err_corrupt);
	}
	arena_free(a);
}

static void
test_trailers(void **state)
{
	static const char *const bad[] = { "", "m\n", "m\n\n", TRAILERS,
		"m\n\n" TRAILERS "Ledger-Size: 12\n",
		"m\n\n" TRAILERS "\nOther: 1\n", "m\n\n" TRAILERS "no colon\n",
		"m\n\n" TRAILERS "Other: no end",
		"m\n\nLedger-Size: 012\n" TRAILERS,
		"m\n\nLedger-Root: " HASH "\nLedger-Head: " HASH
		"\nLedger-Signers: " HASH "\n" };
	struct err e = { 0 };
	struct trailers t;

	(void)state;
	assert_int_equal(trailers_parse(STR("m\n\nNew: thing\n" TRAILERS
					    "Ledger-X: x-a " HASH "\n"),
			     &t, &e),
	    0);
	assert_int_equal(t.size, 12);
	assert_true(digest_eq(t.root, sha256(STR("abc"))));
	assert_true(digest_eq(t.head, sha256(STR("abc"))));
	assert_true(digest_eq(t.signers, sha256(STR("abc"))));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		err_clear(&e);
		if (!trailers_parse(str_from(bad[i]), &t, &e))
			fail_msg("accepted: %s", bad[i]);
		assert_ptr_equal(e.kind, &err_corrupt);
	}
}

static void
test_extra_entries_are_listed(void **state)
{
	struct str m =
	    STR("m\n\nLedger-X: x-a " HASH "\nLedger-X: x-b " HASH "\n");

	(void)state;
	assert_true(trailers_list_extra(m, STR("x-a"), sha256(STR("abc"))));
	assert_true(trailers_list_extra(m, STR("x-b"), sha256(STR("abc"))));
	assert_false(trailers_list_extra(m, STR("x-c"), sha256(STR("abc"))));
	assert_false(trailers_list_extra(m, STR("x-a"), sha256(STR("abd"))));
}

static void
test_sealed_batch_is_read_back(void **state)
{
	struct small_ledger *l = small_ledger_new();
	struct err e = { 0 };
	struct batch b;
	struct sshsig sig;
	struct batch_line line;
	struct signature s;
	size_t n = 0;

	(void)state;
	small_ledger_add(l, 3);
	assert_int_equal(batch_read(l->repo, l->parent, l->a, &b, &e), 0);
	assert_int_equal(b.trailers.size, 4);
	assert_true(digest_eq(b.trailers.head, l->head));
	assert_true(digest_eq(b.trailers.root, merkle_root(&l->tree)));
	assert_true(
	    digest_eq(b.trailers.signers, sha256(buf_str(&l->signers))));
	assert_true(str_eq(b.allowed_signers, buf_str(&l->signers)));
	assert_str(b.commit.author,
	    SMALL_LEDGER_ORIGIN " <" SMALL_LEDGER_ORIGIN "> 1767323047 +0000");
	assert_true(
	    str_has_prefix(b.commit.message, STR("events 1-3 (3)\n\n")));
	assert_int_equal(sshsig_parse(b.commit.gpgsig, &sig, &e), 0);
	assert_true(sshsig_verify(&sig, STR("git"), b.commit.signed_bytes));
	while (batch_line_next(&b.events, &line, &e) > 0) {
		assert_true(
		    batch_line_signature(&line, signer_key_id(l->signer), &s));
		assert_true(ed25519_verify(l->key, line.event, s));
		n++;
	}
	assert_int_equal(n, 3);
	assert_int_equal(b.n_payloads, 0);
	small_ledger_free(l);
}

static void
test_payloads_are_read_back(void **state)
{
	struct small_ledger *l = small_ledger_new();
	struct err e = { 0 };
	struct str out;
	struct batch b;

	(void)state;
	small_ledger_add_payloads(l, STR("a statement"));
	assert_int_equal(batch_read(l->repo, l->parent, l->a, &b, &e), 0);
	assert_int_equal(b.n_payloads, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(payload_read(l->repo, b.payloads[i].oid,
				     b.payloads[i].sha256, 100, l->a, &out, &e),
		    0);
		assert_true(digest_eq(sha256(out), b.payloads[i].sha256));
	}
	assert_int_equal(payload_read(l->repo, b.payloads[0].oid,
			     sha256(STR("other")), 100, l->a, &out, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_corrupt);
	for (size_t i = 0; i < 2; i++) {
		bool empty = digest_eq(b.payloads[i].sha256, sha256(STR("")));

		err_clear(&e);
		assert_int_equal(payload_read(l->repo, b.payloads[i].oid,
				     b.payloads[i].sha256, 0, l->a, &out, &e),
		    empty ? 0 : -1);
	}
	small_ledger_free(l);
}

/* Runs a command on the repository and returns its whole output. */
static struct str
run(struct small_ledger *l, const char *command)
{
	char *line = arena_printf(l->a,
	    "cd %s && HOME=%s GIT_CONFIG_NOSYSTEM=1 && export HOME "
	    "GIT_CONFIG_NOSYSTEM && (%s) 2>&1",
	    l->repo_path, l->dir, command);
	FILE *f = popen(line, "r");
	char *out = arena_alloc(l->a, 65536);
	size_t n;

	assert_non_null(f);
	n = fread(out, 1, 65535, f);
	assert_int_equal(pclose(f), 0);
	return (struct str){ out, n };
}

/* Stock git reads what was sealed, and believes the signature. */
static void
test_stock_git_agrees(void **state)
{
	struct small_ledger *l = small_ledger_new();
	struct str out;

	(void)state;
	small_ledger_add_payloads(l, STR("a statement"));
	small_ledger_add(l, 1);
	run(l, "git fsck --strict");
	run(l, "git cat-file blob main:allowed_signers > ../signers");
	out = run(l, "for c in $(git rev-list main); do "
		     "git -c gpg.format=ssh "
		     "-c gpg.ssh.allowedSignersFile=../signers "
		     "verify-commit $c || exit 1; done");
	assert_true(str_has_prefix(
	    out, STR("Good \"git\" signature for " SMALL_LEDGER_ORIGIN)));
	out = run(l, "git log -1 --format=%B | "
		     "git interpret-trailers --parse | cut -d: -f1");
	assert_str(
	    out, "Ledger-Size\nLedger-Root\nLedger-Head\nLedger-Signers\n");
	out = run(l, "git ls-tree --name-only main~1");
	assert_str(out, "allowed_signers\ncheckpoint\nevents\npayloads\n");
	out = run(l, "git log -1 --format=%s");
	assert_true(str_has_prefix(out, STR("entry.posted 0")));
	small_ledger_free(l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_there_and_back),
		cmocka_unit_test(test_malformed_lines),
		cmocka_unit_test(test_signature_lists),
		cmocka_unit_test(test_commit_is_parsed),
		cmocka_unit_test(test_commit_is_refused),
		cmocka_unit_test(test_trailers),
		cmocka_unit_test(test_extra_entries_are_listed),
		cmocka_unit_test(test_sealed_batch_is_read_back),
		cmocka_unit_test(test_payloads_are_read_back),
		cmocka_unit_test(test_stock_git_agrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
