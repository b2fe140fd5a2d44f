/*
 * Whether a client's URL may be asked now, by this configuration and as its
 * name resolves here; where it would be asked, or why not. Nothing is sent.
 */
#include <stdio.h>

#include "domain/outbound.h"
#include "domain/probityctl/ctl.h"

#define PRINTED_MAX 65536

struct outbound_check_request {
	struct str url;
};

struct outbound_checked {
	struct str url, host;
	int64_t port;
	bool loopback_allowed;
	struct str_list addresses;
};

/* clang-format off */
SHAPE(outbound_check_request, "Which URL",
	FIELD(outbound_check_request, url, .required = true, .max = OUTBOUND_URL_MAX, .doc = "URL as a client registers it for a webhook"));
SHAPE(outbound_checked, "A URL that may be asked",
	FIELD(outbound_checked, url, .doc = "In canonical form"),
	FIELD(outbound_checked, host, .doc = "Name for the certificate"),
	FIELD(outbound_checked, port, .doc = "Port"),
	FIELD(outbound_checked, loopback_allowed, .doc = "Whether outbound_loopback lists it"),
	FIELD(outbound_checked, addresses, .doc = "Where it would be asked"));
/* clang-format on */

static struct json *
describe(struct ctl *ctl, const struct screened *s)
{
	struct str *addresses =
	    arena_array(ctl->arena, OUTBOUND_ADDRESSES_MAX, sizeof *addresses);
	struct outbound_checked out = {
		.url = str_from(s->url),
		.host = str_from(s->host),
		.port = s->port,
		.loopback_allowed = s->loopback,
		.addresses = { addresses, s->n_addresses },
	};

	for (size_t i = 0; i < s->n_addresses; i++)
		addresses[i] = str_from(s->addresses[i]);
	return shape_encode(&outbound_checked_shape, &out, ctl->arena);
}

static int
print(const struct json *v, struct err *e)
{
	struct buf b;
	int failed = 0;

	buf_init(&b, PRINTED_MAX);
	json_write_pretty(v, &b);
	if (buf_failed(&b))
		failed = err_set(e, &err_too_large, "the reply is too large");
	else
		printf("%.*s\n", STR_ARGS(buf_str(&b)));
	buf_fini(&b);
	return failed;
}

/* Who looks reads why, beside the option that it is about. */
static int
screen(struct ctl *ctl, const struct outbound_rules *rules,
    struct screened *screened, struct err *e)
{
	struct err why = { 0 };

	if (outbound_screen_url(ctl_param(ctl, "url"), rules, screened, &why) ==
	    0)
		return 0;
	if (why.kind != &err_invalid)
		return err_set(e, why.kind, "%s", why.detail);
	return err_add_field(
	    e, ctl->arena, "pointer", "#/url", "unsafe", "%s", why.detail);
}

int
run_outbound_check(struct ctl *ctl, struct err *e)
{
	const struct config *config = &ctl->config;
	struct outbound_rules rules;
	struct screened screened;
	struct json *v;

	if (outbound_rules_make(ctl->arena, config->outbound_loopback,
		config->outbound_resolver, config->outbound_ca, &rules, e) ||
	    screen(ctl, &rules, &screened, e))
		return -1;
	v = describe(ctl, &screened);
	if (ctl->json)
		return print(v, e);
	table_print(&outbound_checked_shape, v);
	return 0;
}
