#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "domain/oauth.h"
#include "domain/words.h"
#include "tests/support/desk.h"

#define MINUTE_US INT64_C(60000000)

/* The system's clock, put forward. */
static int64_t ahead_us;

static struct instant
later_wall(const struct clock *c)
{
	struct instant now = clock_system.wall(&clock_system);

	(void)c;
	now.us += ahead_us;
	return now;
}

static struct instant
later_steady(const struct clock *c)
{
	struct instant now = clock_system.steady(&clock_system);

	(void)c;
	now.us += ahead_us;
	return now;
}

static const struct clock later = { later_wall, later_steady };

struct fixture {
	struct desk desk;
	struct str application, uid, client_id, secret;
};

static struct str
made(struct fixture *f, const char *name, const char *entitlements)
{
	return json_get_str(
	    desk_do(&f->desk, "application.create",
		arena_printf(f->desk.a,
		    "{\"name\":\"%s\",\"responsible\":\"A. Person\","
		    "\"scopes\":[\"workspace:read\",\"finance-core:read\","
		    "\"quant:models:read\"],\"entitlements\":%s}",
		    name, entitlements)),
	    "uid");
}

static void
make_client(struct fixture *f, struct str application)
{
	struct json *v = desk_do(&f->desk, "oauth_client.create",
	    arena_printf(f->desk.a, "{\"application\":\"%.*s\"}",
		STR_ARGS(application)));

	f->application = application;
	f->uid = json_get_str(v, "uid");
	f->client_id = json_get_str(v, "client_id");
	f->secret = json_get_str(v, "client_secret");
}

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	ahead_us = 0;
	desk_open(&f->desk, "sandbox");
	make_client(
	    f, made(f, "treasury", "[\"core-platform\",\"finance-core\"]"));
	/* Started again, the ledger is opened with the service's clock. */
	(void)desk_dump(&f->desk);
	service_set_clock(f->desk.service, &later);
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

/* What kind of refusal, or NULL. */
static const struct err_kind *
enter(struct fixture *f, struct str id, struct str secret,
    struct oauth_client *client, struct ledger **ledger)
{
	struct err e = { 0 };

	if (oauth_client_authenticate(f->desk.service, id, secret, f->desk.a,
		client, ledger, &e) == 0)
		return NULL;
	assert_null(*ledger);
	return e.kind;
}

static const struct err_kind *
ask(struct fixture *f, const char *scope, struct token_grant *grant)
{
	struct oauth_client client;
	struct token_request asked = { .client = &client,
		.scope = str_from(scope),
		.request = uid_new() };
	struct ledger *ledger = NULL;
	struct err e = { 0 };
	const struct err_kind *kind =
	    enter(f, f->client_id, f->secret, &client, &ledger);

	if (kind)
		return kind;
	*grant = (struct token_grant){ 0 };
	(void)access_token_issue(
	    f->desk.service, ledger, &asked, f->desk.a, grant, &e);
	service_release(f->desk.service, ledger);
	return e.kind;
}

static struct str
token(struct fixture *f)
{
	struct token_grant grant;

	assert_null(ask(f, NULL, &grant));
	return grant.token;
}

static const struct err_kind *
open_with(struct fixture *f, struct str key, struct caller *caller)
{
	struct ledger *ledger = NULL;
	struct err e = { 0 };
	int rc = call_authenticate(
	    f->desk.service, key, f->desk.a, caller, &ledger, &e);

	service_release(f->desk.service, ledger);
	return rc ? e.kind : NULL;
}

static const struct err_kind *
show(struct fixture *f, const struct caller *caller)
{
	struct reply reply;
	struct err e;

	return desk_call(&f->desk, caller, "workspace.show", "{}", &reply, &e)
		   ? e.kind
		   : NULL;
}

static void
change(struct fixture *f, const char *id, struct str uid)
{
	(void)desk_do(&f->desk, id,
	    arena_printf(f->desk.a, "{\"uid\":\"%.*s\"}", STR_ARGS(uid)));
}

