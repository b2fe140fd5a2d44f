#include "tests/support/resolver.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MESSAGE_MAX 4096
#define HEADER      12
#define TYPE_A      1
#define TYPE_CNAME  5
#define TYPE_AAAA   28
#define RECORD_MAX  128

struct resolver {
	int fd;
	char address[32];
	pthread_t thread;
	pthread_mutex_t lock;
	char records[RESOLVER_RECORDS][RECORD_MAX];
	size_t n, queries;
	bool stopping;
};

struct message {
	uint8_t b[MESSAGE_MAX];
	size_t n;
	size_t owner; /* of the next record: an offset */
	uint16_t type;
};

static void
add_u16(struct message *m, uint16_t v)
{
	m->b[m->n++] = (uint8_t)(v >> 8);
	m->b[m->n++] = (uint8_t)v;
}

static void
begin_record(struct message *m, uint16_t type, size_t length)
{
	add_u16(m, (uint16_t)(0xc000 | m->owner));
	add_u16(m, type);
	add_u16(m, 1);
	add_u16(m, 0); /* a life of zero seconds */
	add_u16(m, 0);
	add_u16(m, (uint16_t)length);
	m->b[7]++;
}

static void
add_name(struct message *m, const char *name)
{
	size_t length = strlen(name) + 2;

	begin_record(m, TYPE_CNAME, length);
	m->owner = m->n;
	while (*name) {
		size_t n = strcspn(name, ".");

		m->b[m->n++] = (uint8_t)n;
		memcpy(m->b + m->n, name, n);
		m->n += n;
		name += n + (name[n] == '.');
	}
	m->b[m->n++] = 0;
}

static void
add_record(struct message *m, const char *record)
{
	bool is_v6 = strchr(record, ':') != NULL;
	size_t length = is_v6 ? 16 : 4;
	uint8_t bytes[16];

	if (strncmp(record, "CNAME ", 6) == 0) {
		add_name(m, record + 6);
	} else if (inet_pton(is_v6 ? AF_INET6 : AF_INET, record, bytes) == 1 &&
		   m->type == (is_v6 ? TYPE_AAAA : TYPE_A)) {
		begin_record(m, m->type, length);
		memcpy(m->b + m->n, bytes, length);
		m->n += length;
	}
}

/* Where the question ends; its type is in the four bytes before. */
static size_t
question_end(const struct message *m)
{
	size_t i = HEADER;

	while (i < m->n && m->b[i])
		i += m->b[i] + 1U;
	return i + 5;
}

static bool
is(const struct resolver *r, const char *word)
{
	return r->n > 0 && strcmp(r->records[0], word) == 0;
}

/* False: nothing is said. */
static bool
answer(const struct resolver *r, struct message *m)
{
	size_t end = question_end(m);

	if (end > m->n || is(r, "SILENT"))
		return false;
	m->n = end;
	m->owner = HEADER;
	m->type = (uint16_t)(m->b[end - 4] << 8 | m->b[end - 3]);
	m->b[2] = 0x81;
	m->b[3] = (uint8_t)(0x80 | (is(r, "SERVFAIL")      ? 2
				       : is(r, "NXDOMAIN") ? 3
							   : 0));
	memset(m->b + 6, 0, 6);
	for (size_t i = 0; i < r->n; i++)
		add_record(m, r->records[i]);
	return true;
}

static void *
serve(void *arg)
{
	struct resolver *r = arg;

	for (;;) {
		struct sockaddr_in from;
		socklen_t length = sizeof from;
		struct message m = { 0 };
		ssize_t n = recvfrom(r->fd, m.b, sizeof m.b / 2, 0,
		    (struct sockaddr *)&from, &length);
		bool said, stopping;

		pthread_mutex_lock(&r->lock);
		stopping = r->stopping;
		m.n = n > 0 ? (size_t)n : 0;
		said = !stopping && m.n > HEADER && answer(r, &m);
		r->queries += m.n > HEADER;
		pthread_mutex_unlock(&r->lock);
		if (stopping)
			return NULL;
		if (said)
			sendto(r->fd, m.b, m.n, 0, (struct sockaddr *)&from,
			    length);
	}
}

static _Noreturn void
die(const char *what)
{
	perror(what);
	abort();
}

struct resolver *
resolver_start(void)
{
	struct resolver *r = calloc(1, sizeof *r);
	struct sockaddr_in own = { .sin_family = AF_INET };
	socklen_t length = sizeof own;

	if (!r)
		die("resolver");
	own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	r->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (r->fd < 0 || bind(r->fd, (struct sockaddr *)&own, length) ||
	    getsockname(r->fd, (struct sockaddr *)&own, &length))
		die("resolver");
	snprintf(
	    r->address, sizeof r->address, "127.0.0.1:%d", ntohs(own.sin_port));
	pthread_mutex_init(&r->lock, NULL);
	if (pthread_create(&r->thread, NULL, serve, r))
		die("resolver");
	return r;
}

/* A byte to itself wakes the thread. */
void
resolver_stop(struct resolver *r)
{
	struct sockaddr_in own;
	socklen_t length = sizeof own;

	pthread_mutex_lock(&r->lock);
	r->stopping = true;
	pthread_mutex_unlock(&r->lock);
	getsockname(r->fd, (struct sockaddr *)&own, &length);
	sendto(r->fd, "", 1, 0, (struct sockaddr *)&own, length);
	pthread_join(r->thread, NULL);
	pthread_mutex_destroy(&r->lock);
	close(r->fd);
	free(r);
}

const char *
resolver_address(const struct resolver *r)
{
	return r->address;
}

void
resolver_answer(struct resolver *r, const char *const *records, size_t n)
{
	pthread_mutex_lock(&r->lock);
	r->n = n < RESOLVER_RECORDS ? n : RESOLVER_RECORDS;
	for (size_t i = 0; i < r->n; i++)
		snprintf(r->records[i], RECORD_MAX, "%s", records[i]);
	pthread_mutex_unlock(&r->lock);
}

size_t
resolver_queries(struct resolver *r)
{
	size_t n;

	pthread_mutex_lock(&r->lock);
	n = r->queries;
	pthread_mutex_unlock(&r->lock);
	return n;
}
