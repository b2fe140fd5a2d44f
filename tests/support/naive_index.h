/*
 * The index as docs/ledger-format.md defines it, word by word and slowly: from
 * all events at once, without anything that is kept. What the program keeps is
 * held against it.
 */
#ifndef TESTS_SUPPORT_NAIVE_INDEX_H
#define TESTS_SUPPORT_NAIVE_INDEX_H

#include "ledger/chain/index.h"

struct naive_index;

/* Lives in the arena. */
struct naive_index *naive_index_new(
    struct arena *, const struct index_event *, size_t n);
struct digest naive_index_root(struct naive_index *);

/* The pages that cover the range, the topmost first. */
const struct str *naive_index_prove(
    struct naive_index *, const struct index_range *, size_t *n);

#endif
