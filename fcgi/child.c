#include "fcgi/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

static int
set_files(posix_spawn_file_actions_t *files, int in, int out)
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
    pid_t *pid)
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
	if (!set_files(&files, in, out) && !set_attributes(&attributes))
		cause = posix_spawnp(pid, argv[0], &files, &attributes,
		    as_list(argv), as_list(environment));
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return cause;
}

int
child_start(const char *const *argv, const char *const *environment, int in,
    struct child *child, struct err *e)
{
	int ends[2], cause;

	*child = (struct child){ .out = -1 };
	if (pipe2(ends, O_CLOEXEC))
		return err_errno(e, &err_unavailable, "no pipe");
	cause = spawn(argv, environment, in, ends[1], &child->pid);
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
