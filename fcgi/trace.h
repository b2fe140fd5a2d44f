#ifndef FCGI_TRACE_H
#define FCGI_TRACE_H

#include "fcgi/headers.h"

/*
 * traceparent (W3C Trace Context) as "00-<trace>-<parent>-<flags>", of a later
 * version too. No value when none was sent or when it is not well-formed: what
 * one cannot read is not an error, as section 3.2 there has it.
 */
struct str trace_read(const struct headers *, struct arena *);

#endif
