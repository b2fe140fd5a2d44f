/*
 * What a client does with tokens: has one issued, asks about one, gives one
 * up. These have no row in the catalog, because OAuth has its own forms for
 * requests, replies and errors.
 */
#include "domain/oauth/events.h"
#include "domain/oauth/group.h"
#include "domain/words.h"

struct issuing {
	struct context c;
	const struct token_request *asked;
	struct str_list audience;
	struct access_token_issued data;
};

/* Once more, in the batch: it may have been revoked, or its secret replaced. */
static int
check_client(struct issuing *job, struct oauth_client *client, struct err *e)
{
	const struct credential *then = &job->asked->client->credential;
	int found = oauth_client_find(
	    job->c.db, then->public_id, job->c.arena, client, e);

	if (found < 0)
		return -1;
	if (found == 0 || !str_is(client->credential.status, "active") ||
	    !digest_eq(client->credential.sha256, then->sha256))
		return err_set(e, &err_oauth_client,
		    "the client or its secret is no longer in force");
	return oauth_client_check(client, e);
}

static int
decide_issue(struct tx *tx, void *arg, struct err *e)
{
	struct issuing *job = arg;
	struct context *c = &job->c;
	struct oauth_client client = { 0 };
	int64_t minutes = service_config(c->service)->access_token_minutes;
	struct api_key token;

	c->tx = tx;
	c->db = tx_db(tx);
	c->now = tx_now(tx);
	if (check_client(job, &client, e) ||
	    token_scopes(c->arena, &client.credential, job->asked->scope,
		&job->data.scopes, e))
		return -1;
	token = credential_make_key(c, KEY_ACCESS_TOKEN);
	job->data.client = client.uid;
	job->data.public_id = token.public_id;
	job->data.sha256 = credential_hash_text(c->arena, token.sha256);
	job->data.audience = job->audience;
	job->data.expires_at.us = c->now.us + minutes * 60 * 1000000;
	return context_emit(c, &event_access_token_issued, "access_token",
	    tx_uid(tx), &job->data, e);
}

/* The client as events name who caused them. */
static struct actor
actor_of(struct arena *a, const struct oauth_client *client)
{
	char text[UID_TEXT + 1];

	uid_format(client->credential.application, text);
	return (struct actor){
		.kind = STR("application"),
		.id = arena_str(a, str_from(text)),
		.credential = client->credential.public_id,
	};
}

int
access_token_issue(struct service *service, struct ledger *ledger,
    const struct token_request *asked, struct arena *a, struct token_grant *out,
    struct err *e)
{
	const struct config *config = service_config(service);
	struct issuing job = {
		.c = { .service = service,
		    .arena = a,
		    .place = &asked->client->place },
		.asked = asked,
	};
	struct command command = {
		.decide = decide_issue,
		.arg = &job,
		.actor = actor_of(a, asked->client),
		.request = asked->request,
		.arena = a,
	};
	struct receipt receipt;

	if (token_audience(
		a, config->base_url, asked->resource, &job.audience, e) ||
	    ledger_submit(ledger, &command, &receipt, e))
		return -1;
	*out = (struct token_grant){
		.token = job.c.secret,
		.scope = words_join(a, job.data.scopes),
		.expires_in_s = config->access_token_minutes * 60,
		.seq = receipt.events[0].seq,
	};
	return 0;
}

/* 1 the very token, 0 none, -1. One that is no token at all is not looked up;
 * anybody could tell its checksum. */
static int
find_by_text(struct db *db, struct str text, struct arena *a,
    struct access_token *out, struct err *e)
{
	struct access_token token = { 0 };
	struct api_key key;
	int found;
	bool same;

	if (!key_parse(a, text, &key) || key.kind != KEY_ACCESS_TOKEN)
		return 0;
	found = access_token_find(db, key.public_id, a, &token, e);
	same = constant_time_eq(
	    token.credential.sha256.b, key.sha256.b, sizeof key.sha256.b);
	if (found < 1 || !same)
		return found < 0 ? -1 : 0;
	*out = token;
	return 1;
}

/* 1 in force and of the client's application, 0 any other, -1. */
static int
find_in_force(struct service *service, struct ledger *ledger,
    const struct oauth_client *client, struct str text, struct arena *a,
    struct access_token *out, struct err *e)
{
	struct reading reading;
	int found;

	if (ledger_read_begin(ledger, &reading, e))
		return -1;
	found = find_by_text(reading.db, text, a, out, e);
	ledger_read_end(&reading);
	if (found == 1 &&
	    (!uid_eq(
		 out->credential.application, client->credential.application) ||
		!access_token_is_active(out, service_now(service))))
		found = 0;
	return found;
}

int
access_token_introspect(struct service *service, struct ledger *ledger,
    const struct oauth_client *client, struct str text, struct arena *a,
    struct access_token *out, struct err *e)
{
	int found = find_in_force(service, ledger, client, text, a, out, e);

	/* One that is refused everywhere is not active. */
	return found == 1 && oauth_client_check(client, NULL) ? 0 : found;
}

struct surrender {
	struct arena *a;
	const struct oauth_client *client;
	struct str text;
};

static int
decide_surrender(struct tx *tx, void *arg, struct err *e)
{
	const struct surrender *s = arg;
	struct access_token_revoked data = { STR_NONE };
	struct access_token token;
	int found = find_by_text(tx_db(tx), s->text, s->a, &token, e);

	if (found < 1)
		return found;
	if (!uid_eq(token.client, s->client->uid) ||
	    !access_token_is_active(&token, tx_now(tx)))
		return 0;
	return tx_emit(tx, &event_access_token_revoked, "access_token",
	    token.uid, &data, NULL, 0, e);
}

int
access_token_surrender(struct service *service, struct ledger *ledger,
    const struct oauth_client *client, struct str text, struct uid request,
    struct arena *a, uint64_t *seq, struct err *e)
{
	struct surrender s = { a, client, text };
	struct command command = {
		.decide = decide_surrender,
		.arg = &s,
		.actor = actor_of(a, client),
		.request = request,
		.arena = a,
	};
	struct access_token token;
	struct receipt receipt;
	int found = find_in_force(service, ledger, client, text, a, &token, e);

	*seq = 0;
	/* A writer's turn only where there is something to end. */
	if (found < 1)
		return found;
	if (ledger_submit(ledger, &command, &receipt, e))
		return -1;
	if (receipt.n > 0)
		*seq = receipt.events[0].seq;
	return 0;
}
