#include "fcgi/clone.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "fcgi/ledger_pages.h"
#include "ledger/base/child.h"
#include "ledger/base/instant.h"
#include "ledger/base/log.h"
#include "ledger/base/private.h"

#define CHUNK_BYTES 65536
#define HEAD_MAX    8192
/* How often a silent child's client is looked after. */
#define SILENCE_MS         1000
#define BUSY_RETRY_AFTER_S 10

const struct err_kind err_clone_unavailable = { "clone-unavailable",
	"The ledger cannot be cloned here", 503, false,
	"An operator installs git, or names it by the setting git." };
const struct err_kind err_clone_busy = { "clone-busy",
	"As many clones as may be are under way", 503, true,
	"Try again after the time in Retry-After." };

struct clone {
	struct response_source source;
	struct transport *transport;
	struct child child;
	int slot; /* holds the lock until it is closed */
	int64_t end_us;
	const atomic_llong *latest_us;
	size_t from, to; /* of the chunk: read, and not sent yet */
	char chunk[CHUNK_BYTES];
};

static struct clone *
clone_of(struct response_source *source)
{
	return (struct clone *)(void *)source; /* its first member */
}

static int64_t
now_us(void)
{
	return clock_system.steady(&clock_system).us;
}

/*
 * One byte of the file for each clone. The locks belong to the open file, so
 * they count threads and processes alike, and go with whoever dies.
 */
static int
take_slot(const struct clone_limits *limits, int *slot, struct err *e)
{
	int fd = private_open(
	    AT_FDCWD, limits->lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_errno(
		    e, &err_unavailable, "cannot open %s", limits->lock_path);
	for (int64_t i = 0; i < limits->at_once; i++) {
		struct flock lock = {
			.l_type = F_WRLCK, .l_start = i, .l_len = 1
		};

		if (fcntl(fd, F_OFD_SETLK, &lock) == 0) {
			*slot = fd;
			return 0;
		}
	}
	close(fd);
	err_set(e, &err_clone_busy, "%lld clones are under way",
	    (long long)limits->at_once);
	if (e)
		e->retry_after_s = BUSY_RETRY_AFTER_S;
	return -1;
}

static void
end(struct response_source *source)
{
	struct clone *c = clone_of(source);

	child_end(&c->child);
	close(c->slot);
}

static struct str next(struct response_source *);

int
clone_start(const struct clone_limits *limits, const char *git,
    const char *const *environment, int input, struct transport *transport,
    struct arena *a, struct clone **out, struct err *e)
{
	const char *const argv[] = { git, "http-backend", NULL };
	struct clone *c = ARENA_NEW(a, struct clone);
	struct err cause = { 0 };

	c->source = (struct response_source){ next, end };
	c->transport = transport;
	c->latest_us = limits->latest_us;
	c->end_us = now_us() + limits->seconds * 1000000;
	if (take_slot(limits, &c->slot, e))
		return -1;
	if (child_start(argv, environment, input, false, &c->child, &cause)) {
		close(c->slot);
		log_line(LOG_ERROR, "clone", "%s", cause.detail);
		return cause.kind == &err_not_found
			   ? err_set(e, &err_clone_unavailable,
				 "git is not installed on this machine")
			   : err_set(e, cause.kind, "%s", cause.detail);
	}
	*out = c;
	return 0;
}

static int64_t
left_ms(const struct clone *c)
{
	int64_t latest_us = atomic_load(c->latest_us), end_us = c->end_us;

	if (latest_us > 0 && latest_us < end_us)
		end_us = latest_us;
	return (end_us - now_us()) / 1000;
}

/* Until the child has written or ended; false when time is up or nobody is
 * there to take it. */
static bool
await(struct clone *c)
{
	struct pollfd p = { .fd = c->child.out, .events = POLLIN };

	for (;;) {
		int64_t left = left_ms(c);
		int ready;

		if (left <= 0) {
			log_line(LOG_WARN, "clone",
			    "a clone was ended because its time was up");
			return false;
		}
		ready = poll(&p, 1, left < SILENCE_MS ? (int)left : SILENCE_MS);
		if (ready > 0)
			return true;
		if (ready == 0 && c->transport->present &&
		    !c->transport->present(c->transport))
			return false;
	}
}

/* More bytes behind those that are there; false: there are none. */
static bool
fill(struct clone *c)
{
	ssize_t n;

	if (!await(c))
		return false;
	do
		n = read(c->child.out, c->chunk + c->to, CHUNK_BYTES - c->to);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		c->to += (size_t)n;
	return n > 0;
}

static struct str
next(struct response_source *source)
{
	struct clone *c = clone_of(source);
	struct str part;

	if (c->from == c->to) {
		c->from = c->to = 0;
		if (!fill(c))
			return STR_NONE;
	}
	part = (struct str){ c->chunk + c->from, c->to - c->from };
	c->from = c->to;
	return part;
}

/* The header fields, without the empty line that ends them. */
static bool
read_head(struct clone *c, struct str *head)
{
	for (;;) {
		struct str s = { c->chunk, c->to };

		for (size_t i = 0; i + 4 <= s.n && i <= HEAD_MAX; i++)
			if (str_eq(str_slice(s, i, i + 4), STR("\r\n\r\n"))) {
				*head = str_slice(s, 0, i);
				c->from = i + 4;
				return true;
			}
		if (s.n > HEAD_MAX || !fill(c))
			return false;
	}
}

static struct str
field(struct str head, struct str name)
{
	while (head.p) {
		struct str line = str_take(&head, '\n');

		if (str_has_prefix(line, name)) {
			line = str_slice(line, name.n, line.n);
			if (str_has_suffix(line, STR("\r")))
				line.n--;
			return line;
		}
	}
	return STR_NONE;
}

/* Everything that is wrong with a request was refused before. */
int
clone_answer(
    struct clone *c, struct arena *a, struct response *response, struct err *e)
{
	struct str head, type;

	response->source = &c->source;
	if (!read_head(c, &head)) {
		response_close(response);
		return err_set(e, &err_clone_unavailable,
		    "git did not answer; the operator finds why in the log");
	}
	type = field(head, STR("Content-Type: "));
	if (field(head, STR("Status: ")).p ||
	    !str_has_prefix(type, STR("application/x-git-upload-pack-"))) {
		response_close(response);
		return err_set(e, &err_unavailable, "git refused: %.*s",
		    STR_ARGS(field(head, STR("Status: "))));
	}
	response->status = 200;
	response->type = arena_cstr(a, type);
	response->cache = "no-cache, max-age=0, must-revalidate";
	return 0;
}
