#ifndef DOMAIN_OPENAPI_H
#define DOMAIN_OPENAPI_H

#include "domain/operation.h"

/* What the rows' entries refer to: problem, evidence, headers, security. */
struct json *openapi_components(struct arena *, struct str base_url);

/* The ways to authenticate: an API key, or a token for a client's secret. */
struct json *openapi_security_schemes(struct arena *, struct str base_url);

/* What the row asks of either of them. */
struct json *openapi_security(struct arena *, const struct operation *);

/* What a row needs and does, in sentences. */
struct str openapi_description(struct arena *, const struct operation *);

/* Whom to ask. */
struct json *openapi_contact(struct arena *, struct str base_url);

/* {"$ref": to} */
struct json *openapi_reference(struct arena *, const char *to);

/* The header fields of a refusal. */
struct json *openapi_problem_headers(struct arena *);

/* "description" of every refusal. */
extern const char openapi_problem_words[];

/* The header fields of a success of the row with this status, or of 304. */
struct json *openapi_headers(
    struct arena *, const struct operation *, int status);

/* Adds "examples" to a media type, or "example" to a parameter, where the row
 * has some: of a request's body, of replies of this status, of the value in
 * this place. */
void openapi_put_requests(
    struct arena *, const struct operation *, struct json *media);
void openapi_put_replies(
    struct arena *, const struct operation *, int status, struct json *media);
void openapi_put_value(struct arena *, const struct operation *,
    const struct field *, struct json *parameter);

/* Whether openapi_put_replies has any. */
bool openapi_has_reply(struct arena *, const struct operation *, int status);

#endif
