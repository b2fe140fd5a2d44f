/*
 * Form bodies (application/x-www-form-urlencoded, as the URL standard and RFC
 * 6749, appendix B, have it). Names and values are UTF-8 without zero bytes.
 */
#ifndef FCGI_FORM_H
#define FCGI_FORM_H

#include "ledger/base/arena.h"
#include "ledger/base/err.h"

#define FORM_PARAMS_MAX 64

struct form_param {
	struct str name, value;
};

struct form {
	struct form_param *items;
	size_t n;
};

/* err_malformed: a malformed %, not UTF-8, too many parameters. */
int form_decode(struct arena *, struct str body, struct form *, struct err *);

/* The first value; no value where there is none or it is empty (RFC 6749, 3.1:
 * as if it were not there). */
struct str form_get(const struct form *, const char *name);

/* All of them that are not empty, at most max; returns how many there are. */
size_t form_get_all(
    const struct form *, const char *name, struct str *out, size_t max);

/* err_malformed when a parameter is there twice, but for the one named. */
int form_check_single(const struct form *, const char *but, struct err *);

#endif
