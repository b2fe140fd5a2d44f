#include "domain/config_shape.h"
#include "domain/limits.h"
#include "domain/outbound.h"
#include "domain/service.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/base/io.h"

#define FILE_MAX     65536
#define SETTINGS_MAX 64

/* clang-format off */
SHAPE(config, "Configuration",
	FIELD(config, state, .def = "./var", .min = 1, .max = 1000,
		.doc = "Directory of the ledgers"),
	FIELD(config, keys, .max = 1000,
		.doc = "Directory of the keys; <state>/keys when not given"),
	FIELD(config, base_url, .def = "http://127.0.0.1:8080", .min = 8, .max = 1000,
		.doc = "Public URL of the service"),
	FIELD(config, origin_host, .def = "ledger.localhost.example", .min = 3, .max = 100,
		.doc = "First part of the ledgers' origins"),
	FIELD(config, threads, .def = "64", .min = 1, .max = 1024,
		.doc = "Threads of probity.fcgi"),
	FIELD(config, max_body, .def = "1048576", .min = 1024, .max = 67108864,
		.doc = "Largest request body, bytes"),
	FIELD(config, free_floor, .def = "67108864", .min = 0, .max = 1099511627776,
		.doc = "Bytes that must stay free on the disk"),
	FIELD(config, max_ledgers, .def = "64", .min = 1, .max = 10000,
		.doc = "Ledgers open at once in a process"),
	FIELD(config, listen, .max = 100,
		.doc = "Socket that probity.fcgi opens; empty: it is started by the web server"),
	FIELD(config, pack_threshold, .def = "6700", .min = 1, .max = 1000000,
		.doc = "Loose objects from which the worker packs"),
	FIELD(config, verify_hours, .def = "24", .min = 1, .max = 8760,
		.doc = "Hours between full verifications"),
	FIELD(config, scrub_days, .def = "30", .min = 0, .max = 3650,
		.doc = "Days between two scrubs of a ledger"),
	FIELD(config, scrub_mib_per_second, .def = "4", .min = 1, .max = 100000,
		.doc = "MiB that a scrub reads in a second"),
	FIELD(config, timestamp_url, .max = 1000,
		.doc = "URL of an RFC 3161 authority that stamps checkpoints; empty: none"),
	FIELD(config, timestamp_hours, .def = "24", .min = 1, .max = 8760,
		.doc = "Hours between time-stamps"),
	FIELD(config, timestamp_ca, .max = 1000,
		.doc = "Certificates that time-stamps must lead to, a file in PEM; empty: not checked"),
	FIELD(config, outbound_loopback, .max = 1000,
		.doc = "Loopback addresses that webhooks may be sent to, host:port with spaces between, for tests; empty: none"),
	FIELD(config, outbound_ca, .max = 1000,
		.doc = "Certificates that those addresses' must lead to, a file in PEM; empty: the system's"),
	FIELD(config, outbound_resolver, .max = 100,
		.doc = "DNS server asked for the names in clients' URLs, address:port; empty: the system's"),
	FIELD(config, witness_file, .max = 1000,
		.doc = "File of the witnesses asked to cosign checkpoints; empty: none"),
	FIELD(config, witness_minimum, .def = "0", .min = 0, .max = 16,
		.doc = "Witnesses that must cosign a checkpoint; 0: all"),
	FIELD(config, witness_minutes, .def = "10", .min = 0, .max = 10080,
		.doc = "Minutes between rounds of the witnesses, at least"),
	FIELD(config, checkpoint_folder, .max = 1000,
		.doc = "Directory that signed checkpoints are written to; empty: none"),
	FIELD(config, checkpoint_minutes, .def = "60", .min = 0, .max = 525600,
		.doc = "Minutes between two checkpoints written there"),
	FIELD(config, mirror_file, .max = 1000,
		.doc = "File that lists where ledgers are pushed to; empty: none"),
	FIELD(config, mirror_minutes, .def = "60", .min = 0, .max = 525600,
		.doc = "Minutes between two pushes"),
	FIELD(config, mirror_seconds, .def = "120", .min = 1, .max = 600,
		.doc = "Seconds that a push may take"),
	FIELD(config, git, .def = "git", .min = 1, .max = 1000,
		.doc = "Program that serves clones and pushes to mirrors: a path, or a name looked for along PATH"),
	FIELD(config, clone_seconds, .def = "120", .min = 1, .max = 86400,
		.doc = "Seconds that a clone or fetch may take"),
	FIELD(config, max_clones, .def = "4", .min = 0, .max = 1000,
		.doc = "Clones and fetches at once; 0: none"),
	FIELD(config, lineage_events_at_once, .def = "10000", .min = 1, .max = 10000,
		.doc = "Events of the largest lineage export that is made at once; the worker makes larger ones"),
	FIELD(config, limit_requests_per_second, .def = "100", .min = 1, .max = LIMIT_RATE_MAX,
		.doc = "Requests a second of an application for which operators set none"),
	FIELD(config, limit_burst, .def = "200", .min = 1, .max = LIMIT_BURST_MAX,
		.doc = "Requests that it may make at once"),
	FIELD(config, limit_monthly, .def = "1000000", .min = 1, .max = LIMIT_MONTHLY_MAX,
		.doc = "Requests that it may make in a calendar month, UTC"),
	FIELD(config, log_level, .def = "info", .values = VALUES("debug", "info", "warn", "error"),
		.doc = "Least level of log lines"));
