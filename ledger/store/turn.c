#include "ledger/store/turn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "ledger/base/private.h"

/*
 * Whoever holds `next` is the next one: all others wait for `next`, so they
 * cannot overtake. The kernel releases both locks when their holder dies.
 */
struct turn {
	int next;
	int turn;
};

static int
lock_open(const char *dir, const char *name, struct err *e)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		abort();
	fd = private_open(AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		err_errno(e, &err_unavailable, "cannot open %s", path);
	free(path);
	return fd;
}

int
turn_open(const char *dir, struct turn **out, struct err *e)
{
	struct turn *t = malloc(sizeof(*t));

	if (!t)
		abort();
	t->turn = -1;
	t->next = lock_open(dir, "next", e);
	if (t->next >= 0)
		t->turn = lock_open(dir, "turn", e);
	if (t->turn < 0) {
		turn_close(t);
		return -1;
	}
	*out = t;
	return 0;
}

void
turn_close(struct turn *t)
{
	if (!t)
		return;
	if (t->turn >= 0)
		close(t->turn);
	if (t->next >= 0)
		close(t->next);
	free(t);
}

static int
lock(int fd, int how)
{
	int rc;

	do
		rc = flock(fd, how);
	while (rc && errno == EINTR);
	return rc;
}

int
turn_take(struct turn *t, struct err *e)
{
	if (lock(t->next, LOCK_EX))
		return err_errno(
		    e, &err_unavailable, "cannot wait for the turn");
	if (lock(t->turn, LOCK_EX)) {
		err_errno(e, &err_unavailable, "cannot take the turn");
		lock(t->next, LOCK_UN);
		return -1;
	}
	lock(t->next, LOCK_UN);
	return 0;
}

bool
turn_try(struct turn *t)
{
	bool got = false;

	if (lock(t->next, LOCK_EX | LOCK_NB))
		return false;
	got = lock(t->turn, LOCK_EX | LOCK_NB) == 0;
	lock(t->next, LOCK_UN);
	return got;
}

void
turn_release(struct turn *t)
{
	lock(t->turn, LOCK_UN);
}

bool
turn_wanted(struct turn *t)
{
	if (lock(t->next, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK;
	lock(t->next, LOCK_UN);
	return false;
}
