#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/chain/evidence.h"
#include "ledger/codec/text.h"
#include "tests/support/desk.h"

#define UNKNOWN_SEQ "{\"seq\":9007199254740991}"

/* The workspace's first events, and an auditor who reads them. */
static struct desk desk;
static struct caller auditor;

static int
open_desk(void **state)
{
	(void)state;
	desk_open(&desk, "sandbox");
	desk_application(&desk, "auditor", "[\"trust:read\"]", "[]", &auditor);
	for (int i = 0; i < 3; i++)
		desk_do(&desk, "connector.add",
		    arena_printf(desk.a,
			"{\"name\":\"Bank %d\",\"kind\":\"sandbox\","
			"\"modes\":[\"sandbox\"]}",
			i));
	return 0;
}

static int
close_desk(void **state)
{
	(void)state;
	desk_close(&desk);
	return 0;
}

static struct json *
ask(const char *id, const char *input)
{
	struct reply reply;
	struct err e;

	if (desk_call(&desk, &auditor, id, input, &reply, &e))
		fail_msg("%s %s: %s", id, input, e.detail);
	assert_int_equal(reply.status, 200);
	return reply.body;
}

static const struct content *
fetch(const char *id, const char *input)
{
	struct reply reply;
	struct err e;

	if (desk_call(&desk, &auditor, id, input, &reply, &e))
		fail_msg("%s %s: %s", id, input, e.detail);
	assert_null(reply.body);
	assert_non_null(reply.content);
	return reply.content;
}

static void
refused(const char *id, const char *input, const struct err_kind *kind)
{
	struct reply reply;
	struct err e;

	assert_int_equal(desk_call(&desk, &auditor, id, input, &reply, &e), -1);
	if (e.kind != kind)
		fail_msg(
		    "%s %s: %s, not %s", id, input, e.kind->slug, kind->slug);
}

static int64_t
number(const struct json *v, const char *name)
{
	int64_t n;

	if (!json_get_int(v, name, &n))
		fail_msg("no number %s", name);
	return n;
}

static struct digest
hash(struct str hex)
{
	struct digest d;

	assert_true(digest_from_hex(hex, &d));
	return d;
}

static struct merkle_proof
path_of(const struct json *reply)
{
	struct merkle_proof p = { .n = 0 };

	for (const struct json *v = json_get(reply, "hashes")->first; v;
	     v = v->next)
		p.hashes[p.n++] = hash(v->text);
	return p;
}

static int64_t
ledger_size(void)
{
	return number(ask("ledger.checkpoint", "{}"), "size");
}

static void
test_checkpoint(void **state)
{
	struct json *newest = ask("ledger.checkpoint", "{}");
	struct json *first = ask("ledger.checkpoint", "{\"size\":1}");
	struct str note = json_get_str(newest, "checkpoint");
	int64_t size = number(newest, "size");

	(void)state;
	assert_true(size > 5);
	assert_true(str_has_prefix(note, json_get_str(newest, "origin")));
	assert_int_equal(number(first, "size"), 1);
	assert_false(
	    str_eq(json_get_str(first, "root"), json_get_str(newest, "root")));
	assert_true(str_eq(note,
	    json_get_str(
		ask("ledger.checkpoint",
		    arena_printf(desk.a, "{\"size\":%lld}", (long long)size)),
		"checkpoint")));
	refused("ledger.checkpoint",
	    arena_printf(desk.a, "{\"size\":%lld}", (long long)size + 1),
	    &err_not_found);
	refused("ledger.checkpoint", "{\"size\":0}", &err_invalid);
}

static void
test_event(void **state)
{
	struct json *shown = ask("ledger.event.show", "{\"seq\":1}");
	struct str line = json_get_str(shown, "line");
	struct json *event = json_get(shown, "event");
	struct str first = str_take(&line, ' ');
	struct str signature = json_get_str(shown, "signature");
	char hex[DIGEST_HEX + 1];

	(void)state;
	digest_hex(sha256(line), hex);
	assert_true(str_is(json_get_str(shown, "hash"), hex));
	assert_int_equal(number(event, "seq"), 1);
	assert_int_equal(json_get_str(shown, "commit").n, OID_HEX);
	assert_int_equal(json_get_str(shown, "key_id").n, 8);
	assert_true(first.n > 0 && signature.n > 0);
	assert_true(number(json_get(shown, "batch"), "first") <= 1);
	assert_true(number(json_get(shown, "batch"), "count") >= 1);
	refused("ledger.event.show", UNKNOWN_SEQ, &err_not_found);
	refused("ledger.event.show", "{\"seq\":-1}", &err_invalid);
	refused("ledger.event.show", "{\"seq\":\"x\"}", &err_invalid);
}

