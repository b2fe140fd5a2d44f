#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>

#include "domain/applications.h"
#include "domain/applications/base62.h"
#include "tests/support/desk.h"

static const struct place acme = { { "acme", 4 }, { "sandbox", 7 }, 0 };

static void
test_base62(void **state)
{
	const uint8_t high[4] = { 0xff, 0xff, 0xff, 0xff };
	const uint8_t low[4] = { 0, 0, 0, 61 };
	char text[16];

	(void)state;
	base62_encode(high, 4, text, 6); /* 4294967295 */
	assert_string_equal(text, "4gfFC3");
	base62_encode(low, 4, text, 6);
	assert_string_equal(text, "00000z");
	base62_encode(high, 4, text, 2); /* the lowest digits */
	assert_string_equal(text, "C3");
	assert_true(base62_is_valid(STR("09AZaz")));
	assert_false(base62_is_valid(STR("0_9")));
	assert_false(base62_is_valid(STR("")));
	assert_false(base62_is_valid((struct str){ "a\0b", 3 }));
}

static void
test_key_is_read_back(void **state)
{
	static const struct place places[] = {
		{ { "acme", 4 }, { "sandbox", 7 }, 0 },
		{ { "a-b-c", 5 }, { "production", 10 }, 0 },
		{ { "x", 1 }, { "sandbox", 7 }, 0 },
		{ { "a123456789012345678901234567890123456-8", 39 },
		    { "sandbox", 7 }, 0 },
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		uint8_t random[48];
		struct api_key key;
		struct str text;

		memset(random, (int)(37 * i + 1), sizeof random);
		text = key_make(a, KEY_API, &places[i], random);
		assert_true(text.n <= API_KEY_MAX);
		assert_true(key_parse(a, text, &key));
		assert_true(str_eq(key.place.workspace, places[i].workspace));
		assert_true(
		    str_eq(key.place.environment, places[i].environment));
		assert_true(digest_eq(key.sha256, sha256(text)));
		assert_true(str_has_prefix(text, key.public_id));
		assert_int_equal(text.n - key.public_id.n, 1 + 43 + 6);
		for (size_t k = 0; k < text.n; k++)
			assert_true(text.p[k] == '_' ||
				    base62_is_valid(str_slice(text, k, k + 1)));
	}
	arena_free(a);
}

/* Any slip of one character is found before anything is looked up. */
static void
test_checksum_finds_slips(void **state)
{
	static const char other[] = "0aZ_-";
	struct arena *a = arena_new();
	uint8_t random[48] = { 1, 2, 3 };
	struct str text = key_make(a, KEY_API, &acme, random);
	struct api_key key;

	(void)state;
	for (size_t i = 0; i < text.n; i++)
		for (const char *c = other; *c; c++) {
			char *slip = arena_cstr(a, text);

			if (slip[i] == *c)
				continue;
			slip[i] = *c;
			assert_false(key_parse(a, str_from(slip), &key));
		}
	for (size_t n = 0; n < text.n; n++)
		assert_false(key_parse(a, str_slice(text, 0, n), &key));
	assert_false(
	    key_parse(a, arena_strf(a, "%.*s0", STR_ARGS(text)), &key));
	assert_false(key_parse(a, STR(""), &key));
	assert_true(key_parse(a, text, &key));
	arena_free(a);
}

/* A good checksum over a workspace that is a path is no key. */
static void
test_hostile_workspaces(void **state)
{
	static const char *const names[] = { "..", "a/b", "A", "", "a--b" };
	struct arena *a = arena_new();
	uint8_t random[48] = { 9 };

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct place place = { str_from(names[i]), STR("sandbox"), 0 };
		struct api_key key;

		assert_false(
		    key_parse(a, key_make(a, KEY_API, &place, random), &key));
	}
	arena_free(a);
}

/* From here on with a ledger. */

struct fixture {
	struct desk desk;
	struct str application, credential, key;
};

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct json *v;

	desk_open(&f->desk, "sandbox");
	v = desk_do(&f->desk, "application.create",
	    "{\"name\":\"treasury\",\"responsible\":\"A. Person\","
	    "\"scopes\":[\"workspace:read\",\"finance-core:read\"],"
	    "\"entitlements\":[\"knowledge\"]}");
	f->application = json_get_str(v, "uid");
	v = desk_do(&f->desk, "credential.issue",
	    arena_printf(f->desk.a, "{\"application\":\"%.*s\"}",
		STR_ARGS(f->application)));
	f->credential = json_get_str(v, "uid");
	f->key = json_get_str(v, "key");
	assert_true(json_get(v, "secret_shown")->type == JSON_FALSE);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	desk_close(&f->desk);
	free(f);
	return 0;
}

