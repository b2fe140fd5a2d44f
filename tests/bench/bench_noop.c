/*
 * What HTTP and FastCGI cost without a ledger: reads the body, answers 201
 * with a small JSON. As many threads as probity.fcgi has.
 *
 *	bench_noop SOCKET [THREADS]
 */
#include <fcgiapp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static const char reply[] = "Status: 201 Created\r\n"
			    "Content-Type: application/json\r\n"
			    "Content-Length: 12\r\n\r\n"
			    "{\"done\":1}\r\n";

static int listener;
static pthread_mutex_t accepting = PTHREAD_MUTEX_INITIALIZER;

static void *
answer(void *unused)
{
	FCGX_Request r;
	char piece[16384];

	(void)unused;
	FCGX_InitRequest(&r, listener, 0);
	for (;;) {
		int rc;

		pthread_mutex_lock(&accepting);
		rc = FCGX_Accept_r(&r);
		pthread_mutex_unlock(&accepting);
		if (rc < 0)
			return NULL;
		while (FCGX_GetStr(piece, sizeof piece, r.in) > 0)
			continue;
		FCGX_PutStr(reply, sizeof reply - 1, r.out);
		FCGX_Finish_r(&r);
	}
}

int
main(int argc, char **argv)
{
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 64;
	pthread_t thread;

	if (argc < 2 || FCGX_Init() ||
	    (listener = FCGX_OpenSocket(argv[1], 1024)) < 0) {
		fputs("usage: bench_noop SOCKET [THREADS]\n", stderr);
		return 2;
	}
	chmod(argv[1], 0666);
	signal(SIGPIPE, SIG_IGN);
	while (n-- > 1)
		if (pthread_create(&thread, NULL, answer, NULL))
			return 1;
	answer(NULL);
	return 0;
}
