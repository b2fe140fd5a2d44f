#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/chain/signers.h"
#include "ledger/write/succession.h"
#include "ledger/write/writer.h"

static char *
join(const char *dir, const char *name)
{
	char *path = NULL;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		abort();
	return path;
}

static int
compare_types(const void *a, const void *b)
{
	const struct event_type *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static void
collect_types(struct ledger *l, const struct view *v)
{
	for (size_t i = 0; v->types != NULL && v->types[i] != NULL; i++) {
		l->types =
		    reallocarray(l->types, l->n_types + 1, sizeof *l->types);
		if (l->types == NULL)
			abort();
		l->types[l->n_types++] = v->types[i];
	}
}

static struct ledger *
ledger_new(const struct ledger_options *o)
{
	struct ledger *l = calloc(1, sizeof *l);
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_condattr_t steady;

	if (l == NULL)
		abort();
	l->dir = join(o->dir, "");
	l->dir[strlen(l->dir) - 1] = '\0';
	l->db_path = join(o->dir, "state.db");
	l->repo_path = join(o->dir, "ledger.git");
	l->views = o->views;
	l->metrics = o->metrics;
	l->brief = o->brief;
	l->clock = o->clock ? o->clock : &clock_system;
	l->free_floor = o->free_floor ? o->free_floor : LEDGER_FREE_FLOOR;
	l->arena = arena_new();
	l->anchor_fd = -1;
	l->unsure = true;
	l->helpers_max = cores > 4 ? 3 : cores > 1 ? (size_t)cores - 1 : 0;
	buf_init(&l->signers, SIGNERS_MAX);
	pthread_mutex_init(&l->lock, NULL);
	pthread_mutex_init(&l->work, NULL);
	pthread_mutex_init(&l->readers_lock, NULL);
	pthread_condattr_init(&steady);
	pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
	pthread_cond_init(&l->arrived, &steady);
	pthread_condattr_destroy(&steady);
	signing_init(&l->signing);
	collect_types(l, &core_view);
	for (size_t i = 0; o->views != NULL && o->views[i] != NULL; i++)
		collect_types(l, o->views[i]);
	qsort(l->types, l->n_types, sizeof *l->types, compare_types);
	return l;
}

int
ledger_take_turn(struct ledger *l, struct err *e)
{
	pthread_mutex_lock(&l->work);
	if (lending_end(l, e) == 0 && turn_take(l->turn, e) == 0) {
		l->at_work = true;
		return 0;
	}
	pthread_mutex_unlock(&l->work);
	return -1;
}

void
ledger_release_turn(struct ledger *l)
{
	l->at_work = false;
	turn_release(l->turn);
	pthread_mutex_unlock(&l->work);
}

static void
close_readers(struct ledger *l)
{
	while (l->readers != NULL) {
		struct reader *r = l->readers;

		l->readers = r->next;
		db_close(r->db);
		repo_close(r->repo);
		free(r);
	}
}

static void
close_files(struct ledger *l)
{
	if (l->turn != NULL)
		turn_close(l->turn);
	if (l->journal != NULL)
		journal_close(l->journal);
	if (l->repo != NULL)
		repo_close(l->repo);
	db_close(l->db);
	if (l->anchor_fd >= 0)
		close(l->anchor_fd);
}

void
ledger_close(struct ledger *l)
{
	if (l == NULL)
		return;
	close_readers(l);
	free(l->borrower);
	close_files(l);
	if (l->signer != NULL)
		signer_free(l->signer);
	signing_fini(&l->signing);
	pthread_cond_destroy(&l->arrived);
	pthread_mutex_destroy(&l->readers_lock);
	pthread_mutex_destroy(&l->work);
	pthread_mutex_destroy(&l->lock);
	arena_free(l->arena);
	buf_fini(&l->signers);
	free(l->types);
	free(l->dir);
	free(l->content_dir);
	free(l->mark_path);
	free(l->keys_dir);
	free(l->origin_text);
	free(l->db_path);
	free(l->repo_path);
	explicit_bzero(l->fingerprint, sizeof l->fingerprint);
	explicit_bzero(&l->randomness, sizeof l->randomness);
	free(l);
}

/* What cannot be looked at may be there. */
static int
no_ledger(const struct ledger *l, struct err *e)
{
	if (errno != ENOENT)
		return err_errno(
		    e, &err_unavailable, "cannot look at %s", l->repo_path);
	return err_set(e, &err_not_found, "there is no ledger at %s", l->dir);
}

static int
open_files(struct ledger *l, struct err *e)
{
	char *journal = join(l->repo_path, "journal");
	int rc = -1;

	if (access(l->repo_path, F_OK) != 0)
		no_ledger(l, e);
	else if (io_refuse_network(l->dir, e) == 0 &&
		 turn_open(l->dir, &l->turn, e) == 0 &&
		 repo_open(l->repo_path, &l->repo, e) == 0 &&
		 journal_open(journal, &l->journal, e) == 0)
		rc = anchor_open(l, e);
	free(journal);
	return rc;
}

static int
load_keys(
    struct ledger *l, const char *keys_dir, struct str origin, struct err *e)
{
	struct err why = { 0 };
	char *fingerprint;

	l->keys_dir = join(keys_dir, "");
	l->keys_dir[strlen(l->keys_dir) - 1] = '\0';
	l->mark_path = keys_path(l, "signed");
	l->content_dir = keys_path(l, "content");
	l->origin_text = strndup(origin.p, origin.n);
	if (l->origin_text == NULL)
		abort();
	l->origin = str_from(l->origin_text);
	fingerprint = keys_path(l, "fingerprint.key");
	if (secret_load(fingerprint, l->fingerprint, &why))
		err_own(e, &err_unavailable, &why);
	free(fingerprint);
	return why.kind ? -1 : 0;
}

static int
check_origin(struct str found, struct str given, bool create, struct err *e)
{
	if (create && found.p != NULL)
		return err_set(e, &err_conflict, "the ledger exists already");
	if (!create && found.p == NULL)
		return err_set(e, &err_not_found, "the ledger is empty");
	if (create && !origin_is_valid(given))
		return err_set(e, &err_invalid, "not a ledger's origin: %.*s",
		    STR_ARGS(given));
	return 0;
}

/* With the turn: what the journal holds is finished before anything is read. */
static int
settle_and_load(struct ledger *l, const struct ledger_options *o, bool create,
    struct err *e)
{
	struct arena *a = arena_new();
	struct str origin;
	int rc = -1;

	if (ledger_settle_journal(l, e) == 0 &&
	    origin_read(l->repo, a, &origin, e) == 0 &&
	    check_origin(origin, o->origin, create, e) == 0 &&
	    load_keys(l, o->keys_dir, create ? o->origin : origin, e) == 0)
		rc = create ? keys_begin(l, e) : 0;
	arena_free(a);
	return rc;
}

int
ledger_open_without_view(const struct ledger_options *o, bool create,
    struct ledger **out, struct err *e)
{
	struct ledger *l = ledger_new(o);
	int rc = moved_note(l, e);

	*out = NULL;
	if (rc == 0)
		rc = open_files(l, e);
	if (rc == 0 && (rc = ledger_take_turn(l, e)) == 0) {
		rc = moved_check(l, e);
		if (rc == 0)
			rc = settle_and_load(l, o, create, e);
		ledger_release_turn(l);
	}
	if (rc) {
		ledger_close(l);
		return -1;
	}
	*out = l;
	return 0;
}

int
ledger_open_unsettled(const struct ledger_options *o, bool create,
    struct ledger **out, struct err *e)
{
	if (ledger_open_without_view(o, create, out, e))
		return -1;
	if (db_open((*out)->db_path, DB_WRITE, &(*out)->db, e) == 0)
		return 0;
	ledger_close(*out);
	*out = NULL;
	return -1;
}

static int
settle_now(struct ledger *l, struct err *e)
{
	int rc = ledger_take_turn(l, e);

	if (rc == 0) {
		rc = ledger_ready(l, e);
		ledger_release_turn(l);
	}
	return rc;
}

int
ledger_open(const struct ledger_options *o, struct ledger **out, struct err *e)
{
	if (ledger_open_unsettled(o, false, out, e))
		return -1;
	if (settle_now(*out, e) == 0) {
		erasures_at_open(*out);
		return 0;
	}
	ledger_close(*out);
	*out = NULL;
	return -1;
}

/* A key file made unless it is there: a creation that was cut short goes on
 * with the keys it had made. */
static int
ensure_key(
    const char *dir, const char *name, struct public_key *out, struct err *e)
{
	struct private_key *key = NULL;
	char *path = join(dir, name);
	int rc = 0;

	if (access(path, F_OK) != 0) {
		key = private_key_new();
		rc = private_key_save(key, path, e);
	} else {
		rc = private_key_load(path, &key, e);
	}
	if (rc == 0)
		*out = private_key_public(key);
	if (key != NULL)
		private_key_free(key);
	free(path);
	return rc;
}

static int
ensure_keys(const char *dir, struct opened *keys, struct err *e)
{
	uint8_t secret[32];
	char *path = join(dir, "fingerprint.key");
	int rc = 0;

	if (io_make_dirs(dir, 0700, e) ||
	    ensure_key(dir, "signing.key", &keys->key, e) ||
	    ensure_key(dir, "recovery.key", &keys->recovery, e))
		rc = -1;
	if (rc == 0 && access(path, F_OK) != 0) {
		random_bytes(secret, sizeof secret);
		rc = secret_save(secret, path, e);
		explicit_bzero(secret, sizeof secret);
	}
	free(path);
	return rc;
}

static int
decide_opening(struct tx *tx, void *arg, struct err *e)
{
	const struct opened *keys = arg;
	struct ledger_opened data;

	if (ledger_opened_from(tx_arena(tx), keys, &data, e))
		return -1;
	return tx_emit(
	    tx, &event_ledger_opened, "ledger", tx_uid(tx), &data, NULL, 0, e);
}

static int
emit_opening(struct ledger *l, const struct actor *actor, struct opened *keys,
    struct err *e)
{
	struct arena *a = arena_new();
	struct command c = { .decide = decide_opening,
		.arg = keys,
		.actor = *actor,
		.arena = a };
	struct receipt r;
	int rc = ledger_submit(l, &c, &r, e);

	arena_free(a);
	return rc;
}

int
ledger_create(
    const struct ledger_options *o, const struct actor *actor, struct err *e)
{
	struct ledger *l = NULL;
	struct opened keys = { 0 };
	char *repo = join(o->dir, "ledger.git");
	int rc = -1;

	if (succession_check(o->dir, e) == 0 &&
	    io_make_dirs(o->dir, 0700, e) == 0 &&
	    ensure_keys(o->keys_dir, &keys, e) == 0 &&
	    (access(repo, F_OK) == 0 || repo_create(repo, e) == 0) &&
	    ledger_open_unsettled(o, true, &l, e) == 0) {
		if (o->continues)
			keys.continues = *o->continues;
		rc = emit_opening(l, actor, &keys, e);
	}
	ledger_close(l);
	free(repo);
	return rc;
}

struct str
ledger_origin(const struct ledger *l)
{
	return l->origin;
}

struct public_key
ledger_public_key(struct ledger *l)
{
	struct public_key key;

	pthread_mutex_lock(&l->readers_lock);
	key = signer_public(l->signer);
	pthread_mutex_unlock(&l->readers_lock);
	return key;
}

bool
ledger_key_on_token(struct ledger *l)
{
	bool on_token;

	pthread_mutex_lock(&l->readers_lock);
	on_token = signer_on_token(l->signer);
	pthread_mutex_unlock(&l->readers_lock);
	return on_token;
}

struct digest
ledger_fingerprint(const struct ledger *l, const struct str *parts, size_t n)
{
	struct str key = { (const char *)l->fingerprint,
		sizeof l->fingerprint };

	return hmac_sha256(key, parts, n);
}
