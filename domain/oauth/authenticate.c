/*
 * A client by its id and secret, as call_authenticate does it for keys: nothing
 * is opened before the secret's checksum holds, and a client that does not
 * exist is looked up like one that does, in another ledger if need be, and its
 * secret compared with nothing.
 */
#include "domain/oauth/group.h"
#include "domain/pool.h"

static int
refuse(struct err *e)
{
	return err_set(e, &err_oauth_client,
	    "the client id or its secret is not in force");
}

static int
look_up(struct ledger *ledger, struct str client_id, struct arena *a,
    struct oauth_client *out, struct err *e)
{
	struct reading reading;
	int found;

	if (ledger_read_begin(ledger, &reading, e))
		return -1;
	found = oauth_client_find(reading.db, client_id, a, out, e);
	ledger_read_end(&reading);
	return found;
}

static bool
has_secret(const struct oauth_client *client, const struct api_key *secret)
{
	return constant_time_eq(client->credential.sha256.b, secret->sha256.b,
	    sizeof secret->sha256.b);
}

static void
look_up_in_vain(struct service *service, struct str client_id,
    const struct api_key *secret, struct arena *a)
{
	struct ledger *decoy = service_acquire_decoy(service);
	struct oauth_client nobody = { 0 };
	struct err ignored = { 0 };

	if (!decoy)
		return;
	(void)look_up(decoy, client_id, a, &nobody, &ignored);
	(void)has_secret(&nobody, secret);
	service_release(service, decoy);
}

int
oauth_client_check(const struct oauth_client *client, struct err *e)
{
	const struct credential *credential = &client->credential;

	if (!str_is(credential->application_status, "active"))
		return err_set(e, &err_oauth_unauthorized,
		    "the client's application is %.*s",
		    STR_ARGS(credential->application_status));
	if (credential->production_closed)
		return err_set(
		    e, &err_oauth_unauthorized, "production is closed");
	return 0;
}

static int
identify(struct ledger *ledger, struct str client_id,
    const struct api_key *secret, struct arena *a, struct oauth_client *out,
    struct err *e)
{
	int found = look_up(ledger, client_id, a, out, e);
	bool same;

	if (found < 0)
		return -1;
	same = has_secret(out, secret);
	if (found == 0 || !same || !str_is(out->credential.status, "active"))
		return refuse(e);
	return 0;
}

int
oauth_client_authenticate(struct service *service, struct str client_id,
    struct str secret, struct arena *a, struct oauth_client *out,
    struct ledger **ledger, struct err *e)
{
	struct api_key key;
	struct err cause = { 0 };

	*out = (struct oauth_client){ 0 };
	*ledger = NULL;
	if (client_id.n > API_KEY_ID_MAX || !key_parse(a, secret, &key) ||
	    key.kind != KEY_CLIENT_SECRET)
		return refuse(e);
	if (service_acquire(service, &key.place, ledger, &cause)) {
		if (cause.kind != &err_not_found)
			return err_set(e, cause.kind, "%s", cause.detail);
		look_up_in_vain(service, client_id, &key, a);
		return refuse(e);
	}
	if (identify(*ledger, client_id, &key, a, out, e) == 0) {
		out->place = key.place;
		return 0;
	}
	service_release(service, *ledger);
	*ledger = NULL;
	return -1;
}
