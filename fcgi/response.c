#include "fcgi/response.h"

#include <stdarg.h>
#include <stdio.h>

#include "fcgi/headers.h"
#include "ledger/crypto/hash.h"

/*
 * A program killed between its header and its body leaves a header alone, and
 * Apache makes a whole reply of it, by a Content-Length of its own. So both are
 * one write where a pipe holds it (pipe(7): 64 KiB).
 */
enum { WRITTEN_AT_ONCE = 48 * 1024 };

static const struct {
	int status;
	const char *phrase;
} phrases[] = {
	{ 200, "OK" },
	{ 201, "Created" },
	{ 202, "Accepted" },
	{ 204, "No Content" },
	{ 304, "Not Modified" },
	{ 400, "Bad Request" },
	{ 401, "Unauthorized" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 406, "Not Acceptable" },
	{ 409, "Conflict" },
	{ 410, "Gone" },
	{ 412, "Precondition Failed" },
	{ 413, "Content Too Large" },
	{ 414, "URI Too Long" },
	{ 415, "Unsupported Media Type" },
	{ 422, "Unprocessable Content" },
	{ 428, "Precondition Required" },
	{ 429, "Too Many Requests" },
	{ 431, "Request Header Fields Too Large" },
	{ 500, "Internal Server Error" },
	{ 503, "Service Unavailable" },
	{ 507, "Insufficient Storage" },
};

/* RFC 3875, 6.3.3: the phrase may be any; it may not be missing for some
 * servers. */
static const char *
phrase_of(int status)
{
	for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++)
		if (phrases[i].status == status)
			return phrases[i].phrase;
	return status < 400 ? "Success" : "Error";
}

void
response_add(
    struct response *r, struct arena *a, const char *name, const char *fmt, ...)
{
	struct response_header *h = ARENA_NEW(a, struct response_header);
	struct response_header **end = &r->headers;
	char text[2048];
	size_t n = 0;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p >= 0x20 && *p != 0x7f)
			text[n++] = *p;
	*h = (struct response_header){ name,
		arena_str(a, (struct str){ text, n }), NULL };
	while (*end)
		end = &(*end)->next;
	*end = h;
}

static int
too_long(struct err *e)
{
	return err_set(e, &err_internal, "the reply has over %u bytes",
	    RESPONSE_BYTES_MAX);
}

int
response_set_bytes(struct response *r, int status, const char *type,
    struct str bytes, struct err *e)
{
	if (bytes.n > RESPONSE_BYTES_MAX)
		return too_long(e);
	r->status = status;
	r->type = type;
	r->body = bytes;
	return 0;
}

void
response_add_file_name(struct response *r, struct arena *a, struct str name)
{
	response_add(r, a, "Content-Disposition",
	    "attachment; filename=\"%.*s\"", STR_ARGS(name));
}

int
response_set_json(struct response *r, int status, const struct json *v,
    struct arena *a, struct err *e)
{
	struct buf body;
	int rc = 0;

	buf_init(&body, RESPONSE_BYTES_MAX);
	json_write(v, &body);
	if (buf_failed(&body)) {
		rc = too_long(e);
	} else {
		r->status = status;
		r->type = "application/json";
		r->body = arena_str(a, buf_str(&body));
	}
	buf_fini(&body);
	return rc;
}

static void
set_etag(struct response *r, struct arena *a, struct str etag,
    struct str if_none_match)
{
	response_add(r, a, "ETag", "%.*s", STR_ARGS(etag));
	if (if_none_match.p && header_etag_matches(if_none_match, etag)) {
		r->status = 304;
		r->type = NULL;
		r->body = STR_NONE;
	}
}

struct str
response_etag(struct arena *a, struct str bytes)
{
	char hex[DIGEST_HEX + 1];

	digest_hex(sha256(bytes), hex);
	return arena_strf(a, "\"%s\"", hex);
}

void
response_set_etag(struct response *r, struct arena *a, struct str if_none_match)
{
	set_etag(r, a, response_etag(a, r->body), if_none_match);
}

static const char *
cache_control(const struct response *r)
{
	if (r->cache)
		return r->cache;
	return r->public ? "public, max-age=300" : "no-store";
}

static bool
send_parts(const struct response *r, struct transport *t)
{
	struct str part;

	while (part = r->source->next(r->source), part.n > 0)
		if (!t->write(t, part))
			return false;
	return true;
}

void
response_close(struct response *r)
{
	if (r->source)
		r->source->close(r->source);
	r->source = NULL;
}

bool
response_send(
    const struct response *r, struct transport *t, bool head, struct buf *out)
{
	bool has_body = r->type && !head, is_one, sent;

	buf_reset(out);
	buf_addf(out, "Status: %d %s\r\n", r->status, phrase_of(r->status));
	if (r->type)
		buf_addf(out, "Content-Type: %s\r\n", r->type);
	if (r->type && !r->source)
		buf_addf(out, "Content-Length: %zu\r\n", r->body.n);
	buf_addf(out, "Cache-Control: %s\r\n", cache_control(r));
	buf_add_cstr(out, "X-Content-Type-Options: nosniff\r\n");
	for (const struct response_header *h = r->headers; h; h = h->next)
		buf_addf(out, "%s: %.*s\r\n", h->name, STR_ARGS(h->value));
	buf_add_cstr(out, "\r\n");
	is_one = has_body && !r->source && r->body.n <= WRITTEN_AT_ONCE;
	if (is_one)
		buf_add(out, r->body);
	if (buf_failed(out))
		return false;
	sent = t->write(t, buf_str(out));
	if (sent && has_body && r->source)
		sent = send_parts(r, t);
	else if (sent && has_body && !is_one)
		sent = t->write(t, r->body);
	buf_reset(out);
	return sent;
}
