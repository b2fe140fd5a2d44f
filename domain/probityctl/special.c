/*
 * Commands that are no operations: they change nothing that an event could
 * record, or need the ledger closed.
 */
#include "domain/probityctl/ctl.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define DOCUMENT_MAX ((size_t)64 << 20)

static int run_openapi(struct ctl *, struct err *);
static int run_rebuild(struct ctl *, struct err *);

const struct special ctl_specials[] = {
	{ "config check", "Say all that is wrong with the configuration", false,
	    run_config_check, &config_request_shape, NULL },
	{ "config show", "Show the settings, and where each comes from", false,
	    run_config_show, &config_request_shape, NULL },
	{ "key check", "Show the public key of a key file, and that it signs",
	    false, run_key_check, &key_check_request_shape, NULL },
	{ "ledger backup",
	    "Bring a copy of the ledger up to date, and verify it", true,
	    run_backup, &backup_request_shape, NULL },
	{ "ledger close",
	    "Close the ledger for ever and open one that continues it", true,
	    run_close, &close_request_shape, NULL },
	{ "ledger heal", "Mend a damaged repository from a mirror or backup",
	    true, run_heal, &heal_request_shape, NULL },
	{ "ledger mirror", "Push the ledger to another repository, now", true,
	    run_mirror, &mirror_request_shape, NULL },
	{ "ledger rebuild", "Make the read model again from the repository",
	    true, run_rebuild, NULL, NULL },
	{ "ledger restore", "Put a ledger back from a backup, verified", true,
	    run_restore, &restore_request_shape, "checkpoint" },
	{ "ledger revoke-key",
	    "Put a new key in the place of a lost or stolen one", true,
	    run_revoke_key, &revoke_key_request_shape, NULL },
	{ "ledger rotate-key", "Put a new key in the ledger key's place", true,
	    run_rotate_key, &rotate_key_request_shape, NULL },
	{ "ledger scrub", "Read the whole repository from the disk again, now",
	    true, run_scrub, &scrub_request_shape, NULL },
	{ "openapi", "Print the OpenAPI 3.1 document", false, run_openapi, NULL,
	    NULL },
	{ "outbound check", "Say whether a client's URL may be asked, and why",
	    false, run_outbound_check, &outbound_check_request_shape, NULL },
	{ 0 },
};

const struct special *
special_find(struct str command)
{
	for (const struct special *s = ctl_specials; s->command; s++)
		if (str_is(command, s->command))
			return s;
	return NULL;
}

static int
run_openapi(struct ctl *ctl, struct err *e)
{
	struct json *v = catalog_openapi(ctl->arena, ctl->config.base_url);
	struct buf b;
	int result = 0;

	buf_init(&b, DOCUMENT_MAX);
	json_write_pretty(v, &b);
	if (buf_failed(&b))
		result =
		    err_set(e, &err_too_large, "the document is too large");
	else
		printf("%.*s\n", STR_ARGS(buf_str(&b)));
	buf_fini(&b);
	return result;
}

void
show_progress(void *unused, uint64_t done, uint64_t total)
{
	(void)unused;
	fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " events", done, total);
	if (done >= total)
		fputc('\n', stderr);
}

static int
run_rebuild(struct ctl *ctl, struct err *e)
{
	struct ledger_options options;
	uint64_t events = 0;

	if (service_ledger_options(
		ctl->service, &ctl->place, ctl->arena, &options, e))
		return -1;
	if (ledger_rebuild(&options,
		isatty(STDERR_FILENO) ? show_progress : NULL, NULL, &events, e))
		return -1;
	if (ctl->json)
		printf("{\"events\": %" PRIu64 "}\n", events);
	else
		printf("%-20s  %" PRIu64 "\n", "events", events);
	return 0;
}
