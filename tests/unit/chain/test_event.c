#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/chain/event.h"
#include "ledger/codec/canon.h"

static struct uid
uid_with(uint8_t last)
{
	struct uid u = { { 1, 2, 3, 4, 5, 6, 0x70, 8, 0x90, 1, 2, 3, 4, 5, 6,
	    last } };

	return u;
}

static struct event
smallest(struct arena *a)
{
	return (struct event){
		.ledger = STR("ledger.example.com/acme/sandbox"),
		.uid = uid_with(1),
		.at = { INT64_C(1767323045000001) },
		.type = STR("ledger.opened"),
		.subject_kind = STR("ledger"),
		.subject = uid_with(2),
		.actor = { .kind = STR("operator"), .id = STR("root") },
		.data = json_object(a),
	};
}

static struct event
largest(struct arena *a)
{
	struct event ev = smallest(a);
	struct json *data = json_object(a), *list = json_array(a);
	struct payload *p = arena_array(a, 2, sizeof *p);

	json_put_str(a, data, "zed", STR("caf\xc3\xa9 \"x\" \\ \n\x01"));
	json_put_int(a, data, "a", -9007199254740991);
	json_push(list, json_null(a));
	json_push(list, json_bool(a, true));
	json_put(data, "list", list);
	p[0] = (struct payload){ .name = STR("a \"quoted\"\ttab"),
		.sha256 = sha256(STR("x")),
		.size = 1,
		.media_type = STR("text/plain; charset=\"utf-8\"") };
	p[1] = (struct payload){ .name = STR("b"),
		.sha256 = sha256(STR("y")),
		.size = 9007199254740991,
		.media_type = STR("application/pdf") };
	ev.seq = 9007199254740991;
	ev.type = STR("source_record.imported");
	ev.actor = (struct actor){ .kind = STR("human"),
		.id = STR("Zo\xc3\xab \x7f\\"),
		.credential = STR("cred/1"),
		.signature_input = STR("sig=(\"@method\");created=1"),
		.signature = STR("sig=:AAAA:"),
		.content_digest = STR("sha-256=:AAAA:") };
	ev.request = uid_with(3);
	ev.idempotency =
	    (struct idempotency){ true, sha256(STR("k")), sha256(STR("r")) };
	ev.prev = sha256(STR("before"));
	ev.data = data;
	ev.payloads = p;
	ev.n_payloads = 2;
	return ev;
}

static void
assert_str(struct str got, struct str wanted)
{
	assert_int_equal(got.n, wanted.n);
	assert_int_equal(got.p == NULL, wanted.p == NULL);
	if (wanted.n)
		assert_memory_equal(got.p, wanted.p, wanted.n);
}

static void
assert_same(const struct event *x, const struct event *y)
{
	assert_str(x->ledger, y->ledger);
	assert_int_equal(x->seq, y->seq);
	assert_true(uid_eq(x->uid, y->uid));
	assert_int_equal(x->at.us, y->at.us);
	assert_str(x->type, y->type);
	assert_str(x->subject_kind, y->subject_kind);
	assert_true(uid_eq(x->subject, y->subject));
	assert_str(x->actor.kind, y->actor.kind);
	assert_str(x->actor.id, y->actor.id);
	assert_str(x->actor.credential, y->actor.credential);
	assert_str(x->actor.signature_input, y->actor.signature_input);
	assert_str(x->actor.signature, y->actor.signature);
	assert_str(x->actor.content_digest, y->actor.content_digest);
	assert_true(uid_eq(x->request, y->request));
	assert_int_equal(x->idempotency.set, y->idempotency.set);
	assert_true(
	    digest_eq(x->idempotency.key_hmac, y->idempotency.key_hmac));
	assert_true(digest_eq(
	    x->idempotency.request_hmac, y->idempotency.request_hmac));
	assert_true(digest_eq(x->prev, y->prev));
	assert_int_equal(x->n_payloads, y->n_payloads);
	for (size_t i = 0; i < x->n_payloads; i++) {
		assert_str(x->payloads[i].name, y->payloads[i].name);
		assert_str(
		    x->payloads[i].media_type, y->payloads[i].media_type);
		assert_true(
		    digest_eq(x->payloads[i].sha256, y->payloads[i].sha256));
		assert_int_equal(x->payloads[i].size, y->payloads[i].size);
	}
	assert_true(digest_eq(x->hash, y->hash));
}

