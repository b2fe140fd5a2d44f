/*
 * Who is asked over TLS in a test: a server on a port of 127.0.0.1 of its own,
 * in a thread, with a certificate for the name hook.test. It gives each request
 * the same reply and keeps the last one.
 */
#ifndef TESTS_SUPPORT_TLS_PEER_H
#define TESTS_SUPPORT_TLS_PEER_H

#include <stddef.h>

struct tls_peer;

/* Key and certificate go to the directory, as key.pem and ca.pem. The reply is
 * borrowed: status line, headers, body. */
struct tls_peer *tls_peer_start(const char *dir, const char *reply);
void tls_peer_stop(struct tls_peer *);

int tls_peer_port(const struct tls_peer *);

/* Connections that came, whatever became of them. */
size_t tls_peer_connections(struct tls_peer *);

/* The last request as it came, and the name it asked for before (SNI). Read
 * them when a reply has come. */
const char *tls_peer_request(struct tls_peer *);
const char *tls_peer_name(struct tls_peer *);

#endif
