#include "fcgi/limits.h"

#define FIELD_MAX 1024

static void
add_fields(
    struct response *response, const struct limits_report *r, struct arena *a)
{
	struct buf policy, left;

	if (r->n == 0)
		return;
	buf_init(&policy, FIELD_MAX);
	buf_init(&left, FIELD_MAX);
	for (size_t i = 0; i < r->n; i++) {
		const struct limits_item *item = &r->items[i];
		const char *comma = i > 0 ? ", " : "";

		buf_addf(&policy, "%s\"%s\";q=%llu;w=%llu", comma, item->name,
		    (unsigned long long)item->quota,
		    (unsigned long long)item->window_s);
		buf_addf(&left, "%s\"%s\";r=%llu;t=%llu", comma, item->name,
		    (unsigned long long)item->left,
		    (unsigned long long)item->reset_s);
	}
	response_add(response, a, "RateLimit-Policy", "%.*s",
	    STR_ARGS(buf_str(&policy)));
	response_add(
	    response, a, "RateLimit", "%.*s", STR_ARGS(buf_str(&left)));
	buf_fini(&policy);
	buf_fini(&left);
}

int
limits_pass(struct front *front, const struct caller *caller,
    const struct operation *op, struct arena *a, struct response *response,
    struct err *e)
{
	struct limits_party party = limits_party_of(caller);
	struct limits_report report;
	int rc = call_authorize_found(caller->found, caller, op, e);

	if (rc)
		limits_look(front->service, &party, &report);
	else
		rc = limits_take(front->service, &party, a, &report, e);
	add_fields(response, &report, a);
	return rc;
}

int
limits_count(struct front *front, const struct limits_party *party,
    struct arena *a, struct response *response, struct err *e)
{
	struct limits_report report;
	int rc = limits_take(front->service, party, a, &report, e);

	add_fields(response, &report, a);
	return rc;
}
