#include "tests/support/canned_transport.h"

#include <string.h>

static struct canned *
canned_of(struct transport *t)
{
	return (struct canned *)(void *)t; /* its first member */
}

static ssize_t
give(struct transport *t, void *out, size_t n)
{
	struct canned *c = canned_of(t);

	if (c->body.n == 0)
		return c->aborts ? -1 : 0;
	if (n > c->piece)
		n = c->piece;
	if (n > c->body.n)
		n = c->body.n;
	memcpy(out, c->body.p, n);
	c->body = str_slice(c->body, n, c->body.n);
	return (ssize_t)n;
}

static bool
keep(struct transport *t, struct str s)
{
	buf_add(&canned_of(t)->reply, s);
	return true;
}

void
canned_init(struct canned *c, const char *const *params, struct str body)
{
	*c = (struct canned){
		.transport = { .params = params, .read = give, .write = keep },
		.body = body,
		.piece = SIZE_MAX,
	};
	buf_init(&c->reply, 64u << 20);
}

void
canned_fini(struct canned *c)
{
	buf_fini(&c->reply);
}
