#include "domain/config.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "domain/config_file.h"
#include "domain/config_shape.h"
#include "domain/limits.h"
#include "domain/web_origin.h"
#include "ledger/base/io.h"
#include "ledger/base/log.h"
#include "ledger/write/ledger.h"

#define FILE_MAX   65536
#define USUAL_PATH "/etc/probity/probity.conf"

static bool
is_absolute_path(struct str s)
{
	return s.n > 0 && s.n < PATH_MAX && s.p[0] == '/';
}

static const struct field_format format_absolute_path = { "path", NULL, "^/",
	"must be an absolute path", is_absolute_path };

/* clang-format off */
SHAPE(config, "Configuration",
	FIELD(config, state, .def = "./var", .min = 1, .max = 1000,
		.doc = "Directory of the ledgers"),
	FIELD(config, keys, .max = 1000,
		.doc = "Directory of the keys; <state>/keys when not given"),
	FIELD(config, base_url, .def = "http://127.0.0.1:8080", .max = 1000,
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
		.doc = "Requests a second of a credential, or of an application with limits, for which operators set none"),
	FIELD(config, limit_burst, .def = "200", .min = 1, .max = LIMIT_BURST_MAX,
		.doc = "Requests that it may make at once"),
	FIELD(config, limit_monthly, .def = "1000000", .min = 1, .max = LIMIT_MONTHLY_MAX,
		.doc = "Requests that it may make in a calendar month, UTC"),
	FIELD(config, webhook_seconds, .def = "20", .min = 1, .max = 30,
		.doc = "Seconds that a request to a webhook's endpoint may take"),
	FIELD(config, webhook_lease_seconds, .def = "60", .min = 1, .max = 3600,
		.doc = "Seconds that a worker holds an endpoint"),
	FIELD(config, webhook_retry_percent, .def = "100", .min = 0, .max = 100,
		.doc = "Of the waits between attempts to deliver to a webhook, so many percent are waited"),
	FIELD(config, access_token_minutes, .def = "15", .min = 1, .max = 60,
		.doc = "Minutes that an access token is good for"),
	FIELD(config, cors_origins, .max = 64, .format = &format_web_origin,
		.doc = "Origins whose pages may read replies in a browser, joined by commas; empty: none"),
	FIELD(config, confine, .def = "yes", .values = VALUES("yes", "no"),
		.doc = "Whether front and worker give up what they do not need"),
	FIELD(config, writable, .max = 64, .format = &format_absolute_path,
		.doc = "Further folders that the front may write to, joined by commas"),
	FIELD(config, log_level, .def = "info", .values = VALUES("debug", "info", "warn", "error"),
		.doc = "Least level of log lines"),
	FIELD(config, access_log, .max = 1000,
		.doc = "File that gets a line for each request; -: standard error; empty: none"),
	FIELD(config, metrics_allow, .def = "127.0.0.1 ::1", .max = 1000,
		.doc = "Addresses and networks that may read /metrics; empty: none"));
/* clang-format on */

/* What a process takes once, when it starts. */
static const char *const waiting[] = { "state", "keys", "base_url",
	"origin_host", "threads", "free_floor", "max_ledgers", "listen",
	"cors_origins", "confine", "writable", NULL };

bool
config_reloads(struct str name)
{
	for (size_t i = 0; waiting[i]; i++)
		if (str_is(name, waiting[i]))
			return false;
	return true;
}

void
config_set_log_level(const struct config *config)
{
	static const char *const names[] = { "debug", "info", "warn", "error" };

	for (int i = LOG_DEBUG; i <= LOG_ERROR; i++)
		if (str_is(config->log_level, names[i]))
			log_set_level((enum log_level)i);
}

struct loading {
	struct arena *arena;
	struct settings settings;
	struct settings variables;
	struct err *err;
	bool looks; /* also for what values name outside of it */
	bool failed;
};

static bool
is_known(struct str name)
{
	for (size_t i = 0; i < config_shape.n; i++)
		if (str_is(name, config_shape.fields[i].name))
			return true;
	return false;
}

