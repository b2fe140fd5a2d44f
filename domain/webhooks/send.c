#include "domain/webhooks/send.h"

#include "domain/service.h"

#define REPLY_MAX 4096

int
webhook_rules(struct service *s, struct arena *a, struct outbound_rules *rules,
    struct err *e)
{
	const struct config *config = service_config(s);

	return outbound_rules_make(a, config->outbound_loopback,
	    config->outbound_resolver, config->outbound_ca, rules, e);
}

int
webhook_post(struct service *s, const struct courier_parcel *p, struct arena *a,
    struct outbound_reply *reply, struct err *e)
{
	const struct outbound_header headers[] = {
		{ "User-Agent", STR("Probity/" PROBITY_VERSION) },
		{ "webhook-id", p->id },
		{ "webhook-timestamp", p->timestamp },
		{ "webhook-signature", p->signature },
	};
	struct screened *screened = ARENA_NEW(a, struct screened);
	struct outbound_request request = {
		.screened = screened,
		.content_type = STR("application/json"),
		.headers = headers,
		.n_headers = sizeof headers / sizeof headers[0],
		.body = p->body,
		.max_reply = REPLY_MAX,
		.cut_reply = true,
		.seconds = service_config(s)->webhook_seconds,
	};
	struct outbound_rules rules;

	if (webhook_rules(s, a, &rules, e) ||
	    outbound_screen_url(p->url, &rules, screened, e))
		return -1;
	return outbound_post(&request, a, reply, e);
}

/* Words of a peer or a library, made fit for an event: printable ASCII. */
static struct str
plain(struct arena *a, const char *text)
{
	char *copy = arena_printf(a, "%.*s", WEBHOOK_FAULT, text);

	for (char *p = copy; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	return str_from(copy);
}

/* It will be over; Retry-After may say when. */
static bool
is_passing(int status)
{
	return status == 429 || status == 502 || status == 503 || status == 504;
}

void
webhook_judge(struct arena *a, const struct outbound_reply *reply,
    const struct err *fault, struct sent *out)
{
	out->duration_ms = reply->duration_ms;
	if (fault->kind) {
		out->fault = plain(a, fault->detail);
		return;
	}
	out->status = (struct opt_int){ true, reply->status };
	if (reply->status >= 200 && reply->status < 300)
		return;
	if (is_passing(reply->status))
		out->retry_after_s = reply->retry_after_s;
	out->fault =
	    out->retry_after_s > 0
		? arena_strf(a, "HTTP status %d, " WEBHOOK_TOLD_WHEN " %lld s",
		      reply->status, (long long)out->retry_after_s)
		: arena_strf(a, "HTTP status %d", reply->status);
}

bool
webhook_is_gone(const struct sent *sent)
{
	return sent->status.set && sent->status.v == 410;
}

bool
webhook_holds_back(const struct sent *sent)
{
	return sent->status.set &&
	       (sent->status.v == 429 || sent->retry_after_s > 0);
}
