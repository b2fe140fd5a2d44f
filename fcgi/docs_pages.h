/*
 * Pages for people: the reference of the API, and what stands behind the type
 * of each problem. In the pages' table; they need no credential.
 */
#ifndef FCGI_DOCS_PAGES_H
#define FCGI_DOCS_PAGES_H

#include "fcgi/front_state.h"

/* The OpenAPI document, made at first use, in the front's own arena. */
int front_document(struct front *, const struct json **, struct err *);

int docs_index_page(struct front *, struct request *, struct arena *,
    struct response *, struct err *);
int docs_product_page(struct front *, struct request *, struct arena *,
    struct response *, struct err *);
int docs_style_page(struct front *, struct request *, struct arena *,
    struct response *, struct err *);

/* As HTML where the Accept field asks for it, else as text. */
int problem_index_page(struct front *, struct request *, struct arena *,
    struct response *, struct err *);
int problem_kind_page(struct front *, struct request *, struct arena *,
    struct response *, struct err *);

#endif
