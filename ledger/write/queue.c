#include <sys/resource.h>
#include <unistd.h>

#include "ledger/write/writer.h"

void
ticket_push(struct ticket_list *list, struct ticket *t)
{
	t->next = NULL;
	if (list->last)
		list->last->next = t;
	else
		list->first = t;
	list->last = t;
}

struct ticket *
ticket_pop(struct ticket_list *list)
{
	struct ticket *t = list->first;

	if (t == NULL)
		return NULL;
	list->first = t->next;
	if (list->first == NULL)
		list->last = NULL;
	t->next = NULL;
	return t;
}

struct ticket *
queue_next(struct ledger *l)
{
	struct ticket *t;

	pthread_mutex_lock(&l->lock);
	t = ticket_pop(&l->waiting);
	if (t != NULL)
		l->n_waiting--;
	pthread_mutex_unlock(&l->lock);
	return t;
}

void
queue_put_back(struct ledger *l, struct ticket *t)
{
	pthread_mutex_lock(&l->lock);
	l->n_waiting++;
	t->next = l->waiting.first;
	l->waiting.first = t;
	if (l->waiting.last == NULL)
		l->waiting.last = t;
	pthread_mutex_unlock(&l->lock);
}

void
queue_enlist(struct ledger *l, struct ticket *t)
{
	signing_enlist(&l->signing);
	pthread_mutex_lock(&l->lock);
	t->state = TICKET_HELPS;
	pthread_cond_signal(&t->wake);
	pthread_mutex_unlock(&l->lock);
}

/* The refusals and receipts of the batch go out, with the lock held. A ticket
 * is gone the moment its thread sees it done. */
static void
answer(struct ledger *l, struct ticket_list *done)
{
	struct ticket *t;

	l->last_batch = 0;
	while ((t = ticket_pop(done)) != NULL) {
		l->last_batch++;
		t->state = TICKET_DONE;
		pthread_cond_signal(&t->wake);
	}
}

static void
fail_ticket(struct ticket *t, const struct err *why)
{
	t->result = -1;
	if (t->err)
		*t->err = *why;
}

/* Everyone waiting gets the same answer: the ledger is not ready. */
static void
fail_waiting(struct ledger *l, const struct err *why, struct ticket_list *done)
{
	struct ticket *t;

	while ((t = queue_next(l)) != NULL) {
		fail_ticket(t, why);
		ticket_push(done, t);
	}
}

/*
 * After an abandoned batch each command is tried once alone, so that a
 * poisonous one does not fail its neighbours.
 */
static void
retry_alone(struct ledger *l, struct ticket_list *abandoned,
    const struct err *why, struct ticket_list *done)
{
	bool alone = abandoned->first && abandoned->first->next == NULL;
	struct ticket *t;

	while ((t = ticket_pop(abandoned)) != NULL) {
		struct err e = { 0 };

		if (alone) {
			fail_ticket(t, why);
		} else if (ledger_ready(l, &e) || attempt_batch(l, t, &e)) {
			l->draft.tickets = (struct ticket_list){ 0 };
			fail_ticket(t, &e);
		} else {
			t = ticket_pop(&l->draft.tickets);
		}
		ticket_push(done, t);
	}
}

/* One batch with the turn held. */
static void
run_batch(struct ledger *l, struct ticket_list *done)
{
	struct ticket_list decided;
	struct err e = { 0 };

	if (ledger_ready(l, &e)) {
		fail_waiting(l, &e, done);
		return;
	}
	if (attempt_batch(l, NULL, &e) == 0) {
		*done = l->draft.tickets;
		l->draft.tickets = (struct ticket_list){ 0 };
		return;
	}
	decided = l->draft.tickets;
	l->draft.tickets = (struct ticket_list){ 0 };
	retry_alone(l, &decided, &e, done);
}

