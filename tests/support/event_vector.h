/*
 * tests/vectors/events/<type>.json holds one example of the type's data, as it
 * was when the type landed. Every later program must read it whole: decoded by
 * the type's shape and encoded again, its canonical bytes are the file's.
 */
#ifndef TESTS_SUPPORT_EVENT_VECTOR_H
#define TESTS_SUPPORT_EVENT_VECTOR_H

#include "ledger/view/project.h"

/* Ends the test with a failure when it does not hold. */
void event_vector_check(const struct event_type *);

/* The example, decoded; data is a struct of the type's shape. */
struct str event_vector_read(
    const struct event_type *, struct arena *, void *data);

#endif
