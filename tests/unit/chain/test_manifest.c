#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ledger/chain/manifest.h"
#include "tests/support/key_batch.h"
#include "tests/support/manifest_maker.h"

static struct manifest_report
check_with(struct public_key key, struct str file)
{
	struct manifest_options o = { .keys = { &key, 1 } };
	struct manifest_report r;
	struct err e = { 0 };
	int fd = manifest_maker_file(file);

	if (manifest_check(fd, &o, &r, &e))
		fail_msg("not checked: %s", e.detail);
	close(fd);
	return r;
}

static struct manifest_report
check(struct manifest_maker *m, struct str file)
{
	return check_with(m->ledger->key, file);
}

static void
expect_good(const struct manifest_report *r, uint64_t events)
{
	if (!r->good)
		fail_msg("BAD: %s: %s", r->check, r->reason);
	assert_int_equal(r->events, events);
}

static void
expect_bad(struct manifest_report r, const char *check, const char *reason)
{
	if (r.good || strcmp(r.check, check) != 0 || !strstr(r.reason, reason))
		fail_msg("wanted %s: %s, got %s: %s", check, reason,
		    r.good ? "good" : r.check, r.reason);
}

static void
test_complete(void **state)
{
	struct manifest_maker *m = manifest_maker_new(7);
	struct str text = manifest_maker_whole(m);
	struct manifest_report r = check(m, manifest_maker_envelope(m, text));

	(void)state;
	expect_good(&r, 12);
	assert_true(r.complete);
	assert_false(r.reply);
	assert_string_equal(r.origin, SMALL_LEDGER_ORIGIN);
	assert_string_equal(r.scope_type, "workspace");
	assert_string_equal(r.scope_id, "acme");
	assert_string_equal(r.generated_at, "2026-01-02T03:05:00.000000Z");
	assert_int_equal(r.size, 12);
	assert_int_equal(r.key_seq, 8);
	assert_int_equal(r.bytes, text.n);
	assert_int_equal(r.materials, 1);
	assert_true(digest_eq(r.sha256, sha256(text)));
	assert_true(digest_eq(r.root, merkle_root(&m->ledger->tree)));
	assert_true(public_key_eq(r.manifest_key, private_key_public(m->key)));
	manifest_maker_free(m);
}

static void
test_some_events(void **state)
{
	static const uint64_t seqs[] = { 0, 1, 4, 5, 6, 8, 11 };
	struct manifest_maker *m = manifest_maker_new(7);
	struct manifest_report r;

	(void)state;
	for (size_t n = 1; n <= 7; n++) {
		r = check(m, manifest_maker_envelope(m,
				 manifest_maker_statement(m, seqs, n, false)));
		expect_good(&r, n);
		assert_false(r.complete);
	}
	manifest_maker_free(m);
}

static void
test_reply(void **state)
{
	struct manifest_maker *m = manifest_maker_new(2);
	struct str text = manifest_maker_whole(m), file;
	struct manifest_report r =
	    check(m, manifest_maker_reply(m, text, false));

	(void)state;
	expect_good(&r, 7);
	assert_true(r.reply);
	assert_false(r.sealed);
	file = manifest_maker_reply(m, text, true);
	r = check(m, file);
	expect_good(&r, 7);
	assert_true(r.sealed);
	assert_int_equal(r.sealed_seq, 7);
	assert_int_equal(r.n_unchecked, 2);
	assert_string_equal(r.unchecked[0], "proof.path");
	assert_string_equal(r.unchecked[1], "uid");
	expect_bad(
	    check(m, manifest_maker_replace(m, file, "\"manifest_sha256\": \"",
			 "\"manifest_sha256\""
			 ": \"0")),
	    "reply", "manifest_sha256");
	expect_bad(check(m, manifest_maker_replace(m, file,
				"\"manifest_sha256\"", "\"manifest_sha\"")),
	    "reply", "manifest_sha256");
	expect_bad(check(m, manifest_maker_replace(m, file, "index 7",
				"index "
				"6")),
	    "reply", "cannot have sealed it");
	expect_bad(check(m, manifest_maker_replace(
				m, file, "sandbox\\n8\\n", "sandbox\\n9\\n")),
	    "reply", "signature of the checkpoint");
	expect_bad(check(m, manifest_maker_replace(
				m, file, "\"envelope\"", "\"other\"")),
	    "format", "neither");
	expect_bad(check(m, manifest_maker_replace(m, file, "{\"uid\"",
				"{\"envelope\": {}, \"uid\"")),
	    "format", "twice");
	manifest_maker_free(m);
}

