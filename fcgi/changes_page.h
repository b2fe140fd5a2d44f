#ifndef FCGI_CHANGES_PAGE_H
#define FCGI_CHANGES_PAGE_H

#include "fcgi/front_state.h"

/* The change ledger: HTML, or JSON where Accept asks for that. */
int changes_page(struct front *, struct request *, struct arena *,
    struct response *, struct err *);

/* The same as JSON, whatever Accept says. */
int changes_json_page(struct front *, struct request *, struct arena *,
    struct response *, struct err *);

#endif
