/*
 * The key history beside the position, and the signer of the key in force. Two
 * files hold private keys: signing.key, and signing-next.key while a change of
 * keys is on its way. Which of them is to be used the ledger says, so whoever
 * opens it next finishes a change that was cut short at any step.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/chain/key_event.h"
#include "ledger/write/writer.h"

#define SQL_READ                                                \
	"SELECT key, from_seq, until_seq, named_by, void_from," \
	" valid_after, valid_before FROM ledger_key ORDER BY place"
#define SQL_ADD "INSERT INTO ledger_key VALUES (?, ?, ?, ?, ?, ?, ?, ?)"

/* As long as a change may keep writers waiting. */
#define WAIT_US 2500000

char *
keys_path(const struct ledger *l, const char *name)
{
	char *path = NULL;

	if (asprintf(&path, "%s/%s", l->keys_dir, name) < 0)
		abort();
	return path;
}

static void
render(struct ledger *l)
{
	buf_reset(&l->signers);
	signers_text(&l->keys, &l->signers);
	l->allowed_signers = buf_str(&l->signers);
}

static int
open_signer(const struct ledger *l, const char *name, struct signer **out,
    struct err *e)
{
	struct private_key *key = NULL;
	char *path = keys_path(l, name);
	int rc = private_key_load(path, &key, e);

	free(path);
	if (rc == 0)
		*out = signer_new(key, l->origin);
	return rc;
}

int
keys_begin(struct ledger *l, struct err *e)
{
	return open_signer(l, "signing.key", &l->signer, e);
}

/* Before event 0 the key is the one that will be named there. */
static void
begin_with_signer(struct ledger *l)
{
	struct opened opened = { .key = signer_public(l->signer) };

	signers_open(&l->keys, l->origin, &opened);
}

static bool
read_key(const struct rows *r, int column, struct public_key *out)
{
	struct str s = rows_borrow(r, column);

	if (s.n != sizeof out->b)
		return false;
	memcpy(out->b, s.p, sizeof out->b);
	return true;
}

static bool
read_row(const struct rows *r, struct signers_key *k)
{
	*k = (struct signers_key){
		.from_seq = (uint64_t)rows_int(r, 1),
		.ended = !rows_is_null(r, 2),
		.until_seq = (uint64_t)rows_int(r, 2),
		.named_by = (uint64_t)rows_int(r, 3),
		.recovery = !rows_is_null(r, 4),
		.void_from = (uint64_t)rows_int(r, 4),
		.after = { rows_int(r, 5) },
		.before = { rows_int(r, 6) },
	};
	return read_key(r, 0, &k->key);
}

static int
read_recovery(struct db *db, struct signers *s, struct err *e)
{
	struct rows r;
	int rc = 0;

	if (db_query(db, &r, e, "SELECT key FROM ledger_recovery", ""))
		return -1;
	if (rows_next(&r, e) == 1 && !read_key(&r, 0, &s->recovery))
		rc = err_set(e, &err_view_damaged,
		    "read model: recovery key unreadable");
	return rows_end(&r, e) ? -1 : rc;
}

int
keys_read(struct db *db, struct str origin, struct signers *s, struct err *e)
{
	struct rows r;
	int rc = 0;

	*s = (struct signers){ .origin = origin };
	if (read_recovery(db, s, e) || db_query(db, &r, e, SQL_READ, ""))
		return -1;
	while (rc == 0 && rows_next(&r, e) == 1)
		if (s->n == SIGNERS_KEYS || !read_row(&r, &s->keys[s->n++]))
			rc = err_set(e, &err_view_damaged,
			    "read model: keys unreadable");
	return rows_end(&r, e) ? -1 : rc;
}

int
keys_load(struct ledger *l, struct err *e)
{
	if (keys_read(l->db, l->origin, &l->keys, e))
		return -1;
	if (l->keys.n == 0 && l->signer != NULL)
		begin_with_signer(l);
	render(l);
	return 0;
}

static int
save_key(
    struct ledger *l, int64_t place, const struct signers_key *k, struct err *e)
{
	struct str key = { (const char *)k->key.b, sizeof k->key.b };
	struct opt_int until = { k->ended, (int64_t)k->until_seq };
	struct opt_int from = { k->recovery, (int64_t)k->void_from };

	return db_run(l->db, e, SQL_ADD, "ibioioii", place, key,
	    (int64_t)k->from_seq, until, (int64_t)k->named_by, from,
	    k->after.us, k->before.us);
}

int
keys_save(struct ledger *l, struct err *e)
{
	if (db_run(l->db, e, "DELETE FROM ledger_key", ""))
		return -1;
	for (size_t i = 0; i < l->keys.n; i++)
		if (save_key(l, (int64_t)i, &l->keys.keys[i], e))
			return -1;
	return 0;
}

/* The time of the commit after which there were `size` events. */
static int
time_of_size(
    struct ledger *l, uint64_t size, struct instant *out, struct err *e)
{
	struct arena *a;
	struct commit c;
	struct rows r;
	struct oid oid;
	bool found;
	int rc;

	if (db_query(l->db, &r, e,
		"SELECT commit_oid FROM ledger_batch"
		" WHERE first_seq + count = ? AND first_seq < ?",
		"ii", (int64_t)size, (int64_t)size))
		return -1;
	found = rows_next(&r, e) == 1 && rows_borrow(&r, 0).n == OID_BYTES;
	if (found)
		memcpy(oid.b, rows_borrow(&r, 0).p, OID_BYTES);
	if (rows_end(&r, e))
		return -1;
	if (!found)
		return err_set(e, &err_corrupt,
		    "no batch ends at the last good size of a revocation");
	a = arena_new();
	rc = commit_read(l->repo, oid, a, &c, e);
	if (rc == 0)
		out->us = c.time * 1000000;
	arena_free(a);
	return rc;
}

