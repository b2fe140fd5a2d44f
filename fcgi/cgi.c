#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "fcgi/front_state.h"
#include "fcgi/server.h"
#include "ledger/base/io.h"

struct cgi {
	struct transport transport;
	uint64_t left; /* of the body */
};

/*
 * RFC 3875, 4.2: without CONTENT_LENGTH there is no body, and standard input
 * may never end. A chunked request is the exception that servers make.
 */
static uint64_t
body_length(const char *const *params)
{
	struct str length = transport_param(params, "CONTENT_LENGTH");
	uint64_t n = 0;

	if (length.n > 0)
		return str_to_u64(length, &n) ? n : 0;
	return transport_param(params, "HTTP_TRANSFER_ENCODING").n > 0
		   ? UINT64_MAX
		   : 0;
}

static ssize_t
read_stdin(struct transport *t, void *out, size_t n)
{
	struct cgi *cgi = (struct cgi *)(void *)t; /* its first member */
	ssize_t got;

	if (n > cgi->left)
		n = (size_t)cgi->left;
	do
		got = n > 0 ? read(STDIN_FILENO, out, n) : 0;
	while (got < 0 && errno == EINTR);
	if (got > 0)
		cgi->left -= (uint64_t)got;
	return got;
}

static bool
write_stdout(struct transport *t, struct str s)
{
	(void)t;
	return io_write_all(STDOUT_FILENO, s.p, s.n) == 0;
}

/* A pipe whose reader has gone says so at once. */
static bool
is_present(struct transport *t)
{
	struct pollfd p = { .fd = STDOUT_FILENO };

	(void)t;
	return poll(&p, 1, 0) == 0;
}

bool
cgi_run(struct front *front, const char *const *environment)
{
	struct cgi cgi = {
		.transport = {
			.params = environment,
			.read = read_stdin,
			.write = write_stdout,
			.present = is_present,
		},
		.left = body_length(environment),
	};
	struct front_worker worker;
	bool sent;

	service_serve_one(front->service);
	front_worker_init(&worker);
	sent = front_serve(front, &worker, &cgi.transport);
	front_worker_fini(&worker);
	return sent;
}