static void
test_kinds_of_keys(void **state)
{
	static const struct place places[] = {
		{ { "acme", 4 }, { "sandbox", 7 }, 0 },
		{ { "a-b", 3 }, { "production", 10 }, 0 },
	};
	static const char *const prefixes[] = { "pby_", "pbyt_", "pbys_" };
	const uint8_t random[48] = { 1, 2, 3 };
	struct arena *a = arena_new();

	(void)state;
	for (int kind = KEY_API; kind <= KEY_CLIENT_SECRET; kind++)
		for (size_t i = 0; i < 2; i++) {
			struct str text = key_make(
			    a, (enum key_kind)kind, &places[i], random);
			struct api_key key;

			assert_true(key_parse(a, text, &key));
			assert_int_equal(key.kind, kind);
			assert_true(
			    str_has_prefix(text, str_from(prefixes[kind])));
			assert_true(
			    str_eq(key.place.workspace, places[i].workspace));
			assert_true(str_eq(
			    key.place.environment, places[i].environment));
			/* Another kind's prefix does not hold the checksum. */
			assert_false(key_parse(a,
			    arena_strf(a, "%s%.*s", kind ? "pby_" : "pbyt_",
				STR_ARGS(
				    str_slice(text, kind ? 5 : 4, text.n))),
			    &key));
		}
	arena_free(a);
}

static void
test_token_opens_what_it_may(void **state)
{
	struct fixture *f = *state;
	struct token_grant grant;
	struct caller caller;

	assert_null(ask(f, "workspace:read", &grant));
	assert_true(str_is(grant.scope, "workspace:read"));
	assert_int_equal(grant.expires_in_s, 900);
	assert_null(open_with(f, grant.token, &caller));
	assert_true(str_eq(caller.credential, f->client_id));
	assert_true(str_has_prefix(grant.token, caller.token));
	assert_int_equal(caller.n_scopes, 1);
	assert_null(show(f, &caller));
	/* A secret is no bearer token. */
	assert_ptr_equal(open_with(f, f->secret, &caller), &err_unauthorized);
}

