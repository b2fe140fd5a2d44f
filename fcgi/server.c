#include "fcgi/server.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fcgi/connection.h"
#include "ledger/base/log.h"

/* Connections that wait for a request; more are closed after their reply. */
#define WAITING_MAX 1024
/* At the end: for what still waits to be accepted, and for what is served. */
#define CLOSING_US   5000000
#define STRAGGLER_MS 200
#define FINISH_S     60

struct server {
	struct front *front;
	struct listener *listener;
	int epoll_fd, stop_fd;
	atomic_bool closing;  /* no connection is kept after its reply */
	atomic_bool stopping; /* none is accepted */
	atomic_int waiting;
};

/* Lets one thread know when something comes, once. */
static bool
arm(struct server *s, int fd, int op)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT,
		.data.fd = fd };

	return epoll_ctl(s->epoll_fd, op, fd, &event) == 0;
}

static void
wait_for_request(struct server *s, int fd)
{
	if (atomic_fetch_add(&s->waiting, 1) < WAITING_MAX &&
	    (arm(s, fd, EPOLL_CTL_MOD) || arm(s, fd, EPOLL_CTL_ADD)))
		return;
	atomic_fetch_sub(&s->waiting, 1);
	close(fd);
}

static void
serve(struct server *s, int fd, struct front_worker *w)
{
	enum connection_state state = connection_state(fd);

	if (state == CONNECTION_OVER) {
		close(fd);
	} else if (state == CONNECTION_SILENT) {
		wait_for_request(s, fd);
	} else if (connection_serve(fd, s->front, w)) {
		if (atomic_load(&s->closing))
			close(fd);
		else
			wait_for_request(s, fd);
	}
}

/* Once the threads end, nobody waits for what comes a moment later. */
static void
await_straggler(struct server *s, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (atomic_load(&s->stopping))
		poll(&p, 1, STRAGGLER_MS);
}

/* Returns false when there was none to accept. */
static bool
accept_one(struct server *s, struct front_worker *w)
{
	int fd = accept4(s->listener->fd, NULL, NULL, SOCK_CLOEXEC);
	int cause = errno;

	if (!atomic_load(&s->stopping))
		arm(s, s->listener->fd, EPOLL_CTL_MOD);
	if (fd >= 0) {
		connection_prepare(fd);
		await_straggler(s, fd);
		serve(s, fd, w);
		return true;
	}
	if (cause == EMFILE || cause == ENFILE || cause == ENOMEM) {
		log_line(LOG_ERROR, "server",
		    "no descriptor or memory for a connection");
		usleep(50000);
	}
	return false;
}

static void
serve_waiting(struct server *s, int fd, struct front_worker *w)
{
	atomic_fetch_sub(&s->waiting, 1);
	serve(s, fd, w);
}

/* What has arrived when the process is told to stop gets its reply. */
static void
serve_the_rest(struct server *s, struct front_worker *w)
{
	int64_t end = clock_system.steady(&clock_system).us + CLOSING_US;
	bool more = true;

	while (s->listener->own &&
	       clock_system.steady(&clock_system).us < end && accept_one(s, w))
		continue;
	while (more && clock_system.steady(&clock_system).us < end) {
		struct epoll_event events[16];
		int n = epoll_wait(s->epoll_fd, events, 16, 0);

		more = false;
		for (int i = 0; i < n; i++) {
			int fd = events[i].data.fd;

			if (fd == s->stop_fd || fd == s->listener->fd)
				continue;
			serve_waiting(s, fd, w);
			more = true;
		}
	}
}

static void *
run_thread(void *arg)
{
	struct server *s = arg;
	struct epoll_event event;
	struct front_worker w;

	front_worker_init(&w);
	for (;;) {
		if (epoll_wait(s->epoll_fd, &event, 1, -1) < 1)
			continue;
		if (event.data.fd == s->stop_fd)
			break;
		if (event.data.fd == s->listener->fd)
			accept_one(s, &w);
		else
			serve_waiting(s, event.data.fd, &w);
	}
	serve_the_rest(s, &w);
	front_worker_fini(&w);
	return NULL;
}

static int
open_events(struct server *s, struct err *e)
{
	struct epoll_event stop = { .events = EPOLLIN };

	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	stop.data.fd = s->stop_fd;
	if (s->epoll_fd < 0 || s->stop_fd < 0 ||
	    epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->stop_fd, &stop) ||
	    !arm(s, s->listener->fd, EPOLL_CTL_ADD))
		return err_errno(
		    e, &err_unavailable, "cannot wait for connections");
	return 0;
}

/* Threads end on their own; one that does not is left to the process's end. */
static int
finish(struct server *s, pthread_t *threads, int n, struct err *e)
{
	struct timespec end;
	int left = 0;

	/* No new connection finds the socket; those that just did, and what is
	 * under way on kept ones, are served as ever. */
	if (s->listener->path)
		unlink(s->listener->path);
	/* Whoever listens there from now on, it is another process. */
	s->listener->path = NULL;
	atomic_store(&s->closing, true);
	front_end_soon(s->front);
	usleep(STRAGGLER_MS * 1000);
	atomic_store(&s->stopping, true);
	eventfd_write(s->stop_fd, 1);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += FINISH_S;
	for (int i = 0; i < n; i++)
		left += pthread_timedjoin_np(threads[i], NULL, &end) != 0;
	if (left > 0)
		return err_set(e, &err_unavailable,
		    "%d requests did not end in time", left);
	return 0;
}

static void
wait_for_signal(struct front *front)
{
	sigset_t awaited;
	int signal_number = 0;

	sigemptyset(&awaited);
	sigaddset(&awaited, SIGTERM);
	sigaddset(&awaited, SIGINT);
	sigaddset(&awaited, SIGUSR1);
	sigaddset(&awaited, SIGHUP);
	while (sigwait(&awaited, &signal_number) || signal_number == SIGHUP)
		if (signal_number == SIGHUP)
			front_reload(front);
	log_line(LOG_INFO, "server", "stopping on signal %d", signal_number);
}

static void
close_events(struct server *s)
{
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	if (s->stop_fd >= 0)
		close(s->stop_fd);
}

int
server_run(struct front *front, struct listener *listener, int n_threads,
    struct err *e)
{
	/* Threads that do not end in time go on using it: not on the stack. */
	struct server *s = calloc(1, sizeof *s);
	pthread_t *threads = calloc((size_t)n_threads, sizeof *threads);
	int started = 0, rc = -1;

	if (!s || !threads) {
		err_set(e, &err_unavailable, "no memory for threads");
		goto out;
	}
	*s = (struct server){ .front = front,
		.listener = listener,
		.epoll_fd = -1,
		.stop_fd = -1 };
	if (connection_init(e) || open_events(s, e))
		goto out;
	while (started < n_threads &&
	       pthread_create(&threads[started], NULL, run_thread, s) == 0)
		started++;
	if (started < n_threads)
		err_set(e, &err_unavailable, "only %d threads of %d start",
		    started, n_threads);
	else
		wait_for_signal(front);
	rc = finish(s, threads, started, e);
	if (rc || started < n_threads) {
		free(threads);
		return -1;
	}
out:
	if (s)
		close_events(s);
	free(s);
	free(threads);
	return rc;
}
