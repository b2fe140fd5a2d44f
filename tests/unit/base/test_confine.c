/*
 * What is given up is gone for good, so each rule has a child of its own: it
 * gives up, tries what must fail and what must not, and its status tells.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger/base/child.h"
#include "ledger/base/confine.h"
#include "ledger/base/io.h"
#include "ledger/base/log.h"

enum { PASSED, FAILED, LACKING };

#define NEED(condition)                                                        \
	do {                                                                   \
		if (!(condition)) {                                            \
			fprintf(stderr, "%d: %s (%s)\n", __LINE__, #condition, \
			    strerror(errno));                                  \
			_exit(FAILED);                                         \
		}                                                              \
	} while (0)
#define REFUSED(call, cause) NEED((call) == -1 && errno == (cause))

static char folder[] = "/tmp/probity-confine-XXXXXX";

/* Borrowed until the fourth call after it. */
static const char *
in(const char *name)
{
	static char paths[4][128];
	static int which;

	which = (which + 1) % 4;
	snprintf(paths[which], sizeof paths[which], "%s/%s", folder, name);
	return paths[which];
}

static int
setup(void **state)
{
	(void)state;
	if (!mkdtemp(folder) || mkdir(in("mine"), 0700) ||
	    mkdir(in("mine/sub"), 0700) || mkdir(in("theirs"), 0700))
		return -1;
	close(open(in("theirs/file"), O_CREAT | O_WRONLY, 0600));
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	return io_remove_tree(folder);
}

static int
status_of(void (*body)(void))
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		body();
		_exit(PASSED);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

/* Linux without it, or a container that forbids to give anything up. */
static void
expect(void (*body)(void))
{
	int status = status_of(body);

	if (status == LACKING) {
		print_message("[  ABSENT  ] this kernel lacks it\n");
		skip();
	}
	assert_int_equal(status, PASSED);
}

/* What this kernel can do at all, as it says itself. */
static unsigned
possible(void)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
	unsigned parts = CONFINE_PRIVILEGES;

	if (prctl(PR_GET_SECCOMP) >= 0)
		parts |= CONFINE_CALLS;
	if (version >= 2)
		parts |= CONFINE_DEVICES | CONFINE_WRITES;
	if (version >= 4)
		parts |= CONFINE_NETWORK;
	if (version >= 6)
		parts |= CONFINE_SIGNALS;
	return parts;
}

static void
give_up(const struct confine_limits *limits, unsigned needed)
{
	unsigned can = possible();
	struct confined c = confine(limits);

	if (needed & ~can)
		_exit(LACKING);
	NEED(c.in_force == (c.asked & can));
	NEED((c.in_force & needed) == needed);
}

static void
give_up_writes(unsigned needed)
{
	const char *const folders[] = { in("mine"), "/dev/null", in("absent"),
		NULL };
	const uint16_t ports[] = { 9, 0 };

	give_up(&(struct confine_limits){ .folders = folders, .ports = ports },
	    needed);
}

static void
give_up_always(unsigned needed)
{
	give_up(&(struct confine_limits){ 0 }, needed);
}

/* Numbers, not the table of the source: with arguments that no kernel takes. */
static const long calls[] = {
	SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_pidfd_getfd,
	SYS_perf_event_open, SYS_kexec_load, SYS_init_module, SYS_finit_module,
	SYS_delete_module, SYS_bpf, SYS_reboot, SYS_userfaultfd,
	SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
	SYS_mount, SYS_umount2, SYS_open_tree, SYS_move_mount, SYS_fsopen,
	SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_mount_setattr,
	SYS_pivot_root, SYS_chroot, SYS_swapon, SYS_swapoff, SYS_quotactl,
	SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_fanotify_init,
	SYS_fanotify_mark, SYS_setns, SYS_unshare, SYS_settimeofday,
	SYS_adjtimex, SYS_clock_settime, SYS_clock_adjtime, SYS_sethostname,
	SYS_setdomainname, SYS_acct, SYS_add_key, SYS_request_key, SYS_keyctl,
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	SYS_ptrace
#endif
};
#define N_CALLS (sizeof calls / sizeof calls[0])

static bool
is_refused(long number)
{
	return syscall(number, -1L, -1L, -1L, -1L, -1L, -1L) == -1 &&
	       errno == EPERM;
}

static void
try_calls(void)
{
	size_t before = 0;

	for (size_t i = 0; i < N_CALLS; i++)
		before += is_refused(calls[i]);
	/* Of itself the kernel says something else to most. */
	if (before == N_CALLS)
		_exit(LACKING);
	give_up_always(CONFINE_CALLS);
	for (size_t i = 0; i < N_CALLS; i++) {
		if (!is_refused(calls[i]))
			fprintf(stderr, "system call %ld: ", calls[i]);
		NEED(is_refused(calls[i]));
	}
	REFUSED(syscall(SYS_vhangup), EPERM);
	NEED(prctl(PR_GET_SECCOMP) == 2);
}

