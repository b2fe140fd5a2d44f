/* As hash.c, and for its reasons, with OpenSSL's low-level functions. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "ledger/crypto/sha1_stream.h"

#include <openssl/sha.h>
#include <stdlib.h>

struct sha1_stream {
	SHA_CTX ctx;
};

struct sha1_stream *
sha1_stream_new(void)
{
	struct sha1_stream *s = malloc(sizeof *s);

	if (!s)
		abort();
	SHA1_Init(&s->ctx);
	return s;
}

void
sha1_stream_add(struct sha1_stream *s, struct str bytes)
{
	SHA1_Update(&s->ctx, bytes.p, bytes.n);
}

void
sha1_stream_end(struct sha1_stream *s, uint8_t out[SHA1_BYTES])
{
	SHA1_Final(out, &s->ctx);
	free(s);
}
