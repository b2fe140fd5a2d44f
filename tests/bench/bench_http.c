/*
 * A load generator for HTTP/1.1 with keep-alive: N connections, each with one
 * request at a time, for some seconds. Prints one line of JSON with rate and
 * latencies. Any reply but a 2xx, and any broken connection, is a failure: the
 * first is printed, and the exit status is 1.
 *
 *	bench_http [option…] HOST PORT METHOD PATH
 *		-c connections (1)    -s seconds (5)    -w seconds before (0.5)
 *		-n most requests      -H 'Name: value'  -b body file
 *		-p file of paths, taken in turn instead of PATH
 *		-1 only waits for the first 2xx and prints when it came, in
 *		   microseconds since 1970
 *
 * {ref} in headers and body becomes a reference that no other request has.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define REQUEST_MAX     65536
#define REPLY_MAX       262144
#define CONNECTIONS_MAX 1024
#define PATHS_MAX       100000
#define GIVE_UP_S       30

static struct {
	struct sockaddr_in address;
	const char *method, *path, *host;
	char headers[4096], body[REQUEST_MAX / 2];
	char *paths[PATHS_MAX];
	size_t n_paths;
	size_t connections;
	double seconds, before;
	long most;
	bool first;
} o = { .connections = 1, .seconds = 5, .before = 0.5, .most = 1L << 40 };

struct connection {
	int fd;
	double sent_at; /* 0: idle */
	size_t n;       /* bytes of the reply so far */
	char reply[REPLY_MAX + 1];
};

static struct connection *connections;
static int epoll_fd;
static double *samples; /* seconds */
static size_t n_samples, max_samples;
static long sent, failed, done_early;
static unsigned run_mark;
static double measure_from, stop_at;

static double
now_s(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "bench_http: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void
fail(const struct connection *c, const char *what)
{
	if (failed++ == 0)
		fprintf(stderr, "bench_http: %s: %.2000s\n", what, c->reply);
}

static void
read_text(const char *path, char *out, size_t max)
{
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(out, 1, max - 1, f) : 0;

	if (!f || ferror(f))
		die(path);
	out[n] = '\0';
	fclose(f);
}

static void
read_paths(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[1024];

	if (!f)
		die(path);
	while (o.n_paths < PATHS_MAX && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\r\n")] = '\0';
		o.paths[o.n_paths++] = strdup(line);
	}
	fclose(f);
	if (o.n_paths == 0)
		die("no path");
}

/* Appends text with {ref} replaced; at most max bytes with what is there. */
static size_t
append(char *out, size_t n, size_t max, const char *text, const char *ref)
{
	size_t ref_n = strlen(ref);

	while (*text && n + ref_n + 1 < max)
		if (strncmp(text, "{ref}", 5) == 0) {
			memcpy(out + n, ref, ref_n);
			n += ref_n;
			text += 5;
		} else {
			out[n++] = *text++;
		}
	out[n] = '\0';
	return n;
}

static size_t
make_request(char *out)
{
	static char body[REQUEST_MAX / 2];
	const char *path =
	    o.n_paths ? o.paths[(size_t)sent % o.n_paths] : o.path;
	size_t body_n, n;
	char ref[32];

	snprintf(ref, sizeof ref, "B%x-%08ld", run_mark, sent);
	body_n = append(body, 0, sizeof body, o.body, ref);
	n = (size_t)snprintf(out, REQUEST_MAX / 4,
	    "%s %s HTTP/1.1\r\nHost: %s\r\n", o.method, path, o.host);
	if (body_n > 0)
		n += (size_t)snprintf(out + n, 100,
		    "Content-Type: application/json\r\n"
		    "Content-Length: %zu\r\n",
		    body_n);
	n = append(out, n, REQUEST_MAX / 2, o.headers, ref);
	n = append(out, n, REQUEST_MAX, "\r\n", ref);
	memcpy(out + n, body, body_n);
	return n + body_n;
}

static bool
connection_open(struct connection *c)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };
	int on = 1;

	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		die("socket");
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (connect(c->fd, (struct sockaddr *)&o.address, sizeof o.address) ||
	    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &event)) {
		close(c->fd);
		c->fd = -1;
		return false;
	}
	return true;
}