/* Changes to a reply, each of which another member contradicts. */
static const struct {
	const char *from, *to, *check, *reason;
} contradictions[] = {
	{ "\"sealed\"", "\"queued\"", "reply", "status" },
	{ "\"status\": \"sealed\",", "", "reply", "status is missing" },
	{ "\"status\"", "\"fault\": \"x\", \"status\"", "reply", "fault" },
	{ "\"type\": \"work", "\"type\": \"wark", "reply", "scope" },
	{ "\"id\": \"acme", "\"id\": \"acne", "reply", "scope" },
	{ "\"id\": \"acme\"", "\"id\": \"acme\", \"a\": 1", "reply", "scope" },
	{ "\"size\": 7", "\"size\": 8", "reply", "size" },
	{ "\"size\": 7", "\"size\": \"7\"", "reply", "size" },
	{ "\"event_count\": 7", "\"event_count\": 6", "reply", "event_count" },
	{ "\"generated_at\": \"2026", "\"generated_at\": \"2027", "reply",
	    "generated_at" },
	{ "\"bytes\": ", "\"bytes\": 1", "reply", "bytes" },
	{ "\"size\": 7", "\"size\"7", "format", "byte" },
	{ "\"uid\": \"", "\"uid\": [\"", "format", "byte" },
	{ "\"uid\": ", "\"size\": 7, \"uid\": ", "format", "twice" },
	{ "\"proof\": \"", "\"evidence\": {\"seq\": 6}, \"proof\": \"", "reply",
	    "seq" },
	{ "\"proof\": \"",
	    "\"evidence\": {\"key_id\": \"00000000\"}, "
	    "\"proof\": \"",
	    "reply", "key_id" },
	{ "\"proof\": \"", "\"evidence\": {\"ledger\": \"x\"}, \"proof\": \"",
	    "reply", "ledger" },
	{ "\"proof\": \"",
	    "\"evidence\": {\"checkpoint\": \"x\"}, "
	    "\"proof\": \"",
	    "reply", "checkpoint" },
};

static void
test_contradictions(void **state)
{
	struct manifest_maker *m = manifest_maker_new(2);
	struct str file =
	    manifest_maker_reply(m, manifest_maker_whole(m), true);
	struct manifest_report r;

	(void)state;
	for (size_t i = 0; i < sizeof contradictions / sizeof contradictions[0];
	     i++)
		expect_bad(
		    check(m, manifest_maker_replace(m, file,
				 contradictions[i].from, contradictions[i].to)),
		    contradictions[i].check, contradictions[i].reason);
	r = check(m, manifest_maker_replace(m, file, "\"proof\": \"",
			 "\"evidence\": {\"seq\": 7, \"commit\": \"x\"}, "
			 "\"more\": 1, \"proof\": \""));
	expect_good(&r, 7);
	assert_int_equal(r.n_unchecked, 4);
	assert_string_equal(r.unchecked[1], "evidence.commit");
	assert_string_equal(r.unchecked[3], "more");
	manifest_maker_free(m);
}

/* The member manifest as another program writes it, and with one change. */
static const struct {
	const char *from, *to, *reason; /* no reason: it is the same */
} rewritten[] = {
	{ "{\"_type\"", "{ \n\t\"_type\"", NULL },
	{ "\"_type\":\"https://in", "\"\\u005ftype\" : \"https:\\/\\/in",
	    NULL },
	{ "\"id\":\"acme\",\"type\":\"workspace\"",
	    "\"type\":\"workspace\",\"id\":\"acme\"", NULL },
	{ "\"size\":7}", "\"size\":7.0e0}", NULL },
	{ "{\"_type\":\"https://in-toto.io/Statement/v1\",\"predicate\":{",
	    "{\"predicate\":{", "not what the envelope holds" },
	{ "{\"_type\"", "{\"more\":1,\"_type\"", "not what the envelope" },
	{ "{\"_type\"", "{\"_type\":\"x\",\"_type\"", "twice" },
	{ "\"predicate\":{", "\"predicate\":{},\"predicate\":{", "twice" },
	{ "\"materials\":[", "\"materials\":[{},", "not what the envelope" },
	{ "\"COMPLETE\"", "\"COMPLETE\" 1", "byte" },
	{ "\"generated_at\":\"2026", "\"generated_at\":\"2027",
	    "not what the envelope holds" },
};

