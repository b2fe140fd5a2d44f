/*
 * Cross-origin requests of browsers (WHATWG Fetch). Off unless the operator
 * lists origins: pages of those alone may read replies. Credentials are never
 * allowed: a browser sends none of its own, and a script that holds a key sends
 * it itself in Authorization.
 */
#ifndef FCGI_CORS_H
#define FCGI_CORS_H

#include "fcgi/front_state.h"

/* The configuration's list, copied into the arena. */
struct str_list cors_origins_copy(struct arena *, struct str_list);

/* Beside whatever the reply is, errors too. allow: the methods of the path,
 * empty when there is no such path. */
void cors_answer(const struct front *, const struct request *,
    const char *allow, struct arena *, struct response *);

#endif
