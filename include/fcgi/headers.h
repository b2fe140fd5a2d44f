/*
 * Header fields, rebuilt from CGI parameters. Web servers differ: a repeated
 * field comes as repeated parameters (nginx) or joined by ", " (lighttpd,
 * Apache), and lighttpd makes one name of Content-Digest and Content_Digest.
 * So repeats are looked for here: fields that carry authority or integrity
 * may come once only, others are joined by ", ".
 *
 * Names are lower case. Values are trimmed and live in the arena or in the
 * parameters.
 */
#ifndef FCGI_HEADERS_H
#define FCGI_HEADERS_H

#include "ledger/base/arena.h"
#include "ledger/base/err.h"

#define HEADERS_MAX       128
#define HEADER_BYTES_MAX  8192
#define HEADERS_BYTES_MAX 32768

struct header {
	struct str name, value;
};

struct headers {
	struct header *items;
	size_t n;
};

/* err_malformed for a repeat that is not permitted and for control
 * characters, err_headers_too_large. */
int headers_read(const char *const *params, struct arena *, struct headers *out,
    struct err *);

/* No value: the field was not sent. */
struct str headers_get(const struct headers *, const char *name);

/* Without the blanks and tabs at its ends. */
struct str header_trim(struct str);

/* err_malformed with the field's name. Returns -1. */
int header_fault(struct err *, struct arena *, const char *name,
    const char *code, const char *detail);

/* Whether Authorization has the scheme "Bearer", whatever follows it. */
bool header_has_bearer(const struct headers *);

/*
 * What follows "Bearer " (RFC 6750): err_unauthorized when there is no
 * Authorization, when its scheme is another one, and when it is not one token.
 */
int header_bearer(const struct headers *, struct str *token, struct err *);

/*
 * As header_bearer, or the password of "Basic" (RFC 7617), with any user name:
 * for programs that know no other scheme, such as git.
 */
int header_password(
    const struct headers *, struct arena *, struct str *token, struct err *);

/*
 * Idempotency-Key, without the quotes if it came with them: 1 to 255
 * printable ASCII characters; a bare one holds no comma or quote, because two
 * joined fields would look like that. No value when it was not sent.
 */
int header_idempotency_key(
    const struct headers *, struct arena *, struct str *key, struct err *);

/* application/json, with UTF-8 as the only charset. */
bool media_type_is_json(struct str content_type);

/* application/x-www-form-urlencoded, likewise. */
bool media_type_is_form(struct str content_type);

/* If-None-Match (RFC 9110, 13.1.2) holds this entity tag, or "*". */
bool header_etag_matches(struct str if_none_match, struct str etag);

#endif
