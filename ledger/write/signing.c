#include "ledger/write/writer.h"

/* A helper that sleeps is woken only for so many events: waking costs about
 * as much as a few signatures. */
#define WORTH_WAKING 8

void
signing_init(struct signing *s)
{
	*s = (struct signing){ 0 };
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->more, NULL);
	pthread_cond_init(&s->less, NULL);
}

void
signing_fini(struct signing *s)
{
	pthread_cond_destroy(&s->less);
	pthread_cond_destroy(&s->more);
	pthread_mutex_destroy(&s->lock);
}

void
signing_begin(struct signing *s, const struct signer *signer,
    const struct event *events, struct signature *signatures,
    struct digest *leaves)
{
	pthread_mutex_lock(&s->lock);
	s->signer = signer;
	s->events = events;
	s->signatures = signatures;
	s->leaves = leaves;
	s->offered = s->taken = s->done = 0;
	s->closed = false;
	err_clear(&s->err);
	pthread_mutex_unlock(&s->lock);
}

void
signing_offer(struct signing *s, size_t n)
{
	pthread_mutex_lock(&s->lock);
	s->offered = n;
	if (s->idle > 0 && s->offered - s->taken >= WORTH_WAKING)
		pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&s->lock);
}

/* Signs the next event; called and returns with the lock held. */
static void
sign_next(struct signing *s)
{
	size_t i = s->taken++;
	struct err e = { 0 };
	int rc;

	pthread_mutex_unlock(&s->lock);
	rc = signer_sign(
	    s->signer, SIGNS_EVENT, s->events[i].bytes, &s->signatures[i], &e);
	s->leaves[i] = merkle_leaf(s->events[i].bytes);
	pthread_mutex_lock(&s->lock);
	if (rc && s->err.kind == NULL)
		s->err = e;
	s->done++;
}

void
signing_enlist(struct signing *s)
{
	pthread_mutex_lock(&s->lock);
	s->helpers++;
	pthread_mutex_unlock(&s->lock);
}

void
signing_help(struct signing *s)
{
	pthread_mutex_lock(&s->lock);
	while (s->taken < s->offered || !s->closed) {
		if (s->taken < s->offered) {
			sign_next(s);
			continue;
		}
		s->idle++;
		pthread_cond_wait(&s->more, &s->lock);
		s->idle--;
	}
	s->helpers--;
	pthread_cond_signal(&s->less);
	pthread_mutex_unlock(&s->lock);
}

int
signing_finish(struct signing *s, struct err *e)
{
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	s->closed = true;
	pthread_cond_broadcast(&s->more);
	while (s->taken < s->offered)
		sign_next(s);
	while (s->done < s->offered || s->helpers > 0)
		pthread_cond_wait(&s->less, &s->lock);
	if (s->err.kind != NULL)
		rc = err_set(e, s->err.kind, "%s", s->err.detail);
	pthread_mutex_unlock(&s->lock);
	return rc;
}