static int
authenticate(struct fixture *f, struct str key, struct caller *caller)
{
	struct ledger *ledger = NULL;
	struct err e = { 0 };
	int result = call_authenticate(
	    f->desk.service, key, f->desk.a, caller, &ledger, &e);

	if (result) {
		assert_ptr_equal(e.kind, &err_unauthorized);
		assert_null(ledger);
	}
	service_release(f->desk.service, ledger);
	return result;
}

static const struct err_kind *
refusal(struct fixture *f, const struct caller *caller, const char *id)
{
	struct reply reply;
	struct err e;

	if (desk_call(&f->desk, caller, id, "{}", &reply, &e) == 0)
		return NULL;
	return e.kind;
}

static struct json *
change(struct fixture *f, const char *id, struct str uid)
{
	return desk_do(&f->desk, id,
	    arena_printf(f->desk.a, "{\"uid\":\"%.*s\"}", STR_ARGS(uid)));
}

static void
test_key_opens_what_it_may(void **state)
{
	struct fixture *f = *state;
	struct caller caller;
	struct reply reply;
	struct err e;

	assert_int_equal(authenticate(f, f->key, &caller), 0);
	assert_int_equal(caller.n_scopes, 2);
	assert_true(str_is(caller.application_name, "treasury"));
	assert_int_equal(
	    desk_call(&f->desk, &caller, "workspace.show", "{}", &reply, &e),
	    0);
	assert_true(str_is(json_get_str(reply.body, "name"), "acme"));
	/* The scope is there, the entitlement is not. */
	assert_ptr_equal(
	    refusal(f, &caller, "finance_core.show"), &err_forbidden);
	/* Operators' rows are not for keys, whatever their scopes. */
	assert_ptr_equal(
	    refusal(f, &caller, "application.list"), &err_forbidden);
}

static void
test_wrong_keys(void **state)
{
	struct fixture *f = *state;
	uint8_t random[48] = { 7 };
	struct place unknown = { STR("nobody"), STR("sandbox"), 0 };
	struct place live = { STR("acme"), STR("production"), 0 };
	struct caller caller;

	assert_int_equal(authenticate(f, STR("pby_test_acme"), &caller), -1);
	assert_int_equal(
	    authenticate(
		f, key_make(f->desk.a, KEY_API, &acme, random), &caller),
	    -1);
	assert_int_equal(
	    authenticate(
		f, key_make(f->desk.a, KEY_API, &unknown, random), &caller),
	    -1);
	assert_int_equal(
	    authenticate(
		f, key_make(f->desk.a, KEY_API, &live, random), &caller),
	    -1);
}

