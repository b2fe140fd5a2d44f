/*
 * probity-worker: what a ledger needs beside its requests.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "domain/config.h"
#include "domain/worker/rounds.h"
#include "ledger/base/confine.h"
#include "ledger/base/log.h"
#include "ledger/store/repo.h"

/* Going through a ledger from end to end must not fill the memory with it. */
#define PACKS_MAPPED ((size_t)64 << 20)

enum { EXIT_USAGE = 2, EXIT_UNAVAILABLE = 3 };

static void
stop(int signal_number)
{
	(void)signal_number;
	rounds_stop();
}

static void
reload(int signal_number)
{
	(void)signal_number;
	rounds_reload();
}

static void
catch_signals(void)
{
	struct sigaction action = { .sa_handler = stop };

	sigemptyset(&action.sa_mask);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGUSR1, &action, NULL); /* wakes another thread */
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
	/* Nothing that is under way ends early for it. */
	action.sa_handler = reload;
	action.sa_flags = SA_RESTART;
	sigaction(SIGHUP, &action, NULL);
}

static struct str
own_name(struct arena *a)
{
	char host[65] = "";

	if (gethostname(host, sizeof host - 1))
		memcpy(host, "host", sizeof "host");
	return arena_strf(a, "worker-%s-%ld", host, (long)getpid());
}

static void
log_fault(void *unused, const char *line)
{
	(void)unused;
	log_line(LOG_ERROR, "worker", "%s", line);
}

static int
start(struct arena *a, bool once)
{
	struct program p = { .name = own_name(a) };
	struct config config;
	struct err e = { 0 };
	bool there;
	int rc;

	catch_signals();
	repo_library_bound(PACKS_MAPPED);
	if (config_load(a, &config, &e)) {
		config_complain(&e, log_fault, NULL);
		return EXIT_UNAVAILABLE;
	}
	there = config_state_is_there(a, &config);
	if (service_new(&config, &p.service, &e)) {
		config_complain(&e, log_fault, NULL);
		return EXIT_UNAVAILABLE;
	}
	config_set_log_level(&config);
	if (!there)
		log_line(LOG_WARN, "worker",
		    "state: %.*s was not there: no ledger is looked after until"
		    " a workspace is made; see whether another folder was"
		    " meant",
		    STR_ARGS(config.state));
	/* Mirrors, folders and endpoints are configured while it runs: no
	 * limits to files and network. */
	if (!str_is(config.confine, "no"))
		confined_tell(confine(&(struct confine_limits){ 0 }), "worker");
	rc = rounds_run(&p, once);
	service_free(p.service);
	return rc ? EXIT_UNAVAILABLE : 0;
}

int
main(int argc, char **argv)
{
	struct arena *a = arena_new();
	bool once = false;
	int status = -1;

	for (int i = 1; i < argc && status < 0; i++) {
		if (strcmp(argv[i], "--once") == 0) {
			once = true;
		} else if (strcmp(argv[i], "--version") == 0) {
			puts("probity-worker " PROBITY_VERSION);
			status = 0;
		} else {
			bool help = strcmp(argv[i], "--help") == 0;

			fputs("probity-worker [--once]\n"
			      "  --once     one round, then exit\n"
			      "  --version  the version\n"
			      "Configured as docs/configuration.md says.\n",
			    help ? stdout : stderr);
			status = help ? 0 : EXIT_USAGE;
		}
	}
	if (status < 0)
		status = start(a, once);
	arena_free(a);
	return status;
}
