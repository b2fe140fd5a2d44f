#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "domain/config.h"
#include "fcgi/confined.h"
#include "fcgi/problem.h"
#include "fcgi/server.h"
#include "ledger/store/repo.h"

#define DESCRIPTORS_WANTED 65536
#define REFERENCE_MAX      (1u << 20)
/* Reading old events must not fill the memory with the packs. */
#define PACKS_MAPPED ((size_t)64 << 20)

enum { EXIT_REFUSED = 1, EXIT_USAGE = 2, EXIT_UNAVAILABLE = 3 };

static const char usage[] =
    "Usage: probity.fcgi [--listen SOCKET] [--threads N]\n"
    "\n"
    "The front of Probity: a FastCGI responder, or a CGI program when a web\n"
    "server starts it as one.\n"
    "\n"
    "  --listen SOCKET  unix:/path[,mode=0660], host:port or [address]:port;\n"
    "                   otherwise an inherited socket, or that of the\n"
    "                   configuration\n"
    "  --threads N      requests served at once (1 to 1024)\n"
    "  --print-errors   write the reference page of problems, and end\n"
    "  --version        write the version, and end\n"
    "  --help           write this, and end\n"
    "\n"
    "SIGTERM ends it after the requests that have begun; SIGHUP has it read\n"
    "its configuration again: PROBITY_CONFIG (/etc/probity/probity.conf), and\n"
    "PROBITY_*.\n";

struct options {
	const char *listen;
	const char *threads; /* NULL: as configured */
	bool print_errors, version, help;
};

static bool
is_thread_count(struct str s)
{
	int64_t n;

	return str_to_i64(s, &n) && n >= 1 && n <= 1024;
}

static bool
read_options(int argc, char **argv, struct options *o)
{
	static const struct option names[] = {
		{ "listen", required_argument, NULL, 'l' },
		{ "threads", required_argument, NULL, 't' },
		{ "print-errors", no_argument, NULL, 'e' },
		{ "version", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (c == 'l')
			o->listen = optarg;
		else if (c == 't' && is_thread_count(str_from(optarg)))
			o->threads = optarg;
		else if (c == 't' || c == '?')
			return false;
		o->print_errors |= c == 'e';
		o->version |= c == 'v';
		o->help |= c == 'h';
	}
	return optind == argc;
}

static int
print_errors(void)
{
	struct arena *a = arena_new();
	struct buf page;
	bool failed;

	buf_init(&page, REFERENCE_MAX);
	problem_reference(a, &page);
	failed = buf_failed(&page) ||
		 fwrite(page.p, 1, page.n, stdout) != page.n || fflush(stdout);
	buf_fini(&page);
	arena_free(a);
	return failed ? EXIT_REFUSED : EXIT_SUCCESS;
}

/* Before any thread: all inherit the mask, and server_run alone takes the
 * signals. */
static void
set_signals(void)
{
	sigset_t stops;

	sigemptyset(&stops);
	sigaddset(&stops, SIGTERM);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGUSR1);
	sigaddset(&stops, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &stops, NULL);
}

/*
 * Memory that a request needed stays with the process for the next one. Given
 * back at once, as malloc does with pieces of 128 KiB and more, it costs a page
 * fault for each page and an interrupt of every other core.
 */
static void
keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 128 << 20);
}

static void
raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max < DESCRIPTORS_WANTED
			     ? limit.rlim_max
			     : DESCRIPTORS_WANTED;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int
serve(const struct config *config, struct listener *listener,
    struct front *front, struct err *e)
{
	int rc;

	signal(SIGPIPE, SIG_IGN);
	if (listener->fd < 0) {
		cgi_run(front, (const char *const *)environ);
		front_free(front);
		return 0;
	}
	raise_descriptor_limit();
	keep_memory();
	rc = server_run(front, listener, (int)config->threads, e);
	/* Threads may still be at work if it failed. */
	if (rc == 0) {
		listener_close(listener);
		front_free(front);
	}
	return rc;
}

static int
start(const struct options *o, struct arena *a, struct err *e)
{
	struct config config;
	struct listener listener;
	struct front *front;
	struct str spec;

	if (o->threads)
		setenv("PROBITY_THREADS", o->threads, 1);
	if (config_load(a, &config, e))
		return -1;
	config_set_log_level(&config);
	spec = o->listen ? str_from(o->listen) : config.listen;
	if (listener_open(a, spec, o->listen != NULL, &listener, e))
		return -1;
	if (listener.fd >= 0) {
		set_signals();
		repo_library_bound(PACKS_MAPPED);
	}
	if (front_new(&config, &front, e)) {
		listener_close(&listener);
		return -1;
	}
	front_confine(a, &config, &listener);
	return serve(&config, &listener, front, e);
}

static void
print_fault(void *unused, const char *line)
{
	(void)unused;
	fprintf(stderr, "probity.fcgi: %s\n", line);
}

int
main(int argc, char **argv)
{
	struct options o = { 0 };
	struct err e = { 0 };
	struct arena *a;
	int rc;

	if (!read_options(argc, argv, &o)) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	if (o.help || o.version) {
		fputs(o.help ? usage : "probity.fcgi " PROBITY_VERSION "\n",
		    stdout);
		return EXIT_SUCCESS;
	}
	if (o.print_errors)
		return print_errors();
	a = arena_new();
	rc = start(&o, a, &e);
	if (rc) {
		config_complain(&e, print_fault, NULL);
		_exit(e.kind == &err_usage ? EXIT_USAGE : EXIT_UNAVAILABLE);
	}
	arena_free(a);
	return EXIT_SUCCESS;
}
