/*
 * What is wrong with a file, line by line, so that one attempt tells all of
 * it. The first FAULTS_KEPT are kept, the rest counted.
 */
#ifndef DOMAIN_SOURCE_RECORDS_FAULTS_H
#define DOMAIN_SOURCE_RECORDS_FAULTS_H

#include "ledger/base/arena.h"
#include "ledger/base/err.h"

#define FAULTS_KEPT 64

struct fault {
	const char *at, *code, *detail;
};

struct faults {
	struct arena *arena;
	struct fault kept[FAULTS_KEPT];
	size_t n;
};

void faults_init(struct faults *, struct arena *);

/* A fault of the file; words such as "line 7, column \"Amount\": …". */
__attribute__((format(printf, 3, 4))) void faults_add(
    struct faults *, const char *code, const char *fmt, ...);

/* A fault of another field of the request: "#/mapping". */
__attribute__((format(printf, 4, 5))) void faults_add_at(
    struct faults *, const char *at, const char *code, const char *fmt, ...);

/* 0 when there is none; else -1, err_invalid with one field for each. */
int faults_raise(const struct faults *, struct err *);

#endif
