#include "ledger/base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger/base/instant.h"

static int
set_files(posix_spawn_file_actions_t *files, int in, int out, bool with_errors)
{
	int failed;

	if (in < 0)
		failed = posix_spawn_file_actions_addopen(
		    files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	else
		failed =
		    posix_spawn_file_actions_adddup2(files, in, STDIN_FILENO);
	return failed ||
	       posix_spawn_file_actions_adddup2(files, out, STDOUT_FILENO) ||
	       (with_errors && posix_spawn_file_actions_adddup2(
				   files, out, STDERR_FILENO)) ||
	       posix_spawn_file_actions_addclosefrom_np(
		   files, STDERR_FILENO + 1);
}

/* What the front ignores or blocks would stay so in another program. */
static int
set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	return posix_spawnattr_setsigmask(attributes, &none) ||
	       posix_spawnattr_setsigdefault(attributes, &all) ||
	       posix_spawnattr_setpgroup(attributes, 0) ||
	       posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK |
							POSIX_SPAWN_SETSIGDEF |
							POSIX_SPAWN_SETPGROUP);
}

/* posix_spawnp says const of neither list, and changes neither. */
static char *const *
as_list(const char *const *list)
{
	union {
		const char *const *in;
		char *const *out;
	} u = { .in = list };

	return u.out;
}

static int
spawn(const char *const *argv, const char *const *environment, int in, int out,
    bool with_errors, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	int cause = ENOMEM;

	if (posix_spawn_file_actions_init(&files))
		return cause;
	if (posix_spawnattr_init(&attributes)) {
		posix_spawn_file_actions_destroy(&files);
		return cause;
	}
	if (!set_files(&files, in, out, with_errors) &&
	    !set_attributes(&attributes))
		cause = posix_spawnp(pid, argv[0], &files, &attributes,
		    as_list(argv), as_list(environment));
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return cause;
}

int
child_start(const char *const *argv, const char *const *environment, int in,
    bool with_errors, struct child *child, struct err *e)
{
	int ends[2], cause;

	*child = (struct child){ .out = -1 };
	if (pipe2(ends, O_CLOEXEC))
		return err_errno(e, &err_unavailable, "no pipe");
	cause = spawn(argv, environment, in, ends[1], with_errors, &child->pid);
	close(ends[1]);
	if (cause == 0) {
		child->out = ends[0];
		return 0;
	}
	close(ends[0]);
	child->pid = 0;
	errno = cause;
	return err_errno(e, cause == ENOENT ? &err_not_found : &err_unavailable,
	    "cannot run %s", argv[0]);
}

void
child_end(struct child *child)
{
	if (child->pid <= 0)
		return;
	kill(-child->pid, SIGKILL);
	while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	close(child->out);
	*child = (struct child){ .out = -1 };
}

static int
left_ms(int64_t deadline_us)
{
	int64_t left =
	    (deadline_us - clock_system.steady(&clock_system).us) / 1000;

	return left > 0 ? (int)left : 0;
}

/* Whether it can be read before the deadline. */
static bool
await(int fd, int64_t deadline_us)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n;

	do
		n = poll(&p, 1, left_ms(deadline_us));
	while (n < 0 && errno == EINTR);
	return n == 1;
}

/* What does not fit is read and dropped, so that the child is never stuck. */
static bool
read_all(int fd, int64_t deadline_us, char *said, size_t room)
{
	char bytes[4096];
	size_t n = 0;
	ssize_t got;

	said[0] = '\0';
	while (await(fd, deadline_us)) {
		got = read(fd, bytes, sizeof bytes);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0;
		for (ssize_t i = 0; i < got && n + 1 < room; i++)
			said[n++] = bytes[i];
		said[n] = '\0';
	}
	return false;
}

int
child_finish(struct child *child, int64_t seconds, char *said, size_t room,
    int *status, struct err *e)
{
	int64_t deadline_us =
	    clock_system.steady(&clock_system).us + seconds * 1000000;
	int fd = pidfd_open(child->pid, 0);
	bool ended = fd >= 0 && read_all(child->out, deadline_us, said, room) &&
		     await(fd, deadline_us);

	if (fd >= 0)
		close(fd);
	/* Not waited for yet, so its group's number is nobody else's. */
	if (ended)
		kill(-child->pid, SIGKILL);
	if (ended && waitpid(child->pid, status, 0) == child->pid) {
		close(child->out);
		*child = (struct child){ .out = -1 };
		return 0;
	}
	child_end(child);
	return err_set(e, &err_unavailable,
	    "it did not end within %lld seconds", (long long)seconds);
}
