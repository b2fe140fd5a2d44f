/*
 * A DNS server for tests, on a port of 127.0.0.1 of its own, in a thread. It
 * gives every name the same answer, which the test may change; so a name can
 * mean something public at first and something else later.
 *
 * An answer is a list of records: "192.0.2.1", "2001:db8::1", "CNAME name"; or
 * one of "SERVFAIL", "NXDOMAIN", "SILENT".
 */
#ifndef TESTS_SUPPORT_RESOLVER_H
#define TESTS_SUPPORT_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>

#define RESOLVER_RECORDS 64

struct resolver;

struct resolver *resolver_start(void);
void resolver_stop(struct resolver *);

/* "127.0.0.1:<port>", as outbound_resolver has it. */
const char *resolver_address(const struct resolver *);

/* From now on; copied. */
void resolver_answer(struct resolver *, const char *const *records, size_t n);

/* Queries that came so far. */
size_t resolver_queries(struct resolver *);

#endif