static void
test_rewritten(void **state)
{
	struct manifest_maker *m = manifest_maker_new(2);
	struct str file =
	    manifest_maker_reply(m, manifest_maker_whole(m), true);

	(void)state;
	for (size_t i = 0; i < sizeof rewritten / sizeof rewritten[0]; i++) {
		struct manifest_report r =
		    check(m, manifest_maker_replace(
				 m, file, rewritten[i].from, rewritten[i].to));

		if (rewritten[i].reason)
			expect_bad(r, "reply", rewritten[i].reason);
		else
			expect_good(&r, 7);
	}
	expect_bad(check(m, manifest_maker_replace(m, file, "\"manifest\": {",
				"\"manifest\": null, \"other\": {")),
	    "reply", "object is missing");
	manifest_maker_free(m);
}

/* Changes to the Statement, signed anew by the manifest key itself. */
struct change {
	const char *from, *to, *check, *reason;
};

static const struct change changes[] = {
	{ "Statement/v1", "Statement/v2", "format", "_type" },
	{ "manifest/v1", "manifest/v2", "format", "predicateType" },
	{ "{\"_type\"", "{ \"_type\"", "format", "byte 1" },
	{ "\"path\":[]", "\"path\":[ ]", "format", "canonical" },
	{ "\"COMPLETE\"", "\"COMPL\\u0045TE\"", "format", "canonical" },
	{ "\"size\":9}", "\"size\":9.0}", "format", "canonical" },
	{ "\"events\":", "\"event\":", "format", "lacks" },
	{ "\"evidence\":", "\"evidenca\":", "format", "lacks" },
	{ "\"scope\":{", "\"scope\":{\"a\":1,", "format", "scope" },
	{ "T03:05:00.", "T25:05:00.", "format", "generated_at" },
	{ "urn:uuid:", "urn uuid:", "format", "materials" },
	{ "workspace/acme", "workspace/acne", "format", "subject" },
	{ "\"id\":\"acme\"", "\"id\":\"acne\"", "format", "subject" },
	{ "\"complete\":true", "\"complete\":null", "format", "complete" },
	{ "\"complete\":true", "\"complete\":false", "proof", "in the tree" },
	{ "\"size\":9}", "\"size\":8}", "checkpoint", "not the checkpoint's" },
	{ "\"root_sha256\":\"", "\"root_sha256\":\"0", "format", "root_sha" },
	{ "\"from_seq\":0", "\"from_seq\":1", "format", "follow" },
	{ "sandbox\\n9\\n", "sandbox\\n8\\n", "checkpoint",
	    "signature is bad" },
	{ "\"checkpoint\":\"ledger", "\"checkpoint\":\"ledges", "checkpoint",
	    "another ledger" },
	{ "\"key_event\":{\"line\":\"R", "\"key_event\":{\"line\":\"S", "event",
	    "no signature" },
	{ "],\"seq\":5},\"keys\"", "],\"seq\":4},\"keys\"", "event",
	    "is number 5" },
	{ "\"path\":[]",
	    "\"path\":[\"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSu"
	    "FU=\"]",
	    "proof", "no paths" },
	{ "\"seq\":1},{", "\"seq\":2},{", "event", "line is of event 1" },
	{ "\\\"amount\\\":\\\"1250", "\\\"amount\\\":\\\"1251", "event",
	    "signature is bad" },
	{ "\"eventTime\":\"2026-01-02T03:04:06",
	    "\"eventTime\":\"2026-01-02T03"
	    ":04:07",
	    "lineage", "eventTime" },
	{ "\"runId\":\"019b7ca9-9", "\"runId\":\"019b7ca9-8", "lineage",
	    "runId" },
	{ "\"job\":{\"name\":\"entry.posted", "\"job\":{\"name\":\"entry.lost",
	    "lineage", "type" },
	{ "\"outputs\":[{\"name\":\"", "\"outputs\":[{\"name\":\"x", "lineage",
	    "outputs" },
	{ "\"outputs\":[", "\"outputx\":[", "lineage", "outputs" },
	{ "\"namespace\":\"ledger.", "\"namespace\":\"ledges.", "lineage",
	    "namespace" },
};

static void
test_changed_and_signed_anew(void **state)
{
	struct manifest_maker *m = manifest_maker_new(4);
	struct str text = manifest_maker_whole(m);

	(void)state;
	/* Only what follows the certificate was left out: size stays 9. */
	assert_int_equal(m->n, 9);
	for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
		const struct change *c = &changes[i];

		expect_bad(check(m, manifest_maker_envelope(
					m, manifest_maker_replace(
					       m, text, c->from, c->to))),
		    c->check, c->reason);
	}
	/* What is not known is passed over, in its place only. */
	expect_bad(check(m, manifest_maker_envelope(m,
				manifest_maker_replace(m, text,
				    "\"evidence\":", "\"a\":1,\"evidence\":"))),
	    "format", "out of order");
	{
		struct manifest_report r = check(
		    m, manifest_maker_envelope(
			   m, manifest_maker_replace(m, text,
				  "\"scope\":", "\"rules\":[1],\"scope\":")));

		expect_good(&r, 9);
	}
	manifest_maker_free(m);
}