/*
 * Those whom the last batch answered are on their way with their next request.
 * A leader that began without them would settle a batch of two or three, at
 * the price of a whole one, while they queue. So it waits until most are here,
 * LINGER_US at most. One client alone never waits.
 */
#define LINGER_US 1500

static void
wait_for_company(struct ledger *l)
{
	struct timespec until;

	pthread_mutex_lock(&l->lock);
	l->wanted = l->last_batch - l->last_batch / 4;
	if (l->n_waiting < l->wanted) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += LINGER_US * 1000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		while (
		    l->n_waiting < l->wanted &&
		    pthread_cond_timedwait(&l->arrived, &l->lock, &until) == 0)
			;
	}
	l->wanted = 0;
	pthread_mutex_unlock(&l->lock);
}

/*
 * Everybody waits for the leader and its helper, so they go before the threads
 * that only parse or reply, where the process may raise its priority
 * (LimitNICE= in a systemd unit, or root); elsewhere nothing changes.
 */
#define LEADER_NICE (-10)

/* The priority before, for be_patient. */
static int
hurry(void)
{
	id_t me = (id_t)gettid();
	int before = getpriority(PRIO_PROCESS, me);

	setpriority(PRIO_PROCESS, me, LEADER_NICE);
	return before;
}

static void
be_patient(int before)
{
	setpriority(PRIO_PROCESS, (id_t)gettid(), before);
}

/* The leader's work: takes the turn for one batch, hands the lead on. */
static void
lead(struct ledger *l)
{
	struct ticket_list done = { 0 };
	struct err e = { 0 };
	bool half_full = false, near = false;
	uint64_t size = 0;
	int priority;

	wait_for_company(l);
	priority = hurry();
	if (ledger_take_turn(l, &e)) {
		fail_waiting(l, &e, &done);
	} else {
		run_batch(l, &done);
		half_full = journal_used(l->journal) > JOURNAL_BYTES / 2;
		near = high_water_is_near(l);
		size = l->position.size;
		ledger_release_turn(l);
	}
	pthread_mutex_lock(&l->lock);
	answer(l, &done);
	be_patient(priority);
	if (l->waiting.first != NULL) {
		l->waiting.first->state = TICKET_LEADS;
		pthread_cond_signal(&l->waiting.first->wake);
	} else {
		l->leading = false;
	}
	if (l->syncing)
		half_full = false;
	pthread_mutex_unlock(&l->lock);
	if (near)
		high_water_move(l, size);
	if (half_full)
		ledger_sync(l, NULL);
}

static void
wait_for_answer(struct ledger *l, struct ticket *t)
{
	int priority;

	while (t->state != TICKET_DONE) {
		if (t->state == TICKET_LEADS) {
			t->state = TICKET_WAITING;
			pthread_mutex_unlock(&l->lock);
			lead(l);
			pthread_mutex_lock(&l->lock);
		} else if (t->state == TICKET_HELPS) {
			t->state = TICKET_WAITING;
			pthread_mutex_unlock(&l->lock);
			priority = hurry();
			signing_help(&l->signing);
			be_patient(priority);
			pthread_mutex_lock(&l->lock);
		} else {
			pthread_cond_wait(&t->wake, &l->lock);
		}
	}
}

int
ledger_submit(
    struct ledger *l, const struct command *c, struct receipt *r, struct err *e)
{
	struct ticket t = { .command = c, .receipt = r, .err = e };

	*r = (struct receipt){ 0 };
	pthread_cond_init(&t.wake, NULL);
	pthread_mutex_lock(&l->lock);
	ticket_push(&l->waiting, &t);
	l->n_waiting++;
	if (l->wanted > 0 && l->n_waiting >= l->wanted)
		pthread_cond_signal(&l->arrived);
	if (!l->leading) {
		l->leading = true;
		t.state = TICKET_LEADS;
	}
	wait_for_answer(l, &t);
	pthread_mutex_unlock(&l->lock);
	pthread_cond_destroy(&t.wake);
	return t.result;
}
