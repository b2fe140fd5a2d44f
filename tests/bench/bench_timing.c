/*
 * How long requests of several kinds take, one at a time, each kind as often as
 * the others and in an order that chance decides, so that whatever else the
 * machine does hits all alike. Over a few connections that are kept. Prints
 * "kind nanoseconds status" for every request.
 *
 *	bench_timing PORT ROUNDS SEED <REQUESTS
 *
 * REQUESTS is a list of "kind bytes\n", and so many bytes of a request as it is
 * sent, of 127.0.0.1. Each round sends one request of each kind. The clock
 * starts before the request is sent and stops when the reply has come whole.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define KINDS_MAX     64
#define OF_A_KIND_MAX 256
#define REQUEST_MAX   4096
#define REPLY_MAX     65536
#define CONNECTIONS   4
#define UNCOUNTED     20 /* rounds before the first that counts */
#define REPLY_SECONDS 30

struct request {
	size_t n;
	char *bytes;
};

static struct kind {
	size_t n;
	struct request requests[OF_A_KIND_MAX];
} kinds[KINDS_MAX];
static size_t n_kinds;

static struct sockaddr_in address;
static int sockets[CONNECTIONS];
static char reply[REPLY_MAX + 1];
static uint64_t random_state;

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "bench_timing: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* SplitMix64 (Steele, Lea and Flood, 2014). */
static size_t
pick(size_t n)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (size_t)((z ^ z >> 31) % n);
}

static void
read_request(struct request *out, size_t n)
{
	*out = (struct request){ n, malloc(n) };
	if (!out->bytes || fread(out->bytes, 1, n, stdin) != n)
		die("a request ends early");
}

static void
read_requests(void)
{
	size_t kind, n;

	while (scanf("%zu %zu", &kind, &n) == 2) {
		if (kind >= KINDS_MAX || n > REQUEST_MAX ||
		    kinds[kind].n == OF_A_KIND_MAX || getchar() != '\n')
			die("a request is too large, or there are too many");
		read_request(&kinds[kind].requests[kinds[kind].n++], n);
		if (kind >= n_kinds)
			n_kinds = kind + 1;
	}
	for (size_t i = 0; i < n_kinds; i++)
		if (kinds[i].n == 0)
			die("a kind has no request");
	if (n_kinds == 0)
		die("no request");
}

static int
open_connection(void)
{
	struct timeval wait = { .tv_sec = REPLY_SECONDS };
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) ||
	    connect(fd, (struct sockaddr *)&address, sizeof address))
		die("cannot connect");
	return fd;
}

static void
send_all(int fd, const struct request *r)
{
	for (size_t at = 0; at < r->n;) {
		ssize_t k = send(fd, r->bytes + at, r->n - at, MSG_NOSIGNAL);

		if (k < 0 && errno != EINTR)
			die("cannot send");
		at += k > 0 ? (size_t)k : 0;
	}
}

/* Whether the reply has come whole: the service names the length of all. */
static int
is_whole(size_t n)
{
	const char *end = strstr(reply, "\r\n\r\n");
	const char *length = strcasestr(reply, "\r\nContent-Length:");

	return end && length && length < end &&
	       n >= (size_t)(end + 4 - reply) + strtoul(length + 17, NULL, 10);
}

static void
receive(int fd)
{
	size_t n = 0;

	do {
		ssize_t k = recv(fd, reply + n, REPLY_MAX - n, 0);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			die("a reply did not come whole");
		n += (size_t)k;
		reply[n] = '\0';
	} while (!is_whole(n));
}

static void
measure(size_t kind, int counts)
{
	const struct request *r = &kinds[kind].requests[pick(kinds[kind].n)];
	int *fd = &sockets[pick(CONNECTIONS)];
	uint64_t from, to;

	if (*fd < 0)
		*fd = open_connection();
	from = now_ns();
	send_all(*fd, r);
	receive(*fd);
	to = now_ns();
	if (counts)
		printf("%zu %llu %.3s\n", kind, (unsigned long long)(to - from),
		    reply + 9);
	if (strcasestr(reply, "\r\nConnection: close")) {
		close(*fd);
		*fd = -1;
	}
}

static void
run_round(int counts)
{
	size_t order[KINDS_MAX];

	for (size_t i = 0; i < n_kinds; i++)
		order[i] = i;
	for (size_t i = n_kinds; i > 1; i--) {
		size_t k = pick(i), swapped = order[k];

		order[k] = order[i - 1];
		order[i - 1] = swapped;
	}
	for (size_t i = 0; i < n_kinds; i++)
		measure(order[i], counts);
}

int
main(int argc, char **argv)
{
	long rounds;

	if (argc != 4) {
		fputs(
		    "usage: bench_timing PORT ROUNDS SEED <REQUESTS\n", stderr);
		return 2;
	}
	address = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	rounds = strtol(argv[2], NULL, 10);
	random_state = strtoull(argv[3], NULL, 10);
	read_requests();
	for (size_t i = 0; i < CONNECTIONS; i++)
		sockets[i] = -1;
	for (long i = -UNCOUNTED; i < rounds; i++)
		run_round(i >= 0);
	return 0;
}