static void
test_calls_are_refused(void **state)
{
	(void)state;
	expect(try_calls);
}

static void *
answer(void *arg)
{
	return arg;
}

static void
try_neighbours(void)
{
	give_up_always(CONFINE_CALLS);
	/* Neighbours of what is refused, and what our programs live by. */
	NEED(getpid() > 0 && sysconf(_SC_NPROCESSORS_ONLN) > 0);
	NEED(syscall(SYS_personality, 0xffffffffL) >= 0);
	REFUSED(syscall(SYS_personality, 0L), EPERM);
	REFUSED(syscall(SYS_clone3, NULL, 0), ENOSYS);
	REFUSED(
	    syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0L, 0L, 0L, 0L), EPERM);
	REFUSED(
	    syscall(SYS_clone, CLONE_NEWNET | SIGCHLD, 0L, 0L, 0L, 0L), EPERM);
	NEED(nice(1) >= -20);
	NEED(chown(in("theirs/file"), getuid(), (gid_t)-1) == 0);
}

static void
test_neighbours_are_not(void **state)
{
	(void)state;
	expect(try_neighbours);
}

static void
try_threads_and_children(void)
{
	const char *const argv[] = { "sh", "-c",
		"grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status", NULL };
	const char *const sleeper[] = { "sleep", "1000", NULL };
	const char *const environment[] = { "PATH=/usr/bin:/bin", NULL };
	pthread_t thread;
	struct child child;
	struct err e = { 0 };
	char said[200];
	void *got = NULL;
	int status = -1;

	give_up_always(CONFINE_CALLS);
	NEED(pthread_create(&thread, NULL, answer, said) == 0);
	NEED(pthread_join(thread, &got) == 0 && got == said);
	NEED(child_start(argv, environment, -1, true, &child, &e) == 0);
	NEED(child_finish(&child, 60, said, sizeof said, &status, &e) == 0);
	NEED(status == 0);
	NEED(strcmp(said, "NoNewPrivs:\t1\nSeccomp:\t2\n") == 0);
	NEED(child_start(sleeper, environment, -1, true, &child, &e) == 0);
	child_end(&child);
	NEED(child.pid == 0);
}

static void
test_threads_and_children(void **state)
{
	(void)state;
	expect(try_threads_and_children);
}

#ifdef __x86_64__

static void
try_x32(void)
{
	give_up_always(CONFINE_CALLS);
	REFUSED(syscall(0x40000000L | SYS_getpid), EPERM);
}

static long
getpid_of_32_bits(void)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory");
	return result;
}

static void
try_32_bits_before(void)
{
	struct sigaction end = { .sa_handler = SIG_DFL };

	sigaction(SIGSEGV, &end, NULL);
	NEED(getpid_of_32_bits() == getpid());
}

static void
try_32_bits(void)
{
	give_up_always(CONFINE_CALLS);
	NEED(getpid_of_32_bits() == -EPERM);
}

static void
test_other_numbers(void **state)
{
	(void)state;
	expect(try_x32);
	/* Kernels are built without it too. */
	if (status_of(try_32_bits_before) == PASSED)
		expect(try_32_bits);
}

#endif

