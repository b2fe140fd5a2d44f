/*
 * A bearer credential, API key or access token, to a caller. Nothing is opened
 * before the key's checksum holds. A key of a workspace that does not exist is
 * looked up in another open ledger, in vain, and its hash compared with
 * nothing, so that its 401 takes the time of any other. (The first key of a
 * workspace after its ledger was closed for another's sake waits until it is
 * open again.)
 */
#include "domain/applications.h"
#include "domain/call.h"
#include "domain/oauth.h"
#include "domain/pool.h"

static int
refuse(struct err *e)
{
	return err_set(e, &err_unauthorized, "the credential is not in force");
}

/* Scopes of the credential that its application has too. */
static void
fill_scopes(
    struct caller *caller, const struct credential *credential, struct arena *a)
{
	struct str *scopes = arena_array(
	    a, credential->scopes.n ? credential->scopes.n : 1, sizeof *scopes);

	caller->scopes = scopes;
	caller->n_scopes = 0;
	for (size_t i = 0; i < credential->scopes.n; i++)
		for (size_t k = 0; k < credential->application_scopes.n; k++)
			if (str_eq(credential->scopes.items[i],
				credential->application_scopes.items[k]))
				scopes[caller->n_scopes++] =
				    credential->scopes.items[i];
}

/* Either kind by one indexed query, whether it is there or not. */
static int
find(struct db *db, const struct api_key *key, struct arena *a,
    struct credential *out, struct err *e)
{
	struct access_token token = { 0 };
	int found;

	if (key->kind == KEY_API)
		return credential_find(db, key->public_id, a, out, e);
	found = access_token_find(db, key->public_id, a, &token, e);
	*out = token.credential;
	return found;
}

static int
look_up(struct ledger *ledger, const struct api_key *key, struct arena *a,
    struct credential *out, struct err *e)
{
	struct reading reading;
	int found;

	if (ledger_read_begin(ledger, &reading, e))
		return -1;
	found = find(reading.db, key, a, out, e);
	ledger_read_end(&reading);
	return found;
}

static void
look_up_in_vain(
    struct service *service, const struct api_key *key, struct arena *a)
{
	struct ledger *decoy = service_acquire_decoy(service);
	struct credential nobody = { 0 };
	struct err ignored = { 0 };

	if (!decoy)
		return;
	(void)look_up(decoy, key, a, &nobody, &ignored);
	(void)constant_time_eq(
	    nobody.sha256.b, key->sha256.b, sizeof key->sha256.b);
	service_release(service, decoy);
}

/* 0 in force or known to be held by an application, which call_authorize
 * judges; -1 with err_unauthorized otherwise. */
static int
identify(struct ledger *ledger, const struct api_key *key, struct instant now,
    struct arena *a, struct caller *caller, struct err *e)
{
	struct credential *credential = ARENA_NEW(a, struct credential);
	int found = look_up(ledger, key, a, credential, e);
	bool same;

	if (found < 0)
		return -1;
	same = constant_time_eq(
	    credential->sha256.b, key->sha256.b, sizeof key->sha256.b);
	if (found == 0 || !same || !str_is(credential->status, "active"))
		return refuse(e);
	if (credential_check_time(credential, now, e))
		return -1;
	*caller = (struct caller){
		.kind = CALLER_APPLICATION,
		.place = key->place,
		.application = credential->application,
		.application_name = credential->application_name,
		.credential = credential->public_id,
		.found = credential,
		.token =
		    key->kind == KEY_ACCESS_TOKEN ? key->public_id : STR_NONE,
	};
	fill_scopes(caller, credential, a);
	return 0;
}

int
call_authenticate(struct service *service, struct str bearer, struct arena *a,
    struct caller *caller, struct ledger **ledger, struct err *e)
{
	struct api_key key;
	struct err cause = { 0 };

	*ledger = NULL;
	if (!key_parse(a, bearer, &key) || key.kind == KEY_CLIENT_SECRET)
		return refuse(e);
	if (service_acquire(service, &key.place, ledger, &cause)) {
		if (cause.kind != &err_not_found)
			return err_set(e, cause.kind, "%s", cause.detail);
		look_up_in_vain(service, &key, a);
		return refuse(e);
	}
	if (identify(*ledger, &key, service_now(service), a, caller, e) == 0)
		return 0;
	service_release(service, *ledger);
	*ledger = NULL;
	return -1;
}
