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

#endif