/* The bytes are those that the general writer makes of their own parse. */
static void
assert_canonical(struct arena *a, struct str bytes)
{
	struct err e = { 0 };
	struct json *tree;
	struct str again;

	assert_int_equal(canon_check_event(bytes, &e), 0);
	assert_int_equal(
	    json_parse(a, bytes, &json_limits_default, &tree, &e), 0);
	assert_int_equal(canon_event(a, tree, &again, &e), 0);
	assert_str(again, bytes);
}

static void
assert_round_trip(struct arena *a, struct event *ev)
{
	struct str before, after;
	struct err e = { 0 };
	struct event back;

	assert_int_equal(event_seal(a, ev, &e), 0);
	assert_canonical(a, ev->bytes);
	assert_true(digest_eq(ev->hash, sha256(ev->bytes)));
	assert_int_equal(event_parse(a, ev->bytes, &back, &e), 0);
	assert_same(&back, ev);
	assert_int_equal(canon_event(a, ev->data, &before, &e), 0);
	assert_int_equal(canon_event(a, back.data, &after, &e), 0);
	assert_str(after, before);
}

static void
test_seal_and_parse_agree(void **state)
{
	struct arena *a = arena_new();
	struct event small = smallest(a), large = largest(a);

	(void)state;
	assert_round_trip(a, &small);
	assert_round_trip(a, &large);
	large.actor.content_digest = STR_NONE;
	assert_round_trip(a, &large);
	arena_free(a);
}

static void
test_bytes_are_the_documented_ones(void **state)
{
	struct arena *a = arena_new();
	struct event ev = smallest(a);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(event_seal(a, &ev, &e), 0);
	assert_str(ev.bytes,
	    STR("{\"actor\":{\"credential\":null,\"id\":\"root\","
		"\"kind\":\"operator\"},"
		"\"at\":\"2026-01-02T03:04:05.000001Z\",\"data\":{},"
		"\"idempotency\":null,"
		"\"ledger\":\"ledger.example.com/acme/sandbox\","
		"\"prev\":\"00000000000000000000000000000000"
		"00000000000000000000000000000000\","
		"\"request\":null,\"seq\":0,"
		"\"subject\":{\"kind\":\"ledger\","
		"\"uid\":\"01020304-0506-7008-9001-020304050602\"},"
		"\"type\":\"ledger.opened\","
		"\"uid\":\"01020304-0506-7008-9001-020304050601\",\"v\":1}"));
	arena_free(a);
}

static void
refuse_seal(struct arena *a, struct event ev, const struct err_kind *kind)
{
	struct err e = { 0 };

	assert_int_equal(event_seal(a, &ev, &e), -1);
	assert_ptr_equal(e.kind, kind);
}

static void
test_seal_refuses_what_no_reader_accepts(void **state)
{
	struct arena *a = arena_new();
	struct event ev;

	(void)state;
	ev = smallest(a), ev.type = STR("opened");
	refuse_seal(a, ev, &err_internal);
	ev = smallest(a), ev.actor.kind = STR("robot");
	refuse_seal(a, ev, &err_internal);
	ev = smallest(a), ev.actor.id = STR("\xff");
	refuse_seal(a, ev, &err_internal);
	ev = smallest(a), ev.actor.id = STR("a\0b");
	refuse_seal(a, ev, &err_internal);
	ev = smallest(a), ev.actor.id = STR_NONE;
	refuse_seal(a, ev, &err_internal);
	ev = smallest(a), ev.actor.signature = STR("alone");
	refuse_seal(a, ev, &err_internal);
	ev = smallest(a), ev.uid.b[6] = 0x40;
	refuse_seal(a, ev, &err_internal);
	ev = smallest(a), ev.subject = (struct uid){ 0 };
	refuse_seal(a, ev, &err_internal);
	ev = smallest(a), ev.seq = 9007199254740992;
	refuse_seal(a, ev, &err_internal);
	ev = smallest(a), ev.data = json_array(a);
	refuse_seal(a, ev, &err_internal);
	arena_free(a);
}

static void
test_size_limit(void **state)
{
	struct arena *a = arena_new();
	struct event ev = smallest(a);
	struct json *data = json_object(a);
	struct err e = { 0 };
	struct event back;
	size_t room;
	char *text;

	(void)state;
	json_put_str(a, data, "t", STR(""));
	ev.data = data;
	assert_int_equal(event_seal(a, &ev, &e), 0);
	room = EVENT_MAX - ev.bytes.n;
	text = arena_alloc(a, room + 1);
	memset(text, 'x', room + 1);
	data->first->text = (struct str){ text, room };
	assert_int_equal(event_seal(a, &ev, &e), 0);
	assert_int_equal(ev.bytes.n, EVENT_MAX);
	assert_int_equal(event_parse(a, ev.bytes, &back, &e), 0);
	data->first->text.n++;
	refuse_seal(a, ev, &err_too_large);
	arena_free(a);
}