/* By pages of two, every event comes once and in order. */
static void
test_events_by_range(void **state)
{
	int64_t size = ledger_size(), expect = 1, after = 1;
	bool more = true;

	(void)state;
	while (more) {
		struct json *page = ask("ledger.event.list",
		    arena_printf(desk.a,
			"{\"limit\":2,\"from\":1,\"after_id\":%lld}",
			(long long)after));

		for (const struct json *v = json_get(page, "data")->first; v;
		     v = v->next) {
			assert_int_equal(number(v, "seq"), expect);
			assert_int_equal(number(v, "id"), ++expect);
		}
		more = json_get_int(page, "next_after_id", &after);
		assert_int_equal(
		    more, json_get(page, "has_more")->type == JSON_TRUE);
	}
	assert_int_equal(expect, size);
	assert_int_equal(json_get(ask("ledger.event.list",
				      arena_printf(desk.a, "{\"from\":%lld}",
					  (long long)size)),
			     "data")
			     ->n,
	    0);
	refused("ledger.event.list", "{\"limit\":201}", &err_invalid);
}

static struct json *
about(struct str uid, const char *more)
{
	return ask("ledger.event.list",
	    arena_printf(
		desk.a, "{\"subject\":\"%.*s\"%s}", STR_ARGS(uid), more));
}

static void
test_events_by_subject(void **state)
{
	struct json *party = desk_do(&desk, "counterparty.add",
	    "{\"name\":\"Nordwind Logistik AG\","
	    "\"account\":\"DE75512108001245126199\"}");
	struct str uid = json_get_str(party, "uid");
	const char *who =
	    arena_printf(desk.a, "{\"id\":%lld,\"reason\":\"a test\"}",
		(long long)number(party, "id"));
	struct json *page;

	(void)state;
	desk_do(&desk, "connector.add",
	    "{\"name\":\"Between\",\"kind\":\"sandbox\","
	    "\"modes\":[\"sandbox\"]}");
	desk_do(&desk, "counterparty.suspend", who);
	page = about(uid, "");
	assert_int_equal(json_get(page, "data")->n, 2);
	assert_true(str_is(json_get_str(json_get(page, "data")->first, "type"),
	    "counterparty.registered"));
	assert_true(str_is(json_get_str(json_get(page, "data")->last, "type"),
	    "counterparty.suspended"));
	assert_true(str_eq(
	    uid, json_get_str(json_get(json_get(page, "data")->last, "subject"),
		     "uid")));
	page = about(uid, ",\"limit\":1");
	assert_int_equal(json_get(page, "data")->n, 1);
	assert_int_equal(json_get(page, "has_more")->type, JSON_TRUE);
	page = about(uid, arena_printf(desk.a, ",\"after_id\":%lld",
			      (long long)number(page, "next_after_id")));
	assert_int_equal(json_get(page, "data")->n, 1);
	assert_int_equal(json_get(page, "has_more")->type, JSON_FALSE);
	page = about(STR("018f0000-0000-7000-8000-000000000000"), "");
	assert_int_equal(json_get(page, "data")->n, 0);
}

/* What is projected by events is there again after a rebuild. */
static void
test_rebuild_is_the_same(void **state)
{
	struct str before = desk_dump(&desk);

	(void)state;
	assert_true(strstr(arena_cstr(desk.a, before),
			"INSERT INTO ledger_subject") != NULL);
	desk_rebuild(&desk);
	assert_true(str_eq(before, desk_dump(&desk)));
}

static void
test_inclusion(void **state)
{
	int64_t size = ledger_size();

	(void)state;
	for (int64_t seq = 0; seq < size; seq++) {
		struct json *v = ask("ledger.proof.inclusion",
		    arena_printf(desk.a, "{\"seq\":%lld}", (long long)seq));
		struct merkle_proof path = path_of(v);
		struct digest leaf = hash(json_get_str(v, "leaf_hash"));
		struct digest root = hash(json_get_str(v, "root"));

		assert_int_equal(number(v, "size"), size);
		assert_true(proof_includes(
		    leaf, (uint64_t)seq, (uint64_t)size, &path, root));
		leaf.b[0] ^= 1;
		assert_false(proof_includes(
		    leaf, (uint64_t)seq, (uint64_t)size, &path, root));
	}
	refused("ledger.proof.inclusion", UNKNOWN_SEQ, &err_not_found);
	refused(
	    "ledger.proof.inclusion", "{\"seq\":1,\"size\":1}", &err_not_found);
	refused("ledger.proof.inclusion", "{}", &err_invalid);
}

