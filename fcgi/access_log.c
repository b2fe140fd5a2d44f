/*
 * One line of JSON for each request, written in one call: lines of threads and
 * processes do not mix. Of the query only the names are told, of the body
 * nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fcgi/watch.h"
#include "ledger/base/confine.h"

#define OFF              (-1)
#define PATH_SHOWN       1024
#define NAMES_SHOWN      256
#define AGENT_SHOWN      256
#define IDENTIFIER_SHOWN 128

struct access_log {
	atomic_int fd; /* where lines go; OFF: nowhere */
	int own;       /* a file that was opened; OFF: none was yet */
};

struct access_log *
access_log_new(struct arena *a)
{
	struct access_log *log = ARENA_NEW(a, struct access_log);

	log->fd = OFF;
	log->own = OFF;
	return log;
}

static const char *
hint(int cause)
{
	return cause == EACCES && confine_holds(CONFINE_WRITES)
		   ? " (a front that runs writes only to the folders of its "
		     "start: name this one in writable, and restart)"
		   : "";
}

/* The new file takes the old one's number, so a thread that writes just now
 * meets one or the other. */
static int
open_file(struct access_log *log, const char *path, struct err *e)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);

	if (fd < 0)
		return err_errno(e, &err_unavailable,
		    "access_log: cannot open %s%s", path, hint(errno));
	if (log->own == OFF) {
		log->own = fd;
		return 0;
	}
	if (dup3(fd, log->own, O_CLOEXEC) < 0)
		err_errno(e, &err_unavailable, "access_log");
	close(fd);
	return e->kind ? -1 : 0;
}

int
access_log_open(struct access_log *log, struct str path, struct err *e)
{
	char name[PATH_SHOWN];

	if (path.n == 0) {
		log->fd = OFF;
		return 0;
	}
	if (str_is(path, "-")) {
		log->fd = STDERR_FILENO;
		return 0;
	}
	if (path.n >= sizeof name)
		return err_set(
		    e, &err_invalid, "access_log: the path is too long");
	memcpy(name, path.p, path.n);
	name[path.n] = '\0';
	if (open_file(log, name, e))
		return -1;
	log->fd = log->own;
	return 0;
}

void
access_log_close(struct access_log *log)
{
	log->fd = OFF;
	if (log->own != OFF)
		close(log->own);
	log->own = OFF;
}

static void
put_text(struct arena *a, struct json *line, const char *name, struct str s,
    size_t max)
{
	if (s.n > 0)
		json_put_str(a, line, name, log_text(a, s, max));
}

static void
put_uid(struct arena *a, struct json *line, const char *name, struct uid uid)
{
	char text[UID_TEXT + 1];

	if (uid_is_none(uid))
		return;
	uid_format(uid, text);
	json_put_str(a, line, name, arena_str(a, str_from(text)));
}

/* "limit&after_id": a value may be what nobody should read. */
static struct str
query_names(struct arena *a, struct str query)
{
	struct buf names;
	struct str all;

	buf_init(&names, NAMES_SHOWN);
	while (query.p && !buf_failed(&names)) {
		struct str pair = str_take(&query, '&');

		if (names.n > 0)
			buf_add_byte(&names, '&');
		buf_add(&names, str_slice(pair, 0, str_find(pair, '=')));
	}
	all = arena_str(a, buf_str(&names));
	buf_fini(&names);
	return all;
}

static void
put_request(struct arena *a, struct json *line, const struct access *access)
{
	const struct request *r = access->request;
	char at[INSTANT_TEXT + 1];

	instant_format(clock_system.wall(&clock_system), at);
	json_put_str(a, line, "at", arena_str(a, str_from(at)));
	put_uid(a, line, "request", r->id);
	put_text(a, line, "method", r->method, 32);
	if (access->route)
		json_put_str(a, line, "route", str_from(access->route->path));
	put_text(a, line, "path", r->path, PATH_SHOWN);
	put_text(a, line, "query", query_names(a, r->query), NAMES_SHOWN);
	json_put_int(a, line, "status", access->status);
	json_put_int(a, line, "us", access->us);
	json_put_int(a, line, "bytes_in", (int64_t)access->bytes_in);
	json_put_int(a, line, "bytes_out", (int64_t)access->bytes_out);
	if (r->gone)
		json_put(line, "gone", json_bool(a, true));
}

static void
put_caller(struct arena *a, struct json *line, const struct served *served)
{
	put_text(a, line, "workspace", served->workspace, 40);
	put_text(a, line, "environment", served->environment, 16);
	put_uid(a, line, "application", served->application);
	if (served->credential.n > 0)
		json_put_str(a, line, "credential", served->credential);
	if (served->last_seq > 0) {
		json_put_int(a, line, "first_seq", (int64_t)served->first_seq);
		json_put_int(a, line, "last_seq", (int64_t)served->last_seq);
	}
}

static void
put_client(struct arena *a, struct json *line, const struct request *r)
{
	const struct headers *h = &r->headers;

	put_text(a, line, "remote",
	    transport_param(r->transport->params, "REMOTE_ADDR"), 64);
	put_text(a, line, "traceparent", headers_get(h, "traceparent"),
	    IDENTIFIER_SHOWN);
	put_text(a, line, "theirs", headers_get(h, "x-request-id"),
	    IDENTIFIER_SHOWN);
	put_text(a, line, "agent", headers_get(h, "user-agent"), AGENT_SHOWN);
}

bool
access_log_write(struct access_log *log, const struct access *access,
    struct arena *a, struct buf *scratch)
{
	int fd = atomic_load(&log->fd);
	struct json *line;
	ssize_t written;

	if (fd == OFF)
		return true;
	line = json_object(a);
	put_request(a, line, access);
	put_caller(a, line, &access->request->served);
	put_client(a, line, access->request);
	buf_reset(scratch);
	json_write(line, scratch);
	buf_add_byte(scratch, '\n');
	if (buf_failed(scratch))
		return false;
	do
		written = write(fd, scratch->p, scratch->n);
	while (written < 0 && errno == EINTR);
	return written == (ssize_t)scratch->n;
}