static void
connection_close(struct connection *c)
{
	close(c->fd);
	c->fd = -1;
	c->sent_at = 0;
}

static void
send_next(struct connection *c)
{
	static char request[REQUEST_MAX + 1];
	size_t n, at = 0;

	if (sent >= o.most || now_s(CLOCK_MONOTONIC) >= stop_at)
		return;
	if (c->fd < 0 && !connection_open(c)) {
		c->reply[0] = '\0';
		fail(c, "cannot connect");
		return;
	}
	n = make_request(request);
	sent++;
	c->n = 0;
	c->sent_at = now_s(CLOCK_MONOTONIC);
	while (at < n) {
		ssize_t k = send(c->fd, request + at, n - at, MSG_NOSIGNAL);

		if (k < 0 && errno != EINTR) {
			fail(c, "cannot send");
			connection_close(c);
			return;
		}
		at += k > 0 ? (size_t)k : 0;
	}
}

/* Whether the reply has come whole. */
static bool
is_whole(const struct connection *c)
{
	const char *end = strstr(c->reply, "\r\n\r\n");
	const char *length;

	if (!end)
		return false;
	length = strcasestr(c->reply, "\r\nContent-Length:");
	if (length && length < end) {
		size_t n = strtoul(length + 17, NULL, 10);

		return c->n >= (size_t)(end + 4 - c->reply) + n;
	}
	if (strcasestr(c->reply, "\r\nTransfer-Encoding: chunked"))
		return c->n >= 5 &&
		       strcmp(c->reply + c->n - 5, "0\r\n\r\n") == 0;
	return strncmp(c->reply, "HTTP/1.1 204", 12) == 0;
}

static void
keep_sample(double from, double to)
{
	if (from < measure_from) {
		done_early++;
		return;
	}
	if (n_samples == max_samples) {
		max_samples = max_samples ? 2 * max_samples : 65536;
		samples = realloc(samples, max_samples * sizeof *samples);
		if (!samples)
			die("samples");
	}
	samples[n_samples++] = to - from;
}

static void
finish(struct connection *c)
{
	double now = now_s(CLOCK_MONOTONIC);

	if (strncmp(c->reply, "HTTP/1.1 2", 10) != 0)
		fail(c, "reply");
	else
		keep_sample(c->sent_at, now);
	c->sent_at = 0;
	if (strcasestr(c->reply, "\r\nConnection: close"))
		connection_close(c);
	send_next(c);
}

static void
receive(struct connection *c)
{
	ssize_t n = recv(c->fd, c->reply + c->n, REPLY_MAX - c->n, 0);

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		/* An idle connection may be closed at any time. */
		if (c->sent_at > 0)
			fail(c, "connection ended early");
		connection_close(c);
		return;
	}
	c->n += (size_t)n;
	c->reply[c->n] = '\0';
	if (is_whole(c))
		finish(c);
}

static bool
any_open_request(void)
{
	for (size_t i = 0; i < o.connections; i++)
		if (connections[i].sent_at > 0)
			return true;
	return false;
}