/* Whole entries left out, doubled or in another order. */
static void
test_other_events(void **state)
{
	static const uint64_t falling[] = { 2, 1 }, twice[] = { 3, 3 },
			      short_of[] = { 0, 1, 2, 3 }, gap[] = { 0, 1, 3 };
	struct manifest_maker *m = manifest_maker_new(4);

	(void)state;
	expect_bad(
	    check(m, manifest_maker_envelope(
			 m, manifest_maker_statement(m, falling, 2, false))),
	    "event", "higher number");
	expect_bad(check(m, manifest_maker_envelope(m,
				manifest_maker_statement(m, twice, 2, false))),
	    "event", "higher number");
	expect_bad(check(m, manifest_maker_envelope(m,
				manifest_maker_statement(m, twice, 0, false))),
	    "proof", "no event");
	expect_bad(
	    check(m, manifest_maker_envelope(
			 m, manifest_maker_statement(m, short_of, 4, true))),
	    "proof", "4 events of 9");
	expect_bad(check(m, manifest_maker_envelope(
				m, manifest_maker_statement(m, gap, 3, true))),
	    "proof", "event 2 is left out");
	/* The ledger's next state, of which the checkpoint knows nothing. */
	small_ledger_add(m->ledger, 1);
	expect_bad(
	    check(m, manifest_maker_envelope(m, manifest_maker_whole(m))),
	    "checkpoint", "not the checkpoint's");
	manifest_maker_free(m);
}

static struct manifest_report
check_some(struct manifest_maker *m, struct public_key key, uint64_t seq)
{
	return check_with(
	    key, manifest_maker_envelope(
		     m, manifest_maker_statement(m, &seq, 1, false)));
}

/* With any key of the history, and with no other. */
static void
test_after_a_rotation(void **state)
{
	struct manifest_maker *m = manifest_maker_new(3);
	struct signer *next = small_ledger_stranger();
	struct public_key first = m->ledger->key, second = signer_public(next);
	struct manifest_report r;
	struct str whole;

	(void)state;
	key_batch_rotate(m->ledger, next);
	small_ledger_add(m->ledger, 2);
	manifest_maker_read(m);
	whole = manifest_maker_whole(m);
	r = check_with(first, manifest_maker_envelope(m, whole));
	expect_good(&r, 11);
	assert_int_equal(r.voids, 0);
	r = check_with(second, manifest_maker_envelope(m, whole));
	expect_good(&r, 11);
	for (uint64_t seq = 0; seq < 11; seq++) {
		r = check_some(m, seq % 2 ? first : second, seq);
		expect_good(&r, 1);
	}
	expect_bad(
	    check_with(m->ledger->recovery, manifest_maker_envelope(m, whole)),
	    "key", "not the one given");
	whole = manifest_maker_replace(
	    m, whole, "\"until_seq\":8}", "\"until_seq\":9}");
	expect_bad(check_with(first, manifest_maker_envelope(m, whole)),
	    "format", "follow");
	manifest_maker_free(m);
}

/* A void event is shown by who shows everything, and counted. */
static void
test_void_events(void **state)
{
	struct manifest_maker *m = manifest_maker_new(3);
	struct signer *next = small_ledger_stranger();
	struct public_key first = m->ledger->key, second = signer_public(next);
	struct digest root = merkle_root(&m->ledger->tree);
	struct manifest_report r;

	(void)state;
	small_ledger_add(m->ledger, 2);
	key_batch_revoke(m->ledger, 8, root, next);
	small_ledger_add(m->ledger, 1);
	manifest_maker_read(m);
	r = check_with(
	    second, manifest_maker_envelope(m, manifest_maker_whole(m)));
	expect_good(&r, 12);
	assert_int_equal(r.voids, 2);
	for (uint64_t seq = 0; seq < 12; seq++) {
		r = check_some(m, first, seq);
		if (seq == 8 || seq == 9)
			expect_bad(r, "event", "is void");
		else
			expect_good(&r, 1);
	}
	manifest_maker_free(m);
}

