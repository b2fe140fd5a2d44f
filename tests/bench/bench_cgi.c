/*
 * What a request costs by plain CGI, a process for each: from starting the
 * program to the end of its reply, as a web server waits for it.
 *
 *	bench_cgi PROGRAM REQUESTS KEY PATH [BODY-FILE]
 *
 * A GET, or with a body a POST; {ref} in the body becomes a reference of its
 * own. The configuration is in the environment, as for the program.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger/base/instant.h"
#include "ledger/base/io.h"

#define REPLY_MAX    65536
#define REQUESTS_MAX 100000

struct exchange {
	const char *program;
	char **environment;
	struct str body; /* no value: a GET */
};

static void
die(const char *what)
{
	fprintf(stderr, "bench_cgi: %s\n", what);
	exit(1);
}

static void
read_reply(int from, char *reply, size_t max)
{
	size_t n = 0;
	ssize_t got;

	while ((got = read(from, reply + n, max - 1 - n)) > 0)
		n += (size_t)got;
	reply[n] = '\0';
}

/* One request; dies unless it succeeded. */
static void
ask(const struct exchange *x)
{
	posix_spawn_file_actions_t actions;
	char *arguments[] = { strdup(x->program), NULL }, reply[REPLY_MAX];
	int in[2], out[2], status;
	pid_t child;

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		die("no pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
	if (posix_spawn(
		&child, x->program, &actions, NULL, arguments, x->environment))
		die("the program does not start");
	posix_spawn_file_actions_destroy(&actions);
	free(arguments[0]);
	close(in[0]);
	close(out[1]);
	/* A body fits a pipe's buffer. */
	if (x->body.n > 0 && io_write_all(in[1], x->body.p, x->body.n))
		die("the program does not read");
	close(in[1]);
	read_reply(out[0], reply, sizeof reply);
	close(out[0]);
	if (waitpid(child, &status, 0) != child || status != 0 ||
	    strncmp(reply, "Status: 20", 10) != 0)
		die(reply[0] ? reply : "no reply");
}

static char **
make_environment(struct arena *a, const char *key, const char *path, bool post)
{
	const char *set[] = { "GATEWAY_INTERFACE=CGI/1.1",
		"SERVER_PROTOCOL=HTTP/1.1",
		"SCRIPT_NAME=", "QUERY_STRING=", "REMOTE_ADDR=127.0.0.1",
		"SERVER_NAME=127.0.0.1", "SERVER_PORT=80",
		"HTTP_HOST=127.0.0.1",
		post ? "REQUEST_METHOD=POST" : "REQUEST_METHOD=GET",
		arena_printf(a, "REQUEST_URI=%s", path),
		arena_printf(a, "PATH_INFO=%s", path),
		arena_printf(a, "HTTP_AUTHORIZATION=Bearer %s", key),
		"CONTENT_TYPE=application/json" };
	size_t n = sizeof set / sizeof set[0], own = 0;
	char **all;

	while (environ[own])
		own++;
	/* Room for the length and the end. */
	all = arena_array(a, own + n + 2, sizeof *all);
	memcpy(all, environ, own * sizeof *all);
	for (size_t i = 0; i < n; i++)
		all[own + i] = arena_printf(a, "%s", set[i]);
	return all;
}

static struct str
make_body(struct arena *a, struct str pattern, long number)
{
	const char *at = memmem(pattern.p, pattern.n, "{ref}", 5);
	size_t before = at ? (size_t)(at - pattern.p) : 0;

	if (!at)
		die("no {ref} in the body");
	return arena_strf(a, "%.*sC-%d-%ld%.*s", (int)before, pattern.p,
	    (int)getpid(), number, (int)(pattern.n - before - 5), at + 5);
}

static void
set_body(struct arena *a, struct exchange *x, struct str pattern, long number)
{
	size_t last = 0;

	if (!pattern.p)
		return;
	x->body = make_body(a, pattern, number);
	while (x->environment[last] &&
	       strncmp(x->environment[last], "CONTENT_LENGTH=", 15) != 0)
		last++;
	x->environment[last] = arena_printf(a, "CONTENT_LENGTH=%zu", x->body.n);
}

static int
compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int
main(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct str pattern = STR_NONE;
	struct exchange x;
	struct err e = { 0 };
	long n = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	double *ms;

	if (argc < 5 || argc > 6 || n < 1 || n > REQUESTS_MAX)
		die("PROGRAM REQUESTS KEY PATH [BODY-FILE]");
	if (argc == 6 && io_read_file(a, argv[5], 16384, &pattern, &e))
		die(e.detail);
	x = (struct exchange){ argv[1],
		make_environment(a, argv[3], argv[4], pattern.p != NULL),
		STR_NONE };
	ms = arena_array(a, (size_t)n, sizeof *ms);
	for (long i = 0; i < n; i++) {
		int64_t from;

		set_body(a, &x, pattern, i);
		from = clock_system.steady(&clock_system).us;
		ask(&x);
		ms[i] = (double)(clock_system.steady(&clock_system).us - from) /
			1e3;
	}
	qsort(ms, (size_t)n, sizeof *ms, compare);
	printf("{\"requests\":%ld,\"p50_ms\":%.2f,\"p99_ms\":%.2f}\n", n,
	    ms[n / 2], ms[n * 99 / 100]);
	arena_free(a);
	return 0;
}
