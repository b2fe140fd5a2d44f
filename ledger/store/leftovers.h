/*
 * Something is made under a name beside its own, "<path>.new-<16 hex>", and
 * given its own when it is whole. A process that is killed in between leaves
 * it behind.
 */
#ifndef LEDGER_STORE_LEFTOVERS_H
#define LEDGER_STORE_LEFTOVERS_H

/* Removes those of the path that nobody has touched for an hour; making one
 * takes seconds. */
void leftovers_remove(const char *path);

#endif
