/* What bounds and words cannot say of a setting's value. */
#include <string.h>

#include "domain/addresses.h"
#include "domain/config_file.h"
#include "domain/listen.h"
#include "domain/outbound.h"
#include "ledger/crypto/note.h"

/* Links begin with it, so what follows it must be theirs alone. */
static int
check_base_url(struct arena *a, const struct config *c, struct err *e)
{
	struct str rest = c->base_url;
	bool https = str_has_prefix(rest, STR("https://"));

	(void)a;
	if (!https && !str_has_prefix(rest, STR("http://")))
		return err_set(
		    e, &err_invalid, "must begin with https:// or http://");
	rest = str_slice(rest, https ? 8 : 7, rest.n);
	if (rest.n == 0 || rest.p[0] == '/')
		return err_set(e, &err_invalid, "must name a host");
	for (size_t i = 0; i < rest.n; i++)
		if (rest.p[i] <= ' ' || rest.p[i] > '~' ||
		    strchr("\\\"<>^`{|}@?#", rest.p[i]))
			return err_set(e, &err_invalid,
			    "must be host, port and path in ASCII, without"
			    " user, query, fragment or space");
	return 0;
}

/* A workspace and an environment follow it. */
static int
check_origin_host(struct arena *a, const struct config *c, struct err *e)
{
	struct str whole = arena_strf(a, "%.*s/w/s", STR_ARGS(c->origin_host));

	return origin_is_valid(whole)
		   ? 0
		   : err_set(e, &err_invalid,
			 "must be a name of a domain, such as "
			 "ledger.example.com: small letters, digits, hyphens "
			 "and at least one dot");
}

static int
check_listen(struct arena *a, const struct config *c, struct err *e)
{
	struct listen_spec spec;

	return c->listen.n == 0 ? 0 : listen_read(a, c->listen, &spec, e);
}

static int
check_timestamp_url(struct arena *a, const struct config *c, struct err *e)
{
	(void)a;
	return c->timestamp_url.n == 0
		   ? 0
		   : outbound_check_url(c->timestamp_url, e);
}

static int
check_outbound(struct arena *a, const struct config *c, struct err *e)
{
	struct outbound_rules rules;

	return outbound_rules_make(a, c->outbound_loopback,
	    c->outbound_resolver, c->outbound_ca, &rules, e);
}

static int
check_metrics_allow(struct arena *a, const struct config *c, struct err *e)
{
	(void)a;
	return addresses_check(c->metrics_allow, e);
}

static const struct {
	const char *name;
	int (*check)(struct arena *, const struct config *, struct err *);
} checks[] = {
	{ "base_url", check_base_url },
	{ "origin_host", check_origin_host },
	{ "listen", check_listen },
	{ "timestamp_url", check_timestamp_url },
	{ "outbound_loopback", check_outbound },
	{ "outbound_resolver", check_outbound },
	{ "outbound_ca", check_outbound },
	{ "metrics_allow", check_metrics_allow },
};

int
config_check_meaning(struct arena *a, struct str name,
    const struct config *config, struct err *e)
{
	for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
		if (str_is(name, checks[i].name))
			return checks[i].check(a, config, e);
	return 0;
}

int
config_check_lease(const struct config *config, struct err *e)
{
	if (config->webhook_lease_seconds >= 2 * config->webhook_seconds)
		return 0;
	return err_set(e, &err_invalid,
	    "must be at least twice webhook_seconds, which is %lld: a request"
	    " that is still on its way would be sent again",
	    (long long)config->webhook_seconds);
}
