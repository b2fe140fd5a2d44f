/*
 * The reference of the API as pages, made from the OpenAPI document.
 */
#ifndef FCGI_REFERENCE_H
#define FCGI_REFERENCE_H

#include "fcgi/html.h"

/* What every page is about, and every product with its operations. */
void reference_index(const struct html *, const struct json *document);

/* The operations of one product; false when there is no such product. slug as
 * reference_slug has it. */
bool reference_product(
    const struct html *, const struct json *document, struct str slug);

/* "Agents & MCP" is "agents-mcp". */
struct str reference_slug(struct arena *, struct str product);

/* Below, what its own files share. */

/* One operation with all that belongs to it, under a second-level heading. */
void reference_operation(const struct html *, const struct json *document,
    struct str path, const struct json *operation);

/* The members of an object's schema, nested ones too, as a list. */
void reference_fields(const struct html *, const struct json *schema);

/* A schema's type and bounds, in a line. */
void reference_type(const struct html *, const struct json *schema);

/* The command that sends it, and the replies that examples show. */
void reference_examples(const struct html *, const struct json *document,
    struct str path, const struct json *operation);

/* Where an access token comes from, and the command that asks for one. */
void reference_token(const struct html *, const struct json *document);

/* Where a reference leads to; v itself when it is none. */
const struct json *reference_resolve(
    const struct json *document, const struct json *v, struct arena *);

#endif