/* CRC-32 of the text in six base62 digits, as anybody can compute it. */
static void
checksum(struct str text, char out[7])
{
	uint32_t crc = 0xffffffff;
	uint8_t b[4];

	for (size_t i = 0; i < text.n; i++) {
		crc ^= (uint8_t)text.p[i];
		for (int k = 0; k < 8; k++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	}
	crc = ~crc;
	for (int i = 0; i < 4; i++)
		b[i] = (uint8_t)(crc >> (24 - 8 * i));
	base62_encode(b, 4, out, 6);
}

static struct str
forge(struct arena *a, struct str public_id)
{
	struct str body =
	    arena_strf(a, "%.*s_0123456789012345678901234567890123456789012",
		STR_ARGS(public_id));
	char check[7];

	checksum(body, check);
	return arena_strf(a, "%.*s%s", STR_ARGS(body), check);
}

/* The public id is no secret; another secret behind it opens nothing. */
static void
test_public_id_alone_opens_nothing(void **state)
{
	struct fixture *f = *state;
	struct api_key key;
	struct caller caller;
	struct credential credential = { 0 };
	struct err e = { 0 };
	struct reading reading;
	struct ledger *ledger;
	struct str forged;

	assert_true(key_parse(f->desk.a, f->key, &key));
	assert_int_equal(call_authenticate(f->desk.service, f->key, f->desk.a,
			     &caller, &ledger, &e),
	    0);
	assert_int_equal(ledger_read_begin(ledger, &reading, &e), 0);
	assert_int_equal(credential_find(reading.db, key.public_id, f->desk.a,
			     &credential, &e),
	    1);
	assert_true(digest_eq(credential.sha256, sha256(f->key)));
	ledger_read_end(&reading);
	service_release(f->desk.service, ledger);
	/* The same id, with another secret and a good checksum. */
	forged = forge(f->desk.a, key.public_id);
	assert_true(key_parse(f->desk.a, forged, &key));
	assert_int_equal(authenticate(f, forged, &caller), -1);
}

/* What stands below, just below, just above and above an id. */
#define NEIGHBOURS 6
static void
neighbours(struct arena *a, struct str id, struct str out[NEIGHBOURS])
{
	struct str shorter = str_slice(id, 0, id.n - 1);

	out[0] = STR("");
	out[1] = STR("0");
	out[2] = shorter;
	out[3] = arena_strf(a, "%.*s0", STR_ARGS(id));
	out[4] = arena_strf(a, "%.*s~", STR_ARGS(shorter));
	out[5] = STR("~");
}

/* A row is read in vain, the nearest one: never is it what was asked for. */
static void
test_neighbours_are_not_found(void **state)
{
	struct fixture *f = *state;
	struct credential untouched = { 0 }, out = { 0 };
	struct str ids[NEIGHBOURS];
	struct api_key key;
	struct reading reading;
	struct ledger *ledger;
	struct err e = { 0 };

	assert_true(key_parse(f->desk.a, f->key, &key));
	neighbours(f->desk.a, key.public_id, ids);
	assert_int_equal(
	    service_acquire(f->desk.service, &acme, &ledger, &e), 0);
	assert_int_equal(ledger_read_begin(ledger, &reading, &e), 0);
	for (size_t i = 0; i < NEIGHBOURS; i++) {
		assert_int_equal(
		    credential_find(reading.db, ids[i], f->desk.a, &out, &e),
		    0);
		assert_memory_equal(&out, &untouched, sizeof out);
	}
	assert_int_equal(
	    credential_find(reading.db, key.public_id, f->desk.a, &out, &e), 1);
	ledger_read_end(&reading);
	service_release(f->desk.service, ledger);
}

static void
test_rotation_ends_the_previous_key(void **state)
{
	struct fixture *f = *state;
	struct caller before, after;
	struct json *v;

	assert_int_equal(authenticate(f, f->key, &before), 0);
	v = change(f, "credential.rotate", f->credential);
	assert_int_equal(authenticate(f, json_get_str(v, "key"), &after), 0);
	assert_null(refusal(f, &after, "workspace.show"));
	assert_int_equal(authenticate(f, f->key, &before), -1);
	/* A request that was let in before the rotation is stopped too. */
	before.credential = json_get_str(v, "previous_public_id");
	before.kind = CALLER_APPLICATION;
	assert_ptr_equal(
	    refusal(f, &before, "workspace.show"), &err_unauthorized);
}

static void
test_revocation(void **state)
{
	struct fixture *f = *state;
	struct caller caller;

	assert_int_equal(authenticate(f, f->key, &caller), 0);
	change(f, "credential.revoke", f->credential);
	assert_ptr_equal(
	    refusal(f, &caller, "workspace.show"), &err_unauthorized);
	assert_int_equal(authenticate(f, f->key, &caller), -1);
}

static void
test_application_status(void **state)
{
	struct fixture *f = *state;
	struct caller caller;
	struct reply reply;
	struct err e;

	change(f, "application.suspend", f->application);
	assert_int_equal(authenticate(f, f->key, &caller), 0);
	assert_ptr_equal(refusal(f, &caller, "workspace.show"), &err_forbidden);
	assert_int_equal(
	    desk_call(&f->desk, &f->desk.staff, "application.suspend",
		arena_printf(
		    f->desk.a, "{\"uid\":\"%.*s\"}", STR_ARGS(f->application)),
		&reply, &e),
	    -1);
	assert_ptr_equal(e.kind, &err_conflict);
	change(f, "application.resume", f->application);
	assert_null(refusal(f, &caller, "workspace.show"));
	change(f, "application.revoke", f->application);
	assert_ptr_equal(refusal(f, &caller, "workspace.show"), &err_forbidden);
}

static void
test_refused_requests_name_the_field(void **state)
{
	static const struct {
		const char *input, *at;
	} cases[] = {
		{ "{\"name\":\"a\",\"responsible\":\"b\","
		  "\"scopes\":[\"workspace:read\",\"all\"]}",
		    "#/scopes/1" },
		{ "{\"name\":\"a\",\"responsible\":\"b\","
		  "\"scopes\":[\"workspace:read\",\"workspace:read\"]}",
		    "#/scopes/1" },
		{ "{\"name\":\"a\",\"responsible\":\"b\","
		  "\"scopes\":[\"workspace:read\"],"
		  "\"entitlements\":[\"moon\"]}",
		    "#/entitlements/0" },
		{ "{\"name\":\"treasury\",\"responsible\":\"b\","
		  "\"scopes\":[\"workspace:read\"]}",
		    "#/name" },
		{ "{\"name\":\"a\",\"scopes\":[\"workspace:read\"]}",
		    "#/responsible" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct reply reply;
		struct err e;

		assert_int_equal(
		    desk_call(&f->desk, &f->desk.staff, "application.create",
			cases[i].input, &reply, &e),
		    -1);
		assert_ptr_equal(e.kind, &err_invalid);
		assert_non_null(e.fields);
		assert_string_equal(e.fields->at, cases[i].at);
	}
}

/* What is on the disk, all of it, holds no key. */
static void
test_no_secret_is_kept(void **state)
{
	struct fixture *f = *state;
	struct str dump = desk_dump(&f->desk);
	char *secret =
	    arena_cstr(f->desk.a, str_slice(f->key, f->key.n - 49, f->key.n));
	struct ledger *ledger;
	struct reading reading;
	uint64_t size;
	struct err e = { 0 };

	assert_null(strstr(arena_cstr(f->desk.a, dump), secret));
	assert_int_equal(
	    service_acquire(f->desk.service, &acme, &ledger, &e), 0);
	assert_int_equal(ledger_read_begin(ledger, &reading, &e), 0);
	assert_int_equal(ledger_read_size(&reading, &size, &e), 0);
	assert_true(size >= 4);
	for (uint64_t seq = 0; seq < size; seq++) {
		struct stored_event stored;

		assert_int_equal(
		    ledger_read_event(&reading, seq, f->desk.a, &stored, &e),
		    0);
		assert_null(
		    strstr(arena_cstr(f->desk.a, stored.recorded.event.bytes),
			secret));
	}
	ledger_read_end(&reading);
	service_release(f->desk.service, ledger);
}

static void
test_production_is_closed(void **state)
{
	struct desk d;
	struct json *v;
	struct reply reply;
	struct err e;

	(void)state;
	desk_open(&d, "production");
	v = desk_do(&d, "application.create",
	    "{\"name\":\"t\",\"responsible\":\"p\","
	    "\"scopes\":[\"workspace:read\"]}");
	assert_int_equal(desk_call(&d, &d.staff, "credential.issue",
			     arena_printf(d.a, "{\"application\":\"%.*s\"}",
				 STR_ARGS(json_get_str(v, "uid"))),
			     &reply, &e),
	    -1);
	assert_string_equal(e.kind->slug, "production-closed");
	assert_int_equal(e.kind->status, 403);
	desk_close(&d);
}

#define WITH_KEY(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_base62),
		cmocka_unit_test(test_key_is_read_back),
		cmocka_unit_test(test_checksum_finds_slips),
		cmocka_unit_test(test_hostile_workspaces),
		WITH_KEY(test_key_opens_what_it_may),
		WITH_KEY(test_wrong_keys),
		WITH_KEY(test_public_id_alone_opens_nothing),
		WITH_KEY(test_neighbours_are_not_found),
		WITH_KEY(test_rotation_ends_the_previous_key),
		WITH_KEY(test_revocation),
		WITH_KEY(test_application_status),
		WITH_KEY(test_refused_requests_name_the_field),
		WITH_KEY(test_no_secret_is_kept),
		cmocka_unit_test(test_production_is_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
