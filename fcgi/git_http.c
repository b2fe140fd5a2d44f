/*
 * `git clone` and `git fetch` of one ledger over HTTP: two requests of git's
 * smart protocol, and nothing else of it. No pushing, no loose files, no
 * filters. Each is served by a child with an environment of its own, where no
 * configuration of the machine has a say.
 */
#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fcgi/clone.h"
#include "fcgi/ledger_pages.h"
#include "ledger/base/io.h"

#define VARIABLES_MAX    40
#define PROTOCOL_MAX     64
#define DEFAULT_PATH     "/usr/local/bin:/usr/bin:/bin"
#define REQUEST_TYPE     "application/x-git-upload-pack-request"
#define UPLOAD_PACK_NAME "git-upload-pack"

/* For the child. A ledger's objects are small and unlike, so that looking for
 * deltas costs much and gains nothing. */
static const struct {
	const char *name, *value;
} settings[] = {
	{ "uploadpack.allowFilter", "false" },
	{ "http.uploadpack", "true" },
	{ "http.receivepack", "false" },
	{ "http.getanyfile", "false" },
	{ "pack.window", "0" },
	{ "pack.threads", "1" },
};
#define N_SETTINGS (sizeof settings / sizeof settings[0])

struct variables {
	struct arena *arena;
	const char *list[VARIABLES_MAX + 1];
	size_t n;
};

__attribute__((format(printf, 3, 4))) static void
set(struct variables *v, const char *name, const char *fmt, ...)
{
	char value[PATH_MAX + 64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof value, fmt, ap);
	va_end(ap);
	assert(v->n < VARIABLES_MAX);
	v->list[v->n++] = arena_printf(v->arena, "%s=%s", name, value);
}

static void
set_config(struct variables *v, size_t i, const char *name, const char *value)
{
	set(v, arena_printf(v->arena, "GIT_CONFIG_KEY_%zu", i), "%s", name);
	set(v, arena_printf(v->arena, "GIT_CONFIG_VALUE_%zu", i), "%s", value);
}

/* Where the ledger lies, and that git may trust it whoever owns it: the state
 * may belong to several users. */
static void
set_repository(struct variables *v, const char *dir)
{
	/* Nobody sets variables while threads run. */
	const char *path = getenv("PATH"); /* NOLINT(concurrency-mt-unsafe) */

	set(v, "PATH", "%s", path && *path ? path : DEFAULT_PATH);
	set(v, "LANG", "C");
	set(v, "GIT_PROJECT_ROOT", "%s", dir);
	set(v, "GIT_HTTP_EXPORT_ALL", "1");
	set(v, "GIT_CONFIG_NOSYSTEM", "1");
	set(v, "GIT_CONFIG_GLOBAL", "/dev/null");
	set(v, "GIT_CONFIG_COUNT", "%zu", N_SETTINGS + 1);
	for (size_t i = 0; i < N_SETTINGS; i++)
		set_config(v, i, settings[i].name, settings[i].value);
	/* Not the path: http-backend starts others that know it as ".". */
	set_config(v, N_SETTINGS, "safe.directory", "*");
}

/* "version=2", and what else may stand beside it, or nothing. */
static int
set_protocol(struct variables *v, const struct request *r, struct err *e)
{
	struct str s = headers_get(&r->headers, "git-protocol");

	if (!s.p)
		return 0;
	for (size_t i = 0; i < s.n; i++)
		if (!(s.p[i] >= 'a' && s.p[i] <= 'z') &&
		    !(s.p[i] >= '0' && s.p[i] <= '9') &&
		    !strchr("=:.-", s.p[i]))
			return header_fault(e, v->arena, "Git-Protocol", "form",
			    "is no list of key=value");
	if (s.n > PROTOCOL_MAX)
		return header_fault(
		    e, v->arena, "Git-Protocol", "form", "is too long");
	set(v, "GIT_PROTOCOL", "%.*s", STR_ARGS(s));
	return 0;
}

/* git compresses what it sends; http-backend inflates it. */
static int
set_content(struct variables *v, const struct request *r, struct err *e)
{
	struct str type = headers_get(&r->headers, "content-type");
	struct str coding = headers_get(&r->headers, "content-encoding");

	if (!str_is(type, REQUEST_TYPE))
		return err_set(
		    e, &err_media_type, "the body must be " REQUEST_TYPE);
	if (coding.p && !str_is(coding, "gzip") && !str_is(coding, "x-gzip") &&
	    !str_is(coding, "identity"))
		return err_set(e, &err_media_type,
		    "the body may be compressed by gzip only");
	set(v, "CONTENT_TYPE", REQUEST_TYPE);
	if (coding.p)
		set(v, "HTTP_CONTENT_ENCODING", "%.*s", STR_ARGS(coding));
	return 0;
}