static void
refuse_unknown(struct loading *l, const struct setting *s)
{
	const char *near = config_nearest(s->name);

	l->failed = true;
	config_fault(l->err, l->arena, s->name_at, "unknown",
	    "%.*s: there is no such setting%s%s", STR_ARGS(s->name),
	    near ? "; the nearest is " : "", near ? near : "");
}

/* One setting by itself, so that its fault has its place. */
static void
check_setting(struct loading *l, const struct setting *s)
{
	struct param param = { s->name, s->value, IN_BODY };
	struct input input = { .params = &param, .n_params = 1, .flat = true };
	struct config alone;
	struct err own = { 0 };
	struct str detail;

	if (!is_known(s->name)) {
		refuse_unknown(l, s);
		return;
	}
	if (shape_decode(&config_shape, &input, l->arena, &alone, &own) == 0 &&
	    config_check_meaning(l->arena, s->name, &alone, &own) == 0 &&
	    (!l->looks || config_look(l->arena, s->name, s->value, &own) == 0))
		return;
	l->failed = true;
	detail = str_from(own.fields ? own.fields->detail : own.detail);
	/* Some say themselves whose fault it is. */
	if (str_has_prefix(detail, s->name) && detail.n > s->name.n &&
	    detail.p[s->name.n] == ':')
		detail = str_slice(detail, s->name.n + 2, detail.n);
	config_fault(l->err, l->arena, s->value_at, "value", "%.*s: %.*s%s",
	    STR_ARGS(s->name), STR_ARGS(detail),
	    str_find(s->value, '#') < s->value.n
		? "; a comment has a line of its own"
		: "");
}

static void
check_settings(struct loading *l, const struct settings *s)
{
	for (size_t i = 0; i < s->n; i++)
		check_setting(l, &s->list[i]);
}

/* Before there are threads, and read only afterwards. */
static const char *
environment(const char *name)
{
	return getenv(name); /* NOLINT(concurrency-mt-unsafe) */
}

/* NULL in *read when there is none and none is wanted. */
static int
read_file(struct loading *l, const char *path, const char **read)
{
	const char *named = path ? path : environment("PROBITY_CONFIG");
	struct err own = { 0 };
	struct str text;

	if (named && !*named)
		named = NULL;
	*read = named ? named : USUAL_PATH;
	if (io_read_file(l->arena, *read, FILE_MAX, &text, &own)) {
		if (own.kind == &err_not_found && !named) {
			*read = NULL;
			return 0;
		}
		return err_set(l->err, own.kind, "%s: %s", *read, own.detail);
	}
	if (config_file_read(l->arena, *read, text, &l->settings, l->err))
		l->failed = true;
	return 0;
}

static void
read_environment(struct loading *l)
{
	struct settings *s = &l->variables;

	for (size_t i = 0; i < config_shape.n; i++) {
		const char *name = config_shape.fields[i].name;
		char *variable = arena_printf(l->arena, "PROBITY_%s", name);
		const char *value;

		for (char *p = variable; *p; p++)
			*p = (char)toupper((unsigned char)*p);
		value = environment(variable);
		if (value && *value && s->n < CONFIG_SETTINGS_MAX)
			s->list[s->n++] = (struct setting){
				.name = str_from(name),
				.value = arena_str(l->arena, str_from(value)),
				.origin = { .source = CONFIG_ENVIRONMENT },
				.name_at = variable,
				.value_at = variable,
			};
	}
}

/* The detail holds as many faults as it has room for: who only prints that
 * shows more than the first. */
static int
describe(struct err *e)
{
	size_t n = 0;

	e->detail[0] = '\0';
	for (const struct err_field *f = e->fields; f; f = f->next) {
		if (n + 1 >= sizeof e->detail)
			break;
		snprintf(e->detail + n, sizeof e->detail - n, "%s%s: %s",
		    n > 0 ? "; " : "", f->at, f->detail);
		n = strlen(e->detail);
	}
	return -1;
}