static void
test_consistency(void **state)
{
	struct json *newest = ask("ledger.checkpoint", "{}");
	int64_t size = number(newest, "size");

	(void)state;
	for (int64_t old = 1; old <= size; old++) {
		struct json *kept = ask("ledger.checkpoint",
		    arena_printf(desk.a, "{\"size\":%lld}", (long long)old));
		int64_t at = number(kept, "size");
		struct json *v = ask("ledger.proof.consistency",
		    arena_printf(desk.a, "{\"old\":%lld}", (long long)at));
		struct merkle_proof path = path_of(v);

		assert_true(proof_extends((uint64_t)at,
		    hash(json_get_str(kept, "root")), (uint64_t)size,
		    hash(json_get_str(v, "root")), &path));
		assert_true(str_eq(json_get_str(v, "checkpoint"),
		    json_get_str(newest, "checkpoint")));
	}
	refused("ledger.proof.consistency",
	    arena_printf(desk.a, "{\"old\":%lld}", (long long)size + 1),
	    &err_invalid);
	refused("ledger.proof.consistency", "{\"old\":0}", &err_invalid);
	refused("ledger.proof.consistency", "{\"old\":1,\"size\":9999}",
	    &err_not_found);
}

static void
test_evidence(void **state)
{
	const struct content *file = fetch("ledger.evidence", "{\"seq\":2}");
	struct json *shown = ask("ledger.event.show", "{\"seq\":2}");
	struct evidence_shown what;
	struct evidence evidence;
	struct err e = { 0 };

	(void)state;
	assert_true(str_is(file->file_name, "event-2.evidence.json"));
	assert_int_equal(evidence_parse(desk.a, file->bytes, &evidence, &e), 0);
	if (evidence_check(desk.a, &evidence, NULL, &what, &e))
		fail_msg("%s: %s", what.check, e.detail);
	assert_int_equal(what.event.seq, 2);
	assert_true(str_eq(evidence.line, json_get_str(shown, "line")));
	assert_int_equal(what.checkpoint.size, ledger_size());
	file = fetch("ledger.evidence", "{\"seq\":2,\"size\":3}");
	assert_int_equal(evidence_parse(desk.a, file->bytes, &evidence, &e), 0);
	assert_int_equal(evidence_check(desk.a, &evidence, NULL, &what, &e), 0);
	assert_true(what.checkpoint.size < (uint64_t)ledger_size());
	refused("ledger.evidence", UNKNOWN_SEQ, &err_not_found);
}

static void
test_pack(void **state)
{
	const struct content *file = fetch("ledger.pack", "{\"seq\":0}");
	struct str bytes = file->bytes;

	(void)state;
	assert_true(str_has_prefix(bytes, STR("PACK")));
	/* Commit, tree, events, checkpoint, allowed_signers. */
	assert_memory_equal(bytes.p + 8, "\0\0\0\5", 4);
	assert_true(str_is(file->file_name, "batch-0-0.pack"));
	assert_true(str_eq(bytes, fetch("ledger.pack", "{\"seq\":0}")->bytes));
	refused("ledger.pack", UNKNOWN_SEQ, &err_not_found);
}

static void
test_keys(void **state)
{
	struct json *v = ask("ledger.key.list", "{}");
	struct json *key = json_get(v, "keys")->first;
	struct json *opened = json_get(
	    json_get(ask("ledger.event.show", "{\"seq\":0}"), "event"), "data");

	(void)state;
	assert_int_equal(json_get(v, "keys")->n, 1);
	assert_true(str_eq(json_get_str(key, "public_key"),
	    json_get_str(opened, "public_key")));
	assert_int_equal(number(key, "from_seq"), 0);
	assert_int_equal(json_get(key, "until_seq")->type, JSON_NULL);
	assert_true(
	    str_eq(json_get_str(json_get(v, "recovery_key"), "public_key"),
		json_get_str(opened, "recovery_key")));
	assert_int_equal(json_get_str(key, "fingerprint").n, 7 + 43);
	assert_true(
	    str_has_prefix(json_get_str(key, "fingerprint"), STR("SHA256:")));
}

static void
test_scope(void **state)
{
	static const char *const ids[] = { "ledger.checkpoint",
		"ledger.event.list", "ledger.event.show",
		"ledger.proof.inclusion", "ledger.proof.consistency",
		"ledger.evidence", "ledger.pack", "ledger.key.list" };
	struct caller other;
	struct reply reply;
	struct err e;

	(void)state;
	desk_application(&desk, "other", "[\"workspace:read\"]", "[]", &other);
	for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
		assert_int_equal(
		    desk_call(&desk, &other, ids[i], "{}", &reply, &e), -1);
		assert_ptr_equal(e.kind, &err_forbidden);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_checkpoint),
		cmocka_unit_test(test_event),
		cmocka_unit_test(test_events_by_range),
		cmocka_unit_test(test_events_by_subject),
		cmocka_unit_test(test_rebuild_is_the_same),
		cmocka_unit_test(test_inclusion),
		cmocka_unit_test(test_consistency),
		cmocka_unit_test(test_evidence),
		cmocka_unit_test(test_pack),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_scope),
	};

	return cmocka_run_group_tests(tests, open_desk, close_desk);
}