/* clang-format on */

struct settings {
	struct param list[SETTINGS_MAX];
	size_t n;
};

static int
add(struct settings *s, struct str name, struct str value, struct err *e)
{
	for (size_t i = 0; i < s->n; i++)
		if (str_eq(s->list[i].name, name)) {
			s->list[i].value = value;
			return 0;
		}
	if (s->n == SETTINGS_MAX)
		return err_set(e, &err_invalid, "too many settings");
	s->list[s->n++] =
	    (struct param){ .name = name, .value = value, .place = IN_BODY };
	return 0;
}

static struct str
trim(struct str s)
{
	while (s.n > 0 && isspace((unsigned char)s.p[0]))
		s = str_slice(s, 1, s.n);
	while (s.n > 0 && isspace((unsigned char)s.p[s.n - 1]))
		s.n--;
	return s;
}

static int
read_lines(struct str text, struct settings *s, struct err *e)
{
	for (int number = 1; text.p; number++) {
		struct str value = trim(str_take(&text, '\n'));
		struct str name;

		if (value.n == 0 || value.p[0] == '#')
			continue;
		name = trim(str_take(&value, '='));
		if (name.n == 0 || !value.p)
			return err_set(e, &err_invalid,
			    "line %d of the configuration is not name = value",
			    number);
		if (add(s, name, trim(value), e))
			return -1;
	}
	return 0;
}

/* Before there are threads. */
static const char *
environment(const char *name)
{
	return getenv(name); /* NOLINT(concurrency-mt-unsafe) */
}

static int
read_settings_file(struct arena *a, struct settings *s, struct err *e)
{
	const char *path = environment("PROBITY_CONFIG");
	struct err own = { 0 };
	struct str text;

	if (!path || !*path)
		path = "/etc/probity/probity.conf";
	if (io_read_file(a, path, FILE_MAX, &text, &own)) {
		if (own.kind == &err_not_found &&
		    !environment("PROBITY_CONFIG"))
			return 0;
		return err_set(e, own.kind, "%s: %s", path, own.detail);
	}
	return read_lines(text, s, e);
}

static int
read_environment(struct arena *a, struct settings *s, struct err *e)
{
	for (size_t i = 0; i < config_shape.n; i++) {
		const char *name = config_shape.fields[i].name;
		char *variable = arena_printf(a, "PROBITY_%s", name);
		const char *value;

		for (char *p = variable; *p; p++)
			*p = (char)toupper((unsigned char)*p);
		value = environment(variable);
		if (value && *value &&
		    add(s, str_from(name), arena_str(a, str_from(value)), e))
			return -1;
	}
	return 0;
}

/* Bad settings by name in the detail: who starts a program sees one line. */
static int
describe(struct err *e)
{
	size_t n = 0;

	if (e->kind != &err_invalid || !e->fields)
		return -1;
	e->detail[0] = '\0';
	for (const struct err_field *f = e->fields; f; f = f->next) {
		const char *at = f->at;

		if (at[0] == '#' && at[1] == '/')
			at += 2;
		if (n + 1 >= sizeof e->detail)
			break;
		snprintf(e->detail + n, sizeof e->detail - n, "%s%s: %s",
		    n > 0 ? "; " : "configuration: ", at, f->detail);
		n = strlen(e->detail);
	}
	return -1;
}

static int
check_url(const char *name, struct str url, struct err *e)
{
	struct err own = { 0 };

	if (url.n == 0 || outbound_check_url(url, &own) == 0)
		return 0;
	return err_set(e, own.kind, "configuration: %s: %s", name, own.detail);
}

static int
check_outbound(struct arena *a, const struct config *config, struct err *e)
{
	struct outbound_rules rules;
	struct err own = { 0 };

	if (outbound_rules_make(a, config->outbound_loopback,
		config->outbound_resolver, config->outbound_ca, &rules,
		&own) == 0)
		return 0;
	return err_set(e, own.kind, "configuration: %s", own.detail);
}

int
config_load(struct arena *a, struct config *out, struct err *e)
{
	struct settings *s = ARENA_NEW(a, struct settings);
	struct input input = { .flat = true };

	if (read_settings_file(a, s, e) || read_environment(a, s, e))
		return -1;
	input.params = s->list;
	input.n_params = s->n;
	if (shape_decode(&config_shape, &input, a, out, e))
		return describe(e);
	if (check_url("timestamp_url", out->timestamp_url, e))
		return -1;
	if (check_outbound(a, out, e))
		return -1;
	out->state = arena_str(a, out->state);
	if (out->keys.n == 0)
		out->keys = arena_strf(a, "%.*s/keys", STR_ARGS(out->state));
	while (
	    out->base_url.n > 0 && out->base_url.p[out->base_url.n - 1] == '/')
		out->base_url.n--;
	return 0;
}
