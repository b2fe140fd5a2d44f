/*
 * The index in memory, for a verifier: a skip list whose towers are the rows of
 * the upper levels. Events come in the order of the ledger; the pages that they
 * changed are hashed when the root is asked for. Records mostly come near the
 * end of their kind, so a search begins where the last one of its kind ended.
 *
 * About 90 bytes a record. For one thread.
 */
#ifndef LEDGER_CHAIN_INDEX_LIST_H
#define LEDGER_CHAIN_INDEX_LIST_H

#include "ledger/chain/index.h"

struct index_list;

struct index_list *index_list_new(void);
void index_list_free(struct index_list *);

/* err_invalid for a kind that is no word. */
int index_list_add(
    struct index_list *, const struct index_event *, struct err *);

/* err_too_large when a page is longer than INDEX_PAGE_MAX. */
int index_list_root(struct index_list *, struct digest *, struct err *);

#endif