static int
make(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

typedef int (*attempt)(int, const struct sockaddr *, socklen_t);

/* What comes of it with a socket that is made for it. */
static int
on_socket(int type, const void *address, socklen_t n, attempt by)
{
	const struct sockaddr *to = address;
	int fd = socket(to->sa_family, type | SOCK_CLOEXEC, 0);
	int rc = by(fd, to, n), cause = errno;

	close(fd);
	errno = cause;
	return rc;
}

static int
bind_unix(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	return on_socket(SOCK_STREAM, &address, sizeof address, bind);
}

static void
try_writes(void)
{
	int early = open(in("theirs/file"), O_WRONLY | O_CLOEXEC);
	char byte;
	int fd;

	give_up_writes(CONFINE_WRITES);
	NEED(make(in("mine/file")) == 0 && make(in("mine/file")) == 0);
	NEED(mkdir(in("mine/new"), 0700) == 0);
	NEED(rename(in("mine/file"), in("mine/sub/file")) == 0);
	NEED(link(in("mine/sub/file"), in("mine/new/file")) == 0);
	NEED(symlink("file", in("mine/new/name")) == 0);
	NEED(mkfifo(in("mine/fifo"), 0600) == 0);
	NEED(mknod(in("mine/node"), S_IFREG | 0600, 0) == 0);
	NEED(bind_unix(in("mine/socket")) == 0);
	NEED(truncate(in("mine/sub/file"), 0) == 0);
	NEED(unlink(in("mine/new/file")) == 0);
	NEED(unlink(in("mine/new/name")) == 0 && rmdir(in("mine/new")) == 0);
	NEED(make("/dev/null") == 0);
	fd = open(in("theirs/file"), O_RDONLY | O_CLOEXEC);
	NEED(fd >= 0 && read(fd, &byte, 1) >= 0);
	/* What was open stays so. */
	NEED(write(early, "x", 1) == 1);
}

static void
test_writes_below_the_folders(void **state)
{
	(void)state;
	expect(try_writes);
}

static void
try_writes_elsewhere(void)
{
	NEED(make(in("mine/moving")) == 0);
	give_up_writes(CONFINE_WRITES);
	REFUSED(make(in("theirs/new")), EACCES);
	REFUSED(make(in("theirs/file")), EACCES);
	REFUSED(open(in("theirs/file"), O_RDWR | O_CLOEXEC), EACCES);
	REFUSED(mkdir(in("theirs/sub"), 0700), EACCES);
	REFUSED(unlink(in("theirs/file")), EACCES);
	REFUSED(rmdir(in("theirs")), EACCES);
	REFUSED(symlink("file", in("theirs/name")), EACCES);
	REFUSED(mkfifo(in("theirs/fifo"), 0600), EACCES);
	REFUSED(bind_unix(in("theirs/socket")), EACCES);
	NEED(rename(in("mine/moving"), in("theirs/moving")) == -1);
	NEED(link(in("mine/moving"), in("theirs/moving")) == -1);
	NEED(make(in("mine/moving")) == 0);
	/* By a link as well. */
	NEED(symlink("../theirs/file", in("mine/link")) == 0);
	REFUSED(open(in("mine/link"), O_WRONLY | O_CLOEXEC), EACCES);
	REFUSED(make(in("absent")), EACCES);
}

static void
test_writes_elsewhere(void **state)
{
	(void)state;
	expect(try_writes_elsewhere);
}

static void
try_children_write(void)
{
	const char *const argv[] = { "sh", "-c",
		"echo >\"$0/mine/child\" && ! echo >\"$0/theirs/child\"",
		folder, NULL };
	const char *const environment[] = { "PATH=/usr/bin:/bin", NULL };
	struct child child;
	struct err e = { 0 };
	char said[200];
	int status = -1;

	give_up_writes(CONFINE_WRITES);
	NEED(child_start(argv, environment, -1, true, &child, &e) == 0);
	NEED(child_finish(&child, 60, said, sizeof said, &status, &e) == 0);
	NEED(status == 0 && strstr(said, "theirs/child"));
}

static void
test_children_write(void **state)
{
	(void)state;
	expect(try_children_write);
}

static void
try_devices(void)
{
	give_up_always(CONFINE_DEVICES);
	/* /dev/null's number; as anybody else than root it fails anyway. */
	NEED(mknod(in("mine/device"), S_IFCHR | 0600, 0x103) == -1);
	NEED(mknod(in("mine/device"), S_IFBLK | 0600, 0x103) == -1);
	NEED(geteuid() != 0 || errno == EACCES);
	/* Any rule at all takes away moving between folders, if it is not said
	 * that it stays. */
	NEED(make(in("theirs/one")) == 0);
	NEED(rename(in("theirs/one"), in("mine/one")) == 0);
	NEED(link(in("mine/one"), in("theirs/one")) == 0);
	NEED(unlink(in("theirs/one")) == 0 && unlink(in("mine/one")) == 0);
}

static void
test_devices(void **state)
{
	(void)state;
	expect(try_devices);
}

static int
reach(int type, uint16_t port, attempt by)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	return on_socket(type, &address, sizeof address, by);
}

static void
try_network(void)
{
	int early = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	NEED(reach(SOCK_STREAM, 0, bind) == 0);
	NEED(listen(early, 1) == 0);
	give_up_writes(CONFINE_NETWORK);
	REFUSED(reach(SOCK_STREAM, 0, bind), EACCES);
	REFUSED(reach(SOCK_STREAM, 10, connect), EACCES);
	NEED(reach(SOCK_STREAM, 9, connect) == 0 || errno == ECONNREFUSED);
	NEED(reach(SOCK_DGRAM, 0, bind) == 0);
	NEED(reach(SOCK_DGRAM, 10, connect) == 0);
}

