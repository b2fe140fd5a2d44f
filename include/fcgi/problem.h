/*
 * Errors as the web sees them: problem replies (RFC 9457), and the pages that
 * their types lead to, both made from the tables of error kinds.
 */
#ifndef FCGI_PROBLEM_H
#define FCGI_PROBLEM_H

#include "fcgi/response.h"
#include "ledger/base/err.h"
#include "ledger/base/uid.h"

/* Makes the reply. What the service itself suffers from is told to the log
 * alone. */
void problem_reply(const struct err *, struct str base_url, struct uid request,
    struct arena *, struct response *);

/* The body of that reply. */
struct json *problem_json(const struct err *, struct str base_url,
    struct uid request, struct arena *);

/* Every kind that a reply may name: the common ones, the front's, the groups'.
 * Sorted by slug. */
const struct err_kind **problem_kinds(struct arena *, size_t *n);

/* NULL: no such kind. */
const struct err_kind *problem_kind_find(struct arena *, struct str slug);

/* The page of one kind, as text. */
struct str problem_page(struct arena *, const struct err_kind *);

/* docs/errors.md. */
void problem_reference(struct arena *, struct buf *);

#endif