static void
test_envelope(void **state)
{
	struct manifest_maker *m = manifest_maker_new(1);
	struct str text = manifest_maker_whole(m);
	struct str file = manifest_maker_envelope(m, text);
	static const struct change wrong[] = {
		{ "in-toto+json", "in-toto+jsom", "format", "payloadType" },
		{ "\"sig\":\"", "\"sig\":\"A", "signature", "not one" },
		{ "\"keyid\":\"SHA256:", "\"keyid\":\"SHA256:A", "signature",
		    "not signed by the key" },
		{ "\"payload\":\"", "\"payload\":\"*", "format", "base64" },
		{ "\"payload\":\"", "\"payload\":\"AAAA", "format",
		    "object is missing" },
		{ "\"payload\":", "\"payloaf\":", "format", "no other" },
		{ ",\"signatures\"", ",\"a\":1,\"signatures\"", "format",
		    "no other" },
		{ "\"payload\":\"", "\"payload\":\"\\u0041", "format",
		    "cannot hold" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		expect_bad(check(m, manifest_maker_replace(
					m, file, wrong[i].from, wrong[i].to)),
		    wrong[i].check, wrong[i].reason);
	/* The same length, another signature. */
	file = arena_str(m->ledger->a, file);
	{
		char *sig = memmem(file.p, file.n, "\"sig\":\"", 7);

		sig[20] = sig[20] == 'A' ? 'B' : 'A';
	}
	expect_bad(check(m, file), "signature", "signature is bad");
	expect_bad(check(m, STR("")), "format", "too early");
	expect_bad(check(m, STR("{}")), "format", "neither");
	expect_bad(check(m, STR("[]")), "format", "object");
	manifest_maker_free(m);
}

/* A ledger of somebody else's agrees with itself: only the key tells. */
static void
test_other_key(void **state)
{
	struct manifest_maker *m = manifest_maker_new(1);
	struct signer *other = small_ledger_stranger();
	struct str file = manifest_maker_envelope(m, manifest_maker_whole(m));

	(void)state;
	expect_bad(
	    check_with(signer_public(other), file), "key", "not the one given");
	signer_free(other);
	manifest_maker_free(m);
}

/* A manifest signed by a key that no event certifies, or one that certifies a
 * key which did not sign that it is the ledger's. */
static void
test_uncertified_key(void **state)
{
	static const uint8_t seed[32] = { 1 };
	struct manifest_maker *m = manifest_maker_new(1);
	struct private_key *was = m->key;
	struct str text = manifest_maker_whole(m);
	uint64_t seq = m->key_seq;

	(void)state;
	m->key = private_key_from_seed(seed);
	expect_bad(check(m, manifest_maker_envelope(m, text)), "signature",
	    "not signed by the key");
	private_key_free(m->key);
	m->key = was;
	m->key_seq = 1;
	expect_bad(
	    check(m, manifest_maker_envelope(m, manifest_maker_whole(m))),
	    "key", "does not certify");
	m->key_seq = seq;
	manifest_maker_free(m);
}

static void
test_any_byte(void **state)
{
	struct manifest_maker *m = manifest_maker_new(1);
	struct str file = manifest_maker_envelope(m, manifest_maker_whole(m));
	char *bytes = arena_alloc(m->ledger->a, file.n);

	(void)state;
	memcpy(bytes, file.p, file.n);
	for (size_t i = 0; i < file.n; i += file.n / 97 + 1) {
		bytes[i] ^= 1;
		if (check(m, (struct str){ bytes, file.n }).good)
			fail_msg("byte %zu", i);
		assert_false(check(m, str_slice(file, 0, i)).good);
		bytes[i] ^= 1;
	}
	manifest_maker_free(m);
}

static void
test_not_a_file(void **state)
{
	struct manifest_options o = { 0 };
	struct manifest_report r;
	struct err e = { 0 };
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(manifest_check(fds[0], &o, &r, &e), -1);
	assert_ptr_equal(e.kind, &err_usage);
	close(fds[0]);
	close(fds[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_complete),
		cmocka_unit_test(test_some_events),
		cmocka_unit_test(test_reply),
		cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_rewritten),
		cmocka_unit_test(test_changed_and_signed_anew),
		cmocka_unit_test(test_other_events),
		cmocka_unit_test(test_after_a_rotation),
		cmocka_unit_test(test_void_events),
		cmocka_unit_test(test_envelope),
		cmocka_unit_test(test_other_key),
		cmocka_unit_test(test_uncertified_key),
		cmocka_unit_test(test_any_byte),
		cmocka_unit_test(test_not_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