static int
follow_opened(struct ledger *l, const struct event *ev, struct err *e)
{
	struct opened opened;

	if (ev->seq != 0)
		return err_set(e, &err_corrupt,
		    "event %llu opens the ledger a second time",
		    (unsigned long long)ev->seq);
	if (opened_decode(ev->data, &opened, e))
		return -1;
	signers_open(&l->keys, l->origin, &opened);
	return 0;
}

static int
follow_revoked(struct ledger *l, const struct event *ev, struct err *e)
{
	struct instant last_good = { 0 };
	struct revoked r;

	if (revoked_decode(ev->data, l->origin, &r, e) ||
	    time_of_size(l, r.size, &last_good, e))
		return -1;
	return signers_revoke(&l->keys, &r, ev->seq, ev->at, last_good, e);
}

static int
follow_rotated(struct ledger *l, const struct event *ev, struct err *e)
{
	struct rotated r;

	if (rotated_decode(ev->data, l->origin, &r, e))
		return -1;
	return signers_rotate(&l->keys, r.key, ev->seq, ev->at, e);
}

int
keys_follow(struct ledger *l, const struct event *ev, struct err *e)
{
	int rc;

	if (str_is(ev->type, TYPE_OPENED))
		rc = follow_opened(l, ev, e);
	else if (str_is(ev->type, TYPE_KEY_ROTATED))
		rc = follow_rotated(l, ev, e);
	else if (str_is(ev->type, TYPE_KEY_REVOKED))
		rc = follow_revoked(l, ev, e);
	else
		return 0;
	if (rc)
		return -1;
	render(l);
	return keys_save(l, e);
}

struct public_key
keys_of_batch(const struct ledger *l, struct str last_type)
{
	return str_is(last_type, TYPE_KEY_REVOKED)
		   ? l->keys.recovery
		   : signers_in_force(&l->keys)->key;
}

static bool
is_in_force(const struct ledger *l, const struct signer *s)
{
	return s &&
	       public_key_eq(signer_public(s), signers_in_force(&l->keys)->key);
}

static void
put_signer(struct ledger *l, struct signer *s)
{
	struct signer *old = l->signer;

	pthread_mutex_lock(&l->readers_lock);
	l->signer = s;
	pthread_mutex_unlock(&l->readers_lock);
	signer_free(old);
}

/* The bytes of the file that has no name any more. */
static void
wipe(int fd)
{
	static const char nothing[4096];
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_size <= (off_t)sizeof nothing &&
	    io_pwrite_all(fd, nothing, (size_t)st.st_size, 0) == 0)
		fsync(fd);
	close(fd);
}

/* The next key takes the place of the one that is in force no more, which is
 * destroyed. */
static int
take_next(struct ledger *l, struct signer **out, struct err *e)
{
	char *path = keys_path(l, "signing.key");
	char *next = keys_path(l, "signing-next.key");
	int old = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC), rc = -1;

	if (open_signer(l, "signing-next.key", out, e) == 0 &&
	    is_in_force(l, *out)) {
		if (rename(next, path))
			err_errno(e, &err_unavailable, "cannot make %s", path);
		else
			rc = io_fsync_parent(path, e);
	}
	if (rc == 0)
		wipe(old);
	else if (old >= 0)
		close(old);
	free(path);
	free(next);
	return rc;
}

/* Whatever is wrong with the file is the operator's matter: who asks for the
 * ledger is told neither that there is none nor that the request was bad. */
static int
no_key(const struct ledger *l, const struct err *why, struct err *e)
{
	bool told = why->kind && why->kind != &err_not_found;
	char line[PUBLIC_KEY_SSH + 1];

	public_key_ssh(signers_in_force(&l->keys)->key, line);
	return err_set(e, &err_unavailable,
	    "%s holds no private key of the ledger's key in force, %s: put it "
	    "there as signing.key%s%.200s",
	    l->keys_dir, line, told ? ": " : "", told ? why->detail : "");
}

int
keys_settle(struct ledger *l, struct err *e)
{
	struct signer *found = NULL;
	struct err why = { 0 };

	if (l->keys.n == 0 || is_in_force(l, l->signer))
		return 0;
	if (open_signer(l, "signing.key", &found, &why) == 0 &&
	    is_in_force(l, found)) {
		put_signer(l, found);
		return 0;
	}
	signer_free(found);
	found = NULL;
	if (take_next(l, &found, why.kind ? NULL : &why) == 0) {
		put_signer(l, found);
		return 0;
	}
	signer_free(found);
	return no_key(l, &why, e);
}

struct instant
keys_floor(const struct ledger *l)
{
	return l->keys.n > 0 ? signers_in_force(&l->keys)->after
			     : (struct instant){ 0 };
}

/* The clock is waited for, not set: a commit's time stays true. If it does not
 * come there, the batch is dated as if it had. */
void
keys_wait(const struct ledger *l)
{
	int64_t start = clock_system.steady(&clock_system).us;
	struct timespec pause = { .tv_nsec = 20000000 };

	while (l->clock->wall(l->clock).us < keys_floor(l).us &&
	       clock_system.steady(&clock_system).us - start < WAIT_US)
		nanosleep(&pause, NULL);
}
