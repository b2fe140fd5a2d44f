/*
 * Examples of an operation: a file of JSON in its group's folder, embedded and
 * named by the row. The document shows them as they stand; the acceptance tests
 * send each request to a real service and hold the reply against it.
 *
 *	{"examples": [{
 *		"name": "created", "summary": "…", "status": 201,
 *		"request": {"path": {}, "query": {}, "headers": {}, "body": {}},
 *		"given": {"/body/source_uid": "source_uid"},
 *		"reply": {…}, "varies": ["/remaining"]}]}
 *
 * given: members of the request in whose place the tests put values of their
 * own workspace, by name. varies: members of the reply that are held by their
 * type alone. docs/contributing.md has the rest.
 */
#ifndef DOMAIN_EXAMPLES_H
#define DOMAIN_EXAMPLES_H

#include "domain/operation.h"

struct example_request {
	const struct json *path, *query, *headers, *body; /* or NULL */
};

struct example {
	struct str name; /* the same in no other example of the row */
	struct str summary;
	struct str credential; /* "full", or another one of the tests */
	int64_t status;
	const void *request;      /* struct example_request, or NULL */
	const struct json *given; /* or NULL */
	struct str_list varies;
	const struct json *reply; /* NULL: bytes that are no text */
};

/* The row's examples, n of them; none when it has no file. err_malformed,
 * err_invalid. */
int examples_read(const struct operation *, struct arena *,
    const struct example **out, size_t *n, struct err *);

/* A line for every fault of them: none at all, no success, no refusal, a name
 * twice, a refusal that is no problem of its status. */
void examples_check(const struct operation *, struct buf *faults);

#endif