static void
try_network_stays(void)
{
	give_up_always(CONFINE_PRIVILEGES);
	NEED(reach(SOCK_STREAM, 0, bind) == 0);
	NEED(reach(SOCK_STREAM, 10, connect) == 0 || errno == ECONNREFUSED);
	NEED(make(in("theirs/any")) == 0 && unlink(in("theirs/any")) == 0);
}

static void
test_network(void **state)
{
	(void)state;
	expect(try_network_stays);
	expect(try_network);
}

static void
try_signals(void)
{
	pid_t own;

	NEED(kill(getppid(), 0) == 0);
	give_up_always(CONFINE_SIGNALS);
	REFUSED(kill(getppid(), 0), EPERM);
	NEED(kill(getpid(), 0) == 0);
	NEED(pthread_kill(pthread_self(), 0) == 0);
	own = fork();
	if (own == 0) {
		pause();
		_exit(PASSED);
	}
	NEED(kill(own, SIGKILL) == 0 && waitpid(own, NULL, 0) == own);
}

static void
test_signals(void **state)
{
	(void)state;
	expect(try_signals);
}

/* Only so long that it names it, without the end of a string. */
static socklen_t
abstract_name(struct sockaddr_un *address)
{
	int n;

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	n = snprintf(address->sun_path + 1, sizeof address->sun_path - 1,
	    "probity-confine-%ld", (long)getppid());
	return (
	    socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static void
try_abstract(void)
{
	struct sockaddr_un address;
	socklen_t n = abstract_name(&address);
	const struct sockaddr *name = (const void *)&address;
	int before = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int after = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	NEED(bind(listener, name, n) == 0 && listen(listener, 2) == 0);
	NEED(connect(before, name, n) == 0);
	give_up_always(CONFINE_SIGNALS);
	REFUSED(connect(after, name, n), EPERM);
}

static void
test_abstract_sockets(void **state)
{
	(void)state;
	expect(try_abstract);
}

static void
try_short_lived(void)
{
	struct confine_limits limits = { .short_lived = true };
	struct confined c = confine(&limits);

	NEED((c.asked & CONFINE_CALLS) == 0);
	NEED(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	NEED(prctl(PR_GET_SECCOMP) == 0);
	NEED(confine_holds(CONFINE_PRIVILEGES));
	NEED(!confine_holds(CONFINE_CALLS) && !confine_holds(CONFINE_WRITES));
}

static void
test_short_lived(void **state)
{
	(void)state;
	/* Where this process has a filter already, the children have it too. */
	if (prctl(PR_GET_SECCOMP) != 0)
		skip();
	expect(try_short_lived);
}

/* The kernel takes so many rules of a process and no more. */
static void
try_refused(void)
{
	const struct confine_limits limits = { .short_lived = true };
	struct confined c = { 0 };

	give_up(&limits, CONFINE_DEVICES);
	for (int i = 0; i < 64; i++)
		c = confine(&limits);
	NEED(c.asked & CONFINE_DEVICES);
	NEED(c.in_force == CONFINE_PRIVILEGES);
	NEED(make(in("mine/after")) == 0 && unlink(in("mine/after")) == 0);
}

static void
test_a_kernel_that_refuses_is_no_fault(void **state)
{
	(void)state;
	expect(try_refused);
}

static void
try_told(void)
{
	static const struct confined some = {
		.asked = CONFINE_PRIVILEGES | CONFINE_CALLS | CONFINE_NETWORK,
		.in_force = CONFINE_PRIVILEGES | CONFINE_CALLS,
	};
	char line[600] = "";
	int ends[2];

	NEED(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) >= 0);
	log_set_level(LOG_WARN);
	confined_tell(some, "server");
	log_set_level(LOG_INFO);
	confined_tell(some, "worker");
	if (read(ends[0], line, sizeof line - 1) <= 0 ||
	    strstr(line, "server") || !strstr(line, "worker") ||
	    !strstr(line, "for good: new privileges, system calls") ||
	    !strstr(line, "container: TCP\""))
		_exit(FAILED);
}

static void
test_told(void **state)
{
	(void)state;
	expect(try_told);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_are_refused),
		cmocka_unit_test(test_neighbours_are_not),
		cmocka_unit_test(test_threads_and_children),
#ifdef __x86_64__
		cmocka_unit_test(test_other_numbers),
#endif
		cmocka_unit_test(test_writes_below_the_folders),
		cmocka_unit_test(test_writes_elsewhere),
		cmocka_unit_test(test_children_write),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_network),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_abstract_sockets),
		cmocka_unit_test(test_short_lived),
		cmocka_unit_test(test_a_kernel_that_refuses_is_no_fault),
		cmocka_unit_test(test_told),
	};

	return cmocka_run_group_tests_name("confine", tests, setup, teardown);
}