void
config_complain(
    const struct err *e, void (*say)(void *arg, const char *line), void *arg)
{
	char line[1400];

	if (!e->fields)
		say(arg, e->detail);
	for (const struct err_field *f = e->fields; f; f = f->next) {
		snprintf(line, sizeof line, "%s: %s", f->at, f->detail);
		say(arg, line);
	}
}

/* The setting that counts; NULL: the default does. */
static struct setting *
setting_of(struct loading *l, struct str name)
{
	struct setting *s = settings_find(&l->variables, name);

	return s ? s : settings_find(&l->settings, name);
}

/* What is wrong with one of the two by itself was told already. The default
 * is right beside every webhook_seconds, so it is the lease that was set. */
static void
check_lease(struct loading *l)
{
	const struct setting *s = setting_of(l, STR("webhook_lease_seconds"));
	const struct setting *seconds = setting_of(l, STR("webhook_seconds"));
	struct param params[2];
	struct input input = { .params = params, .flat = true };
	struct err own = { 0 }, ignored = { 0 };
	struct config both;

	if (!s)
		return;
	params[input.n_params++] = (struct param){ s->name, s->value, IN_BODY };
	if (seconds)
		params[input.n_params++] =
		    (struct param){ seconds->name, seconds->value, IN_BODY };
	if (shape_decode(&config_shape, &input, l->arena, &both, &ignored) ||
	    config_check_lease(&both, &own) == 0)
		return;
	l->failed = true;
	config_fault(l->err, l->arena, s->value_at, "value", "%.*s: %s",
	    STR_ARGS(s->name), own.detail);
}

static int
decode(struct loading *l, struct config *out, struct config_origins *origins)
{
	struct param *params =
	    arena_array(l->arena, config_shape.n, sizeof *params);
	struct input input = { .params = params, .flat = true };

	for (size_t i = 0; i < config_shape.n; i++) {
		struct str name = str_from(config_shape.fields[i].name);
		const struct setting *s = setting_of(l, name);

		if (!s)
			continue;
		params[input.n_params++] =
		    (struct param){ name, s->value, IN_BODY };
		if (origins)
			origins->of[i] = s->origin;
	}
	return shape_decode(&config_shape, &input, l->arena, out, l->err);
}

static void
complete(struct arena *a, struct config *out)
{
	out->state = arena_str(a, out->state);
	if (out->keys.n == 0)
		out->keys = arena_strf(a, "%.*s/keys", STR_ARGS(out->state));
	/* Writers keep so much free even so. */
	if (out->free_floor == 0)
		out->free_floor = (int64_t)LEDGER_FREE_FLOOR;
	while (
	    out->base_url.n > 0 && out->base_url.p[out->base_url.n - 1] == '/')
		out->base_url.n--;
}

static int
load(struct arena *a, const char *path, bool looks, struct config *out,
    struct config_origins *origins, struct err *e)
{
	struct loading *l = ARENA_NEW(a, struct loading);
	const char *read;

	l->arena = a;
	l->err = e;
	l->looks = looks;
	if (read_file(l, path, &read))
		return -1;
	read_environment(l);
	check_settings(l, &l->settings);
	check_settings(l, &l->variables);
	check_lease(l);
	if (l->failed)
		return describe(e);
	if (origins)
		*origins = (struct config_origins){ read,
			arena_array(a, config_shape.n, sizeof *origins->of) };
	if (decode(l, out, origins))
		return -1;
	complete(a, out);
	return 0;
}

int
config_load_from(struct arena *a, const char *path, struct config *out,
    struct config_origins *origins, struct err *e)
{
	return load(a, path, false, out, origins, e);
}

int
config_check_from(struct arena *a, const char *path, struct config *out,
    struct config_origins *origins, struct err *e)
{
	return load(a, path, true, out, origins, e);
}

int
config_load(struct arena *a, struct config *out, struct err *e)
{
	return config_load_from(a, NULL, out, NULL, e);
}
