#include <ares.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <time.h>

#include "domain/outbound/parts.h"

#define TOTAL_MS 5000
#define FIRST_MS 1500 /* before the next server is asked */
#define TRIES    2

static pthread_once_t library_once = PTHREAD_ONCE_INIT;
static int library;

static void
start_library(void)
{
	library = ares_library_init(ARES_LIB_INIT_ALL);
}

struct question {
	struct screened *screened;
	struct err *e;
	bool answered;
	int failed;
};

static int
refuse(const struct question *q, int status)
{
	const char *host = q->screened->host;

	if (status == ARES_ENOTFOUND || status == ARES_ENODATA)
		return err_set(q->e, &err_invalid, "%s has no address", host);
	return err_set(q->e, &err_unavailable, "%s cannot be resolved: %s",
	    host, ares_strerror(status));
}

static int
add(struct question *q, const struct sockaddr *address)
{
	const struct sockaddr_in *v4 = (const void *)address;
	const struct sockaddr_in6 *v6 = (const void *)address;
	bool is_v4 = address->sa_family == AF_INET;

	return screened_add(q->screened, address->sa_family,
	    is_v4 ? (const void *)&v4->sin_addr : (const void *)&v6->sin6_addr,
	    q->e);
}

static void
take(void *arg, int status, int timeouts, struct ares_addrinfo *result)
{
	struct question *q = arg;
	const struct ares_addrinfo_node *node = result ? result->nodes : NULL;

	(void)timeouts;
	q->answered = true;
	if (status != ARES_SUCCESS || !node)
		q->failed =
		    refuse(q, status == ARES_SUCCESS ? ARES_ENODATA : status);
	for (; node && !q->failed; node = node->ai_next)
		q->failed = add(q, node->ai_addr);
	ares_freeaddrinfo(result);
}

static int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* What c-ares waits for: its low bits say who is to be read, its high ones who
 * is to be written to. (Its own macros shift into the sign.) */
static short
events_of(unsigned mask, int i)
{
	bool reads = mask >> i & 1;
	bool writes = mask >> (i + ARES_GETSOCK_MAXNUM) & 1;

	return (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0));
}

/* Not select: it is undefined from the 1024th descriptor. */
static void
step(ares_channel channel, int64_t most_ms)
{
	ares_socket_t sockets[ARES_GETSOCK_MAXNUM];
	unsigned mask =
	    (unsigned)ares_getsock(channel, sockets, ARES_GETSOCK_MAXNUM);
	struct timeval most = { .tv_sec = most_ms / 1000,
		.tv_usec = most_ms % 1000 * 1000 };
	struct timeval own, *wait = ares_timeout(channel, &most, &own);
	struct pollfd fds[ARES_GETSOCK_MAXNUM];
	nfds_t n = 0;

	for (int i = 0; i < ARES_GETSOCK_MAXNUM; i++)
		if (events_of(mask, i))
			fds[n++] = (struct pollfd){ sockets[i],
				events_of(mask, i), 0 };
	poll(fds, n, (int)(wait->tv_sec * 1000 + wait->tv_usec / 1000 + 1));
	for (nfds_t i = 0; i < n; i++)
		ares_process_fd(channel,
		    fds[i].revents & ~POLLOUT ? fds[i].fd : ARES_SOCKET_BAD,
		    fds[i].revents & POLLOUT ? fds[i].fd : ARES_SOCKET_BAD);
	ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

static void
ask(ares_channel channel, struct question *q)
{
	const struct ares_addrinfo_hints hints = { .ai_family = AF_UNSPEC,
		.ai_flags = ARES_AI_NOSORT };
	int64_t end = now_ms() + TOTAL_MS, left;

	ares_getaddrinfo(channel, q->screened->host, NULL, &hints, take, q);
	while (!q->answered && (left = end - now_ms()) > 0)
		step(channel, left);
	if (!q->answered)
		ares_cancel(channel); /* answers with its own status */
}

/* A resolver of the operator's own is the only one that is asked then, not
 * /etc/hosts either. No search domains: a client's names are whole. */
static int
open_channel(
    const struct outbound_rules *rules, ares_channel *out, struct err *e)
{
	char files_and_dns[] = "fb", dns[] = "b";
	struct ares_options options = {
		.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES,
		.timeout = FIRST_MS,
		.tries = TRIES,
		.lookups = rules->resolver.n > 0 ? dns : files_and_dns,
	};
	struct arena *a;
	int status;

	pthread_once(&library_once, start_library);
	status = library;
	if (status == ARES_SUCCESS)
		status = ares_init_options(out, &options,
		    ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
			ARES_OPT_LOOKUPS);
	if (status != ARES_SUCCESS)
		return err_set(e, &err_unavailable,
		    "cannot prepare to resolve names: %s",
		    ares_strerror(status));
	if (rules->resolver.n == 0)
		return 0;
	a = arena_new();
	status =
	    ares_set_servers_ports_csv(*out, arena_cstr(a, rules->resolver));
	arena_free(a);
	if (status == ARES_SUCCESS)
		return 0;
	ares_destroy(*out);
	return err_set(e, &err_unavailable, "outbound_resolver: %s",
	    ares_strerror(status));
}

int
screened_resolve(
    struct screened *s, const struct outbound_rules *rules, struct err *e)
{
	struct question q = { .screened = s, .e = e };
	ares_channel channel;

	if (open_channel(rules, &channel, e))
		return -1;
	ask(channel, &q);
	ares_destroy(channel);
	return q.failed;
}