/* The body where the child can read it at its own pace. */
static int
keep_body(struct str body, int *fd, struct err *e)
{
	*fd = memfd_create("request", MFD_CLOEXEC);
	if (*fd >= 0 && io_write_all(*fd, body.p, body.n) == 0 &&
	    lseek(*fd, 0, SEEK_SET) == 0)
		return 0;
	err_errno(e, &err_unavailable, "cannot keep the request's body");
	if (*fd >= 0)
		close(*fd);
	return -1;
}

/* The caller's ledger as a directory without links. */
static int
find_ledger(struct front *front, const struct place *place, struct arena *a,
    char dir[PATH_MAX], struct err *e)
{
	struct ledger_options options;

	if (service_ledger_options(front->service, place, a, &options, e))
		return -1;
	if (!realpath(options.dir, dir))
		return err_errno(e, &err_unavailable, "%s", options.dir);
	return 0;
}

static int
run(struct front *front, const struct request *r, struct variables *v,
    int input, struct response *response, struct err *e)
{
	const struct config *config = service_config(front->service);
	struct clone_limits limits = {
		.lock_path = arena_printf(
		    v->arena, "%.*s/clones.lock", STR_ARGS(config->state)),
		.seconds = config->clone_seconds,
		.at_once = config->max_clones,
		.latest_us = &front->latest_us,
	};
	struct clone *clone;

	if (clone_start(&limits, arena_cstr(v->arena, config->git), v->list,
		input, r->transport, v->arena, &clone, e))
		return -1;
	return clone_answer(clone, v->arena, response, e);
}

/* Who asks, and the part of the environment that both requests share. */
static int
begin(struct front *front, struct request *r, struct response *response,
    struct variables *v, struct err *e)
{
	struct ledger_visit visit;
	char dir[PATH_MAX];
	int rc;

	if (ledger_visit_begin(front, r, v->arena, response, &visit, e))
		return -1;
	rc = find_ledger(front, &visit.caller.place, v->arena, dir, e);
	ledger_visit_end(front, &visit);
	if (rc)
		return -1;
	set_repository(v, dir);
	return set_protocol(v, r, e);
}

/* Without a service this would be the old protocol, of loose files. */
static int
check_service(const struct request *r, struct err *e)
{
	if (str_is(r->query, "service=git-receive-pack"))
		return err_set(e, &err_forbidden,
		    "a ledger is written by its own service alone");
	if (!str_is(r->query, "service=" UPLOAD_PACK_NAME))
		return ledger_page_unknown(e);
	return 0;
}

int
git_refs_page(struct front *front, struct request *r, struct arena *a,
    struct response *response, struct err *e)
{
	struct variables v = { .arena = a };

	if (begin(front, r, response, &v, e) || check_service(r, e))
		return -1;
	set(&v, "REQUEST_METHOD", "GET");
	set(&v, "PATH_INFO", "/ledger.git/info/refs");
	set(&v, "QUERY_STRING", "service=" UPLOAD_PACK_NAME);
	/* Behind the request's end, whatever comes means that nobody waits. */
	request_drain(r);
	return run(front, r, &v, -1, response, e);
}

int
git_upload_pack_page(struct front *front, struct request *r, struct arena *a,
    struct response *response, struct err *e)
{
	struct variables v = { .arena = a };
	int input, rc;

	if (begin(front, r, response, &v, e) || set_content(&v, r, e) ||
	    request_read_body(r, front->max_body, a, e) ||
	    keep_body(r->body, &input, e))
		return -1;
	set(&v, "REQUEST_METHOD", "POST");
	set(&v, "PATH_INFO", "/ledger.git/" UPLOAD_PACK_NAME);
	set(&v, "QUERY_STRING", "%s", "");
	set(&v, "CONTENT_LENGTH", "%zu", r->body.n);
	set(&v, "GIT_HTTP_MAX_REQUEST_BUFFER", "%zu", front->max_body);
	rc = run(front, r, &v, input, response, e);
	close(input);
	return rc;
}