/* The bytes with the first `from` replaced by `to`. */
static struct str
replaced(struct arena *a, struct str s, const char *from, const char *to)
{
	const char *at = memmem(s.p, s.n, from, strlen(from));
	size_t before;

	assert_non_null(at);
	before = (size_t)(at - s.p);
	return arena_strf(a, "%.*s%s%.*s", (int)before, s.p, to,
	    (int)(s.n - before - strlen(from)), at + strlen(from));
}

static void
test_parse_is_strict(void **state)
{
	static const char *const changes[][2] = {
		{ "{\"actor\"", " {\"actor\"" },
		{ "\"v\":1}", "\"v\":1,\"w\":1}" },
		{ "\"v\":1}", "\"v\":2}" },
		{ "\"v\":1}", "\"v\":1} " },
		{ "\"v\":1}", "\"v\":1" },
		{ "\"seq\":9007199254740991", "\"seq\":9007199254740992" },
		{ "\"seq\":9007199254740991", "\"seq\":-1" },
		{ "\"seq\":9007199254740991", "\"seq\":\"1\"" },
		{ "\"seq\":9007199254740991", "\"seq\":1.5" },
		{ ",\"seq\":9007199254740991", "" },
		{ "05.000001Z", "05.00001Z" },
		{ "05.000001Z", "05.000001z" },
		{ "2026-01-02", "2026-02-30" },
		{ "imported\",\"uid\":\"01020304-0506-7",
		    "imported\",\"uid\":\"01020304-0506-4" },
		{ "01020304-0506-7008-9001-020304050602",
		    "01020304-0506-7008-9001-02030405060A" },
		{ "01020304-0506-7008-9001-020304050602", "2" },
		{ "\"request\":\"01020304-0506-7008-9001-020304050603\"",
		    "\"request\":7" },
		{ "\"kind\":\"human\"", "\"kind\":\"robot\"" },
		{ "\"credential\":\"cred/1\"", "\"credential\":\"\"" },
		{ "\"credential\":\"cred/1\"", "\"credential\":\"cred\\/1\"" },
		{ "\"kind\":\"ledger\"", "\"kind\":\"Ledger\"" },
		{ "source_record.imported", "source_record" },
		{ "source_record.imported", "source_record." },
		{ "source_record.imported", "source-record.imported" },
		{ "\"idempotency\":{", "\"idempotency\":{\"a\":1," },
		{ "\"key_hmac\":\"8", "\"key_hmac\":\"G" },
		{ "\"size\":1}", "\"size\":01}" },
		{ "\"size\":1}", "\"size\":1,\"z\":1}" },
		{ "\"name\":\"b\"", "\"name\":\"\"" },
		{ "\"a\":-9007199254740991", "\"a\":1.0" },
		{ "\"list\":[", "\"a\":1,\"list\":[" },
		{ "\\u0001", "\\u0000" },
		{ "\\u0001", "\\u000A" },
		{ "\"data\":{", "\"data\":[{" },
	};
	struct arena *a = arena_new();
	struct event ev = largest(a), back;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(event_seal(a, &ev, &e), 0);
	for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
		struct str bad =
		    replaced(a, ev.bytes, changes[i][0], changes[i][1]);

		err_clear(&e);
		if (!event_parse(a, bad, &back, &e))
			fail_msg("accepted: %s", changes[i][1]);
		assert_ptr_equal(e.kind, &err_corrupt);
	}
	arena_free(a);
}

/* Every proper beginning is refused, and read without stepping over its end.
 */
static void
test_parse_survives_every_cut(void **state)
{
	struct arena *a = arena_new();
	struct event ev = largest(a), back;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(event_seal(a, &ev, &e), 0);
	for (size_t n = 0; n < ev.bytes.n; n++) {
		struct str cut = arena_str(a, str_slice(ev.bytes, 0, n));

		err_clear(&e);
		assert_int_equal(event_parse(a, cut, &back, &e), -1);
	}
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seal_and_parse_agree),
		cmocka_unit_test(test_bytes_are_the_documented_ones),
		cmocka_unit_test(test_seal_refuses_what_no_reader_accepts),
		cmocka_unit_test(test_size_limit),
		cmocka_unit_test(test_parse_is_strict),
		cmocka_unit_test(test_parse_survives_every_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
