/*
 * Pages below /ledger/<workspace>/<environment>/, and of the n-th closed ledger
 * below closed/<n>/ there: for auditors' own tools, which know HTTP Basic and
 * nothing of our operations.
 */
#ifndef FCGI_LEDGER_PAGES_H
#define FCGI_LEDGER_PAGES_H

#include "fcgi/front_state.h"

struct ledger_visit {
	struct caller caller;
	struct ledger *ledger;
};

/*
 * Who asks, and whether they may: the API key as a Basic password or a Bearer
 * token, with the scope trust:read. err_unauthorized with the challenge that
 * makes git ask; err_not_found, as for any unknown path, when the key is of
 * another ledger than the path, whether that one exists or not; err_forbidden.
 * Every success is paired with ledger_visit_end.
 */
int ledger_visit_begin(struct front *, struct request *, struct arena *,
    struct response *, struct ledger_visit *, struct err *);
void ledger_visit_end(struct front *, struct ledger_visit *);

/* As the router has it for a path that is nowhere. Returns -1. */
int ledger_page_unknown(struct err *);

/* C2SP tlog-tiles. */
int checkpoint_page(struct front *, struct request *, struct arena *,
    struct response *, struct err *);
int tile_page(struct front *, struct request *, struct arena *,
    struct response *, struct err *);

/* git's smart HTTP, for reading. */
int git_refs_page(struct front *, struct request *, struct arena *,
    struct response *, struct err *);
int git_upload_pack_page(struct front *, struct request *, struct arena *,
    struct response *, struct err *);

extern const struct err_kind err_clone_unavailable, err_clone_busy;

#endif
