/*
 * What a client takes and what it sends: Accept (RFC 9110, 12.5.1) against the
 * media types of a row, and the codings of a body, of which there are none.
 */
#ifndef FCGI_NEGOTIATION_H
#define FCGI_NEGOTIATION_H

#include "domain/operation.h"
#include "fcgi/request.h"
#include "fcgi/response.h"

extern const struct err_kind err_not_acceptable;

/* Whether Accept leaves one of the row's media types; one of a kind, such as
 * application/x+json, counts as application/json too. err_not_acceptable. */
int negotiation_check_reply(
    const struct headers *, const struct operation *, struct err *);

/* Whether a page that has both forms answers the first: Accept gives it more
 * weight, or the second none. */
bool negotiation_prefers(
    struct str accept, const char *first, const char *second);

/* err_media_type for a body with a Content-Encoding other than identity. */
int negotiation_check_body(const struct request *, struct err *);

/* Beside a 415: what would be taken (RFC 9110, 15.5.16). */
void negotiation_offer(struct response *, struct arena *);

#endif