static void
test_scopes(void **state)
{
	struct fixture *f = *state;
	struct token_grant grant;

	/* No operation asks for quant:models:read yet; its product is known. */
	assert_null(ask(f, NULL, &grant));
	assert_true(str_is(grant.scope, "workspace:read finance-core:read"));
	assert_ptr_equal(ask(f, "quant:models:read", &grant), &err_oauth_scope);
	assert_ptr_equal(ask(f, "trust:read", &grant), &err_oauth_scope);
	assert_ptr_equal(
	    ask(f, "workspace:read \x01", &grant), &err_oauth_scope);
	assert_ptr_equal(ask(f, " ", &grant), &err_oauth_scope);
	make_client(f, made(f, "poor", "[\"core-platform\"]"));
	assert_null(ask(f, "finance-core:read workspace:read", &grant));
	assert_true(str_is(grant.scope, "workspace:read"));
	assert_ptr_equal(ask(f, "finance-core:read", &grant), &err_oauth_scope);
	make_client(f, made(f, "rich", "[\"core-platform\",\"quant\"]"));
	assert_null(ask(f, NULL, &grant));
	assert_true(str_is(grant.scope, "workspace:read quant:models:read"));
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

/* A row is read in vain, the nearest one: its secret opens nothing by another
 * id, and a token's neighbours are no tokens. */
static void
test_neighbours_are_not_found(void **state)
{
	struct fixture *f = *state;
	struct access_token untouched = { 0 }, out = { 0 };
	struct oauth_client client;
	struct str ids[NEIGHBOURS];
	struct api_key key;
	struct reading reading;
	struct ledger *ledger;
	struct err e = { 0 };

	neighbours(f->desk.a, f->client_id, ids);
	for (size_t i = 0; i < NEIGHBOURS; i++)
		assert_ptr_equal(enter(f, ids[i], f->secret, &client, &ledger),
		    &err_oauth_client);
	assert_true(key_parse(f->desk.a, token(f), &key));
	neighbours(f->desk.a, key.public_id, ids);
	assert_int_equal(
	    service_acquire(f->desk.service, &key.place, &ledger, &e), 0);
	assert_int_equal(ledger_read_begin(ledger, &reading, &e), 0);
	for (size_t i = 0; i < NEIGHBOURS; i++) {
		assert_int_equal(
		    access_token_find(reading.db, ids[i], f->desk.a, &out, &e),
		    0);
		assert_memory_equal(&out, &untouched, sizeof out);
	}
	ledger_read_end(&reading);
	service_release(f->desk.service, ledger);
}

static void
test_wrong_clients(void **state)
{
	struct fixture *f = *state;
	const uint8_t random[48] = { 7 };
	const struct place unknown = { STR("nobody"), STR("sandbox"), 0 };
	struct str strange =
	    key_make(f->desk.a, KEY_CLIENT_SECRET, &f->desk.place, random);
	struct str nowhere =
	    key_make(f->desk.a, KEY_CLIENT_SECRET, &unknown, random);
	struct oauth_client client;
	struct ledger *ledger;

	assert_null(enter(f, f->client_id, f->secret, &client, &ledger));
	assert_true(str_is(client.place.workspace, "acme"));
	service_release(f->desk.service, ledger);
	assert_ptr_equal(enter(f, f->client_id, strange, &client, &ledger),
	    &err_oauth_client);
	assert_ptr_equal(enter(f, f->client_id, nowhere, &client, &ledger),
	    &err_oauth_client);
	assert_ptr_equal(enter(f, STR("pbyc_test_acme_00000000"), f->secret,
			     &client, &ledger),
	    &err_oauth_client);
	assert_ptr_equal(enter(f, f->client_id, token(f), &client, &ledger),
	    &err_oauth_client);
	assert_ptr_equal(
	    enter(f, STR(""), STR(""), &client, &ledger), &err_oauth_client);
}

/* At its last moment it is in force, from the next on it is not: for a new
 * request, for one that authenticated before, and in a batch. */
static void
test_time_ends_a_token(void **state)
{
	struct fixture *f = *state;
	struct str text = token(f);
	struct caller caller;
	struct instant end;

	assert_null(open_with(f, text, &caller));
	end = caller.found->expires_at;
	assert_int_equal(credential_check_time(caller.found,
			     (struct instant){ end.us - 1 }, NULL),
	    0);
	assert_int_equal(credential_check_time(caller.found, end, NULL), -1);
	ahead_us = 14 * MINUTE_US;
	assert_null(show(f, &caller));
	ahead_us = 15 * MINUTE_US + 1;
	assert_ptr_equal(show(f, &caller), &err_unauthorized);
	assert_ptr_equal(open_with(f, text, &caller), &err_unauthorized);
}

static void
test_rotation_ends_tokens(void **state)
{
	struct fixture *f = *state;
	struct str third;
	struct caller caller, before;
	struct token_grant grant;
	struct json *v;
	int64_t n;

	(void)token(f);
	(void)token(f);
	ahead_us = 10 * MINUTE_US;
	third = token(f);
	ahead_us = 16 * MINUTE_US; /* the first two have expired */
	assert_null(open_with(f, third, &before));
	v = desk_do(&f->desk, "oauth_client.rotate",
	    arena_printf(f->desk.a, "{\"uid\":\"%.*s\"}", STR_ARGS(f->uid)));
	assert_true(json_get_int(v, "tokens_revoked", &n));
	assert_int_equal(n, 1);
	assert_true(str_eq(json_get_str(v, "client_id"), f->client_id));
	assert_ptr_equal(open_with(f, third, &caller), &err_unauthorized);
	/* A request that was let in before is stopped too. */
	assert_ptr_equal(show(f, &before), &err_unauthorized);
	assert_ptr_equal(ask(f, NULL, &grant), &err_oauth_client);
	f->secret = json_get_str(v, "client_secret");
	assert_null(open_with(f, token(f), &caller));
}

static int
introspect(struct fixture *f, struct str text, struct access_token *out)
{
	struct oauth_client client;
	struct ledger *ledger;
	struct err e = { 0 };
	int found;

	assert_null(enter(f, f->client_id, f->secret, &client, &ledger));
	found = access_token_introspect(
	    f->desk.service, ledger, &client, text, f->desk.a, out, &e);
	service_release(f->desk.service, ledger);
	return found;
}

static void
test_introspection(void **state)
{
	struct fixture *f = *state;
	struct str mine = token(f);
	struct access_token t;

	assert_int_equal(introspect(f, mine, &t), 1);
	assert_int_equal(
	    t.credential.expires_at.us - t.issued_at.us, 15 * MINUTE_US);
	assert_int_equal(t.audience.n, 1);
	assert_true(
	    str_is(t.audience.items[0], "http://127.0.0.1:8080/api/v2"));
	assert_int_equal(introspect(f, STR("pbyt_test_acme"), &t), 0);
	/* A sibling of the same application may ask, another one may not. */
	make_client(f, f->application);
	assert_int_equal(introspect(f, mine, &t), 1);
	make_client(f, made(f, "other", "[]"));
	assert_int_equal(introspect(f, mine, &t), 0);
}

/* Status of a token of the list. */
static struct str
listed(struct fixture *f, int index)
{
	struct json *v =
	    json_get(desk_do(&f->desk, "access_token.list", "{}"), "data");
	const struct json *row = v->first;

	while (index-- > 0)
		row = row->next;
	return json_get_str(row, "status");
}

static void
test_list_says_what_is_in_force(void **state)
{
	struct fixture *f = *state;
	struct json *v;

	(void)token(f);
	ahead_us = MINUTE_US;
	(void)token(f);
	v = json_get(desk_do(&f->desk, "access_token.list", "{}"), "data");
	change(f, "access_token.revoke", json_get_str(v->first->next, "uid"));
	ahead_us = 2 * MINUTE_US;
	(void)token(f);
	assert_true(str_is(listed(f, 0), "active"));
	assert_true(str_is(listed(f, 1), "revoked"));
	ahead_us = 16 * MINUTE_US;
	assert_true(str_is(listed(f, 0), "expired"));
	assert_true(str_is(listed(f, 1), "revoked"));
	assert_true(str_is(listed(f, 2), "active"));
	v = desk_do(&f->desk, "access_token.list", "{\"active\":true}");
	assert_int_equal(json_get(v, "data")->n, 1);
}

static void
test_rebuild_is_the_same(void **state)
{
	struct fixture *f = *state;
	struct str text = token(f), dump;
	struct caller caller;

	change(f, "oauth_client.rotate", f->uid);
	make_client(f, f->application);
	text = token(f);
	dump = desk_dump(&f->desk);
	desk_rebuild(&f->desk);
	assert_true(str_eq(desk_dump(&f->desk), dump));
	assert_null(strstr(arena_cstr(f->desk.a, dump),
	    arena_cstr(f->desk.a, str_slice(text, text.n - 49, text.n))));
	assert_null(open_with(f, text, &caller));
}

#define WITH_CLIENT(test) \
	cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds_of_keys),
		WITH_CLIENT(test_token_opens_what_it_may),
		WITH_CLIENT(test_scopes),
		WITH_CLIENT(test_wrong_clients),
		WITH_CLIENT(test_neighbours_are_not_found),
		WITH_CLIENT(test_time_ends_a_token),
		WITH_CLIENT(test_rotation_ends_tokens),
		WITH_CLIENT(test_introspection),
		WITH_CLIENT(test_list_says_what_is_in_force),
		WITH_CLIENT(test_rebuild_is_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