static void
run(void)
{
	double start = now_s(CLOCK_MONOTONIC);

	run_mark = (unsigned)(now_s(CLOCK_REALTIME) * 100);
	measure_from = start + o.before;
	stop_at = measure_from + o.seconds;
	for (size_t i = 0; i < o.connections; i++)
		send_next(&connections[i]);
	while (any_open_request() && failed < 100) {
		struct epoll_event events[64];
		int n = epoll_wait(epoll_fd, events, 64, 1000);

		for (int i = 0; i < n; i++)
			receive(events[i].data.ptr);
		if (now_s(CLOCK_MONOTONIC) > stop_at + GIVE_UP_S) {
			fprintf(stderr, "bench_http: a reply never came\n");
			failed++;
			return;
		}
	}
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double
sample_ms(size_t per_mille)
{
	return n_samples ? samples[(n_samples - 1) * per_mille / 1000] * 1e3
			 : 0;
}

static void
report(double spent)
{
	if (n_samples > 0)
		qsort(samples, n_samples, sizeof *samples, compare);
	printf("{\"clients\":%zu,\"requests\":%zu,\"failed\":%ld,"
	       "\"rate\":%.1f,\"p50_ms\":%.3f,\"p99_ms\":%.3f,"
	       "\"max_ms\":%.3f}\n",
	    o.connections, n_samples, failed, (double)n_samples / spent,
	    sample_ms(500), sample_ms(990), sample_ms(1000));
}

/* Tries every millisecond. */
static int
await_first(void)
{
	struct connection *c = &connections[0];

	for (int i = 0; i < GIVE_UP_S * 1000; i++) {
		stop_at = now_s(CLOCK_MONOTONIC) + GIVE_UP_S;
		c->reply[0] = '\0';
		if (c->fd < 0 && connection_open(c)) {
			send_next(c);
			while (c->sent_at > 0 && !is_whole(c)) {
				ssize_t n = recv(c->fd, c->reply + c->n,
				    REPLY_MAX - c->n, 0);

				if (n <= 0)
					break;
				c->n += (size_t)n;
				c->reply[c->n] = '\0';
			}
			connection_close(c);
		}
		if (strncmp(c->reply, "HTTP/1.1 2", 10) == 0) {
			printf("%.0f\n", now_s(CLOCK_REALTIME) * 1e6);
			return 0;
		}
		usleep(1000);
	}
	fprintf(stderr, "bench_http: no 2xx: %.500s\n", c->reply);
	return 1;
}

static void
add_header(const char *line)
{
	size_t n = strlen(o.headers);

	if ((size_t)snprintf(o.headers + n, sizeof o.headers - n, "%s\r\n",
		line) >= sizeof o.headers - n)
		die("headers");
}

static void
read_options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "c:s:w:n:H:b:p:1")) != -1)
		switch (c) {
		case 'c':
			o.connections = strtoul(optarg, NULL, 10);
			break;
		case 's':
			o.seconds = strtod(optarg, NULL);
			break;
		case 'w':
			o.before = strtod(optarg, NULL);
			break;
		case 'n':
			o.most = strtol(optarg, NULL, 10);
			break;
		case 'H':
			add_header(optarg);
			break;
		case 'b':
			read_text(optarg, o.body, sizeof o.body);
			break;
		case 'p':
			read_paths(optarg);
			break;
		case '1':
			o.first = true;
			break;
		default:
			exit(2);
		}
	if (argc - optind != 4 || o.connections < 1 ||
	    o.connections > CONNECTIONS_MAX) {
		fputs("usage: bench_http [option…] HOST PORT METHOD PATH\n",
		    stderr);
		exit(2);
	}
	o.host = argv[optind];
	o.method = argv[optind + 2];
	o.path = argv[optind + 3];
	o.address.sin_family = AF_INET;
	o.address.sin_port =
	    htons((uint16_t)strtoul(argv[optind + 1], NULL, 10));
	if (inet_pton(AF_INET, o.host, &o.address.sin_addr) != 1)
		die("HOST must be an IPv4 address");
}

int
main(int argc, char **argv)
{
	double spent;

	read_options(argc, argv);
	connections = calloc(o.connections, sizeof *connections);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!connections || epoll_fd < 0)
		die("start");
	for (size_t i = 0; i < o.connections; i++)
		connections[i].fd = -1;
	if (o.first)
		return await_first();
	run();
	spent = now_s(CLOCK_MONOTONIC) - measure_from;
	report(spent > 0 ? spent : o.seconds);
	return failed > 0 || n_samples + (size_t)done_early < (size_t)sent;
}
