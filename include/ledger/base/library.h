/*
 * A shared library that is loaded when it is first wanted. A program started
 * for one request pays for each library that it is linked with, and for those
 * that these are linked with; so what only some requests need comes this way.
 *
 *	static struct { __typeof__(&deflate) deflate; } z;
 *	static struct library library = { "libz.so.1",
 *		(const struct library_symbol[]){
 *			{ "deflate", &z.deflate }, { 0 } } };
 *
 *	if (library_load(&library, e))
 *		return -1;
 *	z.deflate(…);
 */
#ifndef LEDGER_BASE_LIBRARY_H
#define LEDGER_BASE_LIBRARY_H

#include "ledger/base/err.h"

struct library_symbol {
	const char *name;
	void *at; /* the function pointer that is set */
};

struct library {
	const char *file; /* with its version, "libz.so.1" */
	const struct library_symbol *symbols; /* ended by one without a name */
	void *handle;                         /* 0 at first */
};

/* Loads it once, for as long as the process lives. Thread-safe. err_unavailable
 * when it is not there or lacks a function. */
int library_load(struct library *, struct err *);

#endif
