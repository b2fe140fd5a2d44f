#include <stdlib.h>

#include "fcgi/request.h"
#include "ledger/base/instant.h"
#include "ledger/codec/json.h"

#define CHUNK_BYTES 16384
/* From the first byte to the last; a client that is slower is given up. */
#define BODY_TIME_US 60000000
/* What is read and dropped, so that a reply can still be taken. */
#define DRAIN_BYTES_MAX (16u << 20)

static int64_t
now_us(void)
{
	return clock_system.steady(&clock_system).us;
}

/* Returns false when the client is gone or takes too long. */
static bool
read_chunk(struct request *r, int64_t deadline, char *chunk, size_t *n)
{
	ssize_t got = -1;

	if (now_us() < deadline)
		got = r->transport->read(r->transport, chunk, CHUNK_BYTES);
	r->gone = got < 0;
	r->body_read = got <= 0;
	*n = got < 0 ? 0 : (size_t)got;
	return got >= 0;
}

/* Into *body, whatever its length says; err_too_large beyond max. */
static int
read_all(struct request *r, struct buf *body, size_t max, struct err *e)
{
	int64_t deadline = now_us() + BODY_TIME_US;
	char chunk[CHUNK_BYTES];
	size_t n;

	do {
		if (!read_chunk(r, deadline, chunk, &n))
			return err_set(e, &err_malformed,
			    "the body ended before its time");
		buf_add(body, (struct str){ chunk, n });
		if (buf_failed(body))
			return err_set(e, &err_too_large,
			    "a body may have %zu bytes", max);
	} while (n > 0);
	return 0;
}

static int
read_length(struct request *r, size_t max, bool *given, uint64_t *length,
    struct arena *a, struct err *e)
{
	struct str text = headers_get(&r->headers, "content-length");
	size_t digits = 0;

	*given = text.p != NULL;
	if (!*given)
		return 0;
	while (
	    digits < text.n && text.p[digits] >= '0' && text.p[digits] <= '9')
		digits++;
	if (digits != text.n || digits == 0)
		return header_fault(
		    e, a, "Content-Length", "form", "must be a whole number");
	while (text.n > 1 && text.p[0] == '0')
		text = str_slice(text, 1, text.n);
	/* What does not fit into 64 bits is too large as well. */
	if (!str_to_u64(text, length) || *length > max)
		return err_set(
		    e, &err_too_large, "a body may have %zu bytes", max);
	return 0;
}

int
request_read_body(struct request *r, size_t max, struct arena *a, struct err *e)
{
	uint64_t length = 0;
	struct buf body;
	bool given;
	int rc = -1;

	if (read_length(r, max, &given, &length, a, e))
		return -1;
	buf_init(&body, max);
	if (read_all(r, &body, max, e))
		goto out;
	if (given && buf_str(&body).n != length) {
		header_fault(e, a, "Content-Length", "mismatch",
		    "is not the length of the body");
		goto out;
	}
	r->body = arena_str(a, buf_str(&body));
	rc = 0;
out:
	buf_fini(&body);
	return rc;
}

void
request_drain(struct request *r)
{
	int64_t deadline = now_us() + BODY_TIME_US;
	char chunk[CHUNK_BYTES];
	size_t total = 0, n;

	while (!r->body_read && total < DRAIN_BYTES_MAX) {
		if (!read_chunk(r, deadline, chunk, &n))
			return;
		total += n;
	}
}

int
request_parse_body(const struct request *r, size_t max, struct arena *a,
    struct json **out, struct err *e)
{
	struct str type = headers_get(&r->headers, "content-type");
	struct json_limits limits = json_limits_default;

	if (r->body.n == 0)
		return err_set(
		    e, &err_malformed, "a JSON object is needed as the body");
	if (!type.p || !media_type_is_json(type))
		return err_set(e, &err_media_type,
		    "the body must be application/json in UTF-8");
	if (limits.max_bytes > max)
		limits.max_bytes = max;
	if (json_parse(a, r->body, &limits, out, e))
		return -1;
	if ((*out)->type != JSON_OBJECT)
		return err_set(
		    e, &err_malformed, "the body is not a JSON object");
	return 0;
}
