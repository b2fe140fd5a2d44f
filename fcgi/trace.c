#include "fcgi/trace.h"

#define LENGTH 55 /* of version 00; others begin with the same fields */

static bool
is_hex(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!(s.p[i] >= '0' && s.p[i] <= '9') &&
		    !(s.p[i] >= 'a' && s.p[i] <= 'f'))
			return false;
	return true;
}

static bool
is_zero(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != '0')
			return false;
	return true;
}

static bool
is_well_formed(struct str s)
{
	struct str version = str_slice(s, 0, 2), trace = str_slice(s, 3, 35),
		   parent = str_slice(s, 36, 52), flags = str_slice(s, 53, 55);

	if (s.p[2] != '-' || s.p[35] != '-' || s.p[52] != '-')
		return false;
	if (!is_hex(version) || str_is(version, "ff") || !is_hex(trace) ||
	    is_zero(trace) || !is_hex(parent) || is_zero(parent) ||
	    !is_hex(flags))
		return false;
	return s.n == LENGTH || (!str_is(version, "00") && s.p[LENGTH] == '-');
}

struct str
trace_read(const struct headers *headers, struct arena *a)
{
	struct str s = headers_get(headers, "traceparent");

	if (s.n < LENGTH || !is_well_formed(s))
		return STR_NONE;
	return arena_strf(a, "00%.*s", LENGTH - 2, s.p + 2);
}
