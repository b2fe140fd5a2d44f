#include "tests/support/tls_peer.h"

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUEST_MAX     8192
#define SERVER_NAME_MAX 256
#define LOOK_MS         50 /* between looks at whether to stop */

struct tls_peer {
	int fd, port;
	const char *reply;
	SSL_CTX *tls;
	pthread_t thread;
	pthread_mutex_t lock;
	size_t connections;
	char request[REQUEST_MAX], name[SERVER_NAME_MAX];
	int stopping;
};

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "tls_peer: %s\n", what);
	abort();
}

static void
make_certificate(const char *dir)
{
	char command[1024];

	snprintf(command, sizeof command,
	    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256"
	    " -nodes -days 2 -subj /CN=hook.test"
	    " -addext subjectAltName=DNS:hook.test"
	    " -keyout %s/key.pem -out %s/ca.pem 2>%s/openssl.log",
	    dir, dir, dir);
	if (system(command))
		die("openssl makes no certificate");
}

static SSL_CTX *
make_context(const char *dir)
{
	SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
	char path[512];

	snprintf(path, sizeof path, "%s/ca.pem", dir);
	if (!tls ||
	    SSL_CTX_use_certificate_file(tls, path, SSL_FILETYPE_PEM) <= 0)
		die("no certificate");
	snprintf(path, sizeof path, "%s/key.pem", dir);
	if (SSL_CTX_use_PrivateKey_file(tls, path, SSL_FILETYPE_PEM) <= 0)
		die("no key");
	return tls;
}

/* Whole when the empty line came and the body that it announced. */
static int
is_whole(const char *request)
{
	const char *body = strstr(request, "\r\n\r\n");
	const char *length = strstr(request, "Content-Length: ");

	return body &&
	       (!length || strlen(body + 4) >= strtoul(length + 16, NULL, 10));
}

static void
talk(struct tls_peer *p, SSL *ssl)
{
	char request[REQUEST_MAX] = "";
	const char *name;
	size_t n = 0;
	int more;

	if (SSL_accept(ssl) <= 0)
		return;
	while (!is_whole(request) && n + 1 < sizeof request &&
	       (more = SSL_read(
		    ssl, request + n, (int)(sizeof request - n - 1))) > 0)
		request[n += (size_t)more] = '\0';
	name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
	pthread_mutex_lock(&p->lock);
	snprintf(p->request, sizeof p->request, "%s", request);
	snprintf(p->name, sizeof p->name, "%s", name ? name : "");
	pthread_mutex_unlock(&p->lock);
	SSL_write(ssl, p->reply, (int)strlen(p->reply));
	SSL_shutdown(ssl);
}

static void
take(struct tls_peer *p)
{
	int fd = accept(p->fd, NULL, NULL);
	SSL *ssl;

	if (fd < 0)
		return;
	pthread_mutex_lock(&p->lock);
	p->connections++;
	pthread_mutex_unlock(&p->lock);
	ssl = SSL_new(p->tls);
	if (!ssl || !SSL_set_fd(ssl, fd))
		die("no memory");
	talk(p, ssl);
	SSL_free(ssl);
	close(fd);
}

static void *
serve(void *arg)
{
	struct tls_peer *p = arg;
	int stopping = 0;

	while (!stopping) {
		struct pollfd look = { .fd = p->fd, .events = POLLIN };

		if (poll(&look, 1, LOOK_MS) > 0)
			take(p);
		pthread_mutex_lock(&p->lock);
		stopping = p->stopping;
		pthread_mutex_unlock(&p->lock);
	}
	return NULL;
}

struct tls_peer *
tls_peer_start(const char *dir, const char *reply)
{
	struct tls_peer *p = calloc(1, sizeof *p);
	struct sockaddr_in own = { .sin_family = AF_INET };
	socklen_t length = sizeof own;

	if (!p)
		die("no memory");
	make_certificate(dir);
	p->tls = make_context(dir);
	p->reply = reply;
	own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	p->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (p->fd < 0 || bind(p->fd, (struct sockaddr *)&own, length) ||
	    listen(p->fd, 16) ||
	    getsockname(p->fd, (struct sockaddr *)&own, &length))
		die("no port");
	p->port = ntohs(own.sin_port);
	pthread_mutex_init(&p->lock, NULL);
	if (pthread_create(&p->thread, NULL, serve, p))
		die("no thread");
	return p;
}

void
tls_peer_stop(struct tls_peer *p)
{
	pthread_mutex_lock(&p->lock);
	p->stopping = 1;
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	pthread_mutex_destroy(&p->lock);
	SSL_CTX_free(p->tls);
	close(p->fd);
	free(p);
}

int
tls_peer_port(const struct tls_peer *p)
{
	return p->port;
}

size_t
tls_peer_connections(struct tls_peer *p)
{
	size_t n;

	pthread_mutex_lock(&p->lock);
	n = p->connections;
	pthread_mutex_unlock(&p->lock);
	return n;
}

const char *
tls_peer_request(struct tls_peer *p)
{
	return p->request;
}

const char *
tls_peer_name(struct tls_peer *p)
{
	return p->name;
}
