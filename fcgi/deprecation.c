#include "fcgi/deprecation.h"

#include <time.h>

#include "domain/lifecycle.h"

/* RFC 9110, 5.6.7: names are English, whatever the locale. */
static void
add_sunset(struct response *response, struct arena *a, struct instant at)
{
	static const char days[][4] = { "Sun", "Mon", "Tue", "Wed", "Thu",
		"Fri", "Sat" };
	static const char months[][4] = { "Jan", "Feb", "Mar", "Apr", "May",
		"Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
	time_t seconds = (time_t)(at.us / 1000000);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	response_add(response, a, "Sunset", "%s, %02d %s %04d 00:00:00 GMT",
	    days[tm.tm_wday], tm.tm_mday, months[tm.tm_mon], tm.tm_year + 1900);
}

void
deprecation_announce(const struct operation *op, const struct request *r,
    struct str base_url, struct str prefix, struct arena *a,
    struct response *response)
{
	struct str successor;
	struct instant at;

	if (!op->deprecated || !lifecycle_date(op->deprecated, &at))
		return;
	response_add(
	    response, a, "Deprecation", "@%lld", (long long)(at.us / 1000000));
	if (op->sunset && lifecycle_date(op->sunset, &at))
		add_sunset(response, a, at);
	response_add(response, a, "Link",
	    "<%.*s/docs/changes>; rel=\"deprecation\"; type=\"text/html\"",
	    STR_ARGS(base_url));
	successor = op->successor
			? lifecycle_successor(a, op, r->params, r->n_params)
			: STR_NONE;
	if (successor.p)
		response_add(response, a, "Link",
		    "<%.*s%.*s>; rel=\"successor-version\"", STR_ARGS(prefix),
		    STR_ARGS(successor));
}
