/*
 * A reply: status, header fields, body; written as a CGI response
 * (RFC 3875, 6).
 */
#ifndef FCGI_RESPONSE_H
#define FCGI_RESPONSE_H

#include "fcgi/transport.h"
#include "ledger/base/arena.h"
#include "ledger/base/buf.h"
#include "ledger/codec/json.h"

#define RESPONSE_BYTES_MAX (32u << 20)

struct response_header {
	const char *name;
	struct str value;
	struct response_header *next;
};

/* A body that is made while it is sent. */
struct response_source {
	/* The next bytes, borrowed until the next call; none at the end, and
	 * when there is no use in going on. */
	struct str (*next)(struct response_source *);
	void (*close)(struct response_source *);
};

struct response {
	int status;
	const char *type; /* of the body; NULL: no body */
	struct str body;
	struct response_source *source; /* in place of a body; or NULL */
	bool public;                    /* caches may keep it */
	const char *cache; /* Cache-Control in other words; or NULL */
	struct response_header *headers;
};

/* Bytes that have no place in a header field are dropped. */
__attribute__((format(printf, 4, 5))) void response_add(
    struct response *, struct arena *, const char *name, const char *fmt, ...);

/* A body of JSON. err_internal beyond RESPONSE_BYTES_MAX. */
int response_set_json(struct response *, int status, const struct json *,
    struct arena *, struct err *);

/* A body of bytes, which live on. err_internal beyond RESPONSE_BYTES_MAX. */
int response_set_bytes(struct response *, int status, const char *type,
    struct str bytes, struct err *);

/* The body is to be kept as a file of that name. */
void response_add_file_name(struct response *, struct arena *, struct str name);

/* ETag of the body, and 304 when If-None-Match has it. */
void response_set_etag(
    struct response *, struct arena *, struct str if_none_match);

/* The strong entity tag of a body: the hash of its bytes, quoted. */
struct str response_etag(struct arena *, struct str bytes);

/* False when there was nobody to take it. scratch is used and left empty. */
bool response_send(const struct response *, struct transport *, bool head,
    struct buf *scratch);

/* Closes the source, sent or not. */
void response_close(struct response *);

#endif
