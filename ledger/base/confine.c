#include "ledger/base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ledger/base/confine_parts.h"
#include "ledger/base/log.h"

/* What the kernel's header may be too old for. The kernel says which of it it
 * knows, by the number of its interface. */
#define FS_TRUNCATE     (UINT64_C(1) << 14)
#define NET_BIND_TCP    (UINT64_C(1) << 0)
#define NET_CONNECT_TCP (UINT64_C(1) << 1)
#define SCOPE_ABSTRACT  (UINT64_C(1) << 0) /* sockets without a file */
#define SCOPE_SIGNAL    (UINT64_C(1) << 1)
#define RULE_NET_PORT   2
#define SINCE_REFER     2
#define SINCE_TRUNCATE  3
#define SINCE_NETWORK   4
#define SINCE_SCOPE     6

struct ruleset {
	uint64_t fs, net, scope;
};

struct port_rule {
	uint64_t allowed, port;
};

#define DEVICES  (LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK)
#define IN_FILES (LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE)
#define WRITES                                                             \
	(IN_FILES | LANDLOCK_ACCESS_FS_REMOVE_DIR |                        \
	    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | \
	    LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |   \
	    LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM |   \
	    LANDLOCK_ACCESS_FS_REFER)

static const struct {
	enum confine_part part;
	const char *name;
} parts[] = {
	{ CONFINE_PRIVILEGES, "new privileges" },
	{ CONFINE_CALLS, "system calls that rule a machine" },
	{ CONFINE_DEVICES, "making devices" },
	{ CONFINE_SIGNALS, "signals to others" },
	{ CONFINE_WRITES, "writing elsewhere" },
	{ CONFINE_NETWORK, "TCP" },
};
#define N_PARTS (sizeof parts / sizeof parts[0])

static unsigned held; /* written once, before there are threads */

bool
confine_holds(enum confine_part part)
{
	return (held & part) != 0;
}

/* 0 where there is no Landlock, or none that lets files be moved between
 * folders. */
static long
landlock_version(void)
{
	long n = syscall(SYS_landlock_create_ruleset, NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION);

	return n >= SINCE_REFER ? n : 0;
}

static struct ruleset
choose(const struct confine_limits *limits, long version)
{
	struct ruleset r = { .fs = DEVICES };

	/* Moving between folders is taken away by any rule at all, unless it is
	 * among those that are given back. */
	r.fs |= limits->folders ? WRITES : LANDLOCK_ACCESS_FS_REFER;
	if (version < SINCE_TRUNCATE)
		r.fs &= ~FS_TRUNCATE;
	if (limits->folders && version >= SINCE_NETWORK)
		r.net = NET_BIND_TCP | NET_CONNECT_TCP;
	if (version >= SINCE_SCOPE)
		r.scope = SCOPE_ABSTRACT | SCOPE_SIGNAL;
	return r;
}

static bool
add_rule(int ruleset, int fd, uint64_t rights)
{
	struct landlock_path_beneath_attr rule = { rights, fd };

	return syscall(SYS_landlock_add_rule, ruleset,
		   LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

/* What is not there, or not to be reached, needs no rule, nor what is no file
 * of a disk (EBADFD). A file has fewer rights than a folder (EINVAL). */
static bool
permit_below(int ruleset, const char *path, uint64_t rights)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	bool done;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES;
	rights &= ~DEVICES;
	done = add_rule(ruleset, fd, rights) ||
	       (errno == EINVAL && add_rule(ruleset, fd, rights & IN_FILES)) ||
	       errno == EBADFD;
	close(fd);
	return done;
}

static bool
permit_port(int ruleset, uint16_t port)
{
	struct port_rule rule = { NET_CONNECT_TCP, port };

	return syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT, &rule,
		   0) == 0;
}

static bool
permit(
    int ruleset, const struct ruleset *r, const struct confine_limits *limits)
{
	if (!limits->folders)
		return permit_below(ruleset, "/", r->fs);
	for (const char *const *at = limits->folders; *at; at++)
		if (!permit_below(ruleset, *at, r->fs))
			return false;
	for (const uint16_t *at = limits->ports; r->net && at && *at; at++)
		if (!permit_port(ruleset, *at))
			return false;
	return true;
}

static unsigned
parts_of(const struct ruleset *r)
{
	return CONFINE_DEVICES |
	       (r->fs & LANDLOCK_ACCESS_FS_WRITE_FILE ? CONFINE_WRITES : 0) |
	       (r->net ? CONFINE_NETWORK : 0) |
	       (r->scope ? CONFINE_SIGNALS : 0);
}

static unsigned
confine_files(const struct confine_limits *limits)
{
	long version = landlock_version();
	struct ruleset r = choose(limits, version);
	bool done;
	int fd;

	if (version == 0)
		return 0;
	fd = (int)syscall(SYS_landlock_create_ruleset, &r, sizeof r, 0);
	if (fd < 0)
		return 0;
	/* Rather no rules than one too few: nothing may fail for them. */
	done = permit(fd, &r, limits) &&
	       syscall(SYS_landlock_restrict_self, fd, 0) == 0;
	close(fd);
	return done ? parts_of(&r) : 0;
}

struct confined
confine(const struct confine_limits *limits)
{
	struct confined c = { .asked = CONFINE_PRIVILEGES | CONFINE_DEVICES |
				       CONFINE_SIGNALS };

	if (!limits->short_lived)
		c.asked |= CONFINE_CALLS;
	if (limits->folders)
		c.asked |= CONFINE_WRITES | CONFINE_NETWORK;
	/* The others need it. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		c.in_force = CONFINE_PRIVILEGES | confine_files(limits);
	if ((c.asked & CONFINE_CALLS) && c.in_force && confine_calls())
		c.in_force |= CONFINE_CALLS;
	held |= c.in_force;
	return c;
}

static void
list(unsigned which, char *text, size_t room)
{
	size_t n = 0;

	snprintf(text, room, "nothing");
	for (size_t i = 0; i < N_PARTS && n < room; i++) {
		if (!(which & parts[i].part))
			continue;
		snprintf(text + n, room - n, "%s%s", n > 0 ? ", " : "",
		    parts[i].name);
		n += strlen(text + n);
	}
}

void
confined_tell(struct confined c, const char *module)
{
	char given_up[256], kept[256];

	list(c.in_force, given_up, sizeof given_up);
	list(c.asked & ~c.in_force, kept, sizeof kept);
	log_line(LOG_INFO, module,
	    "given up for good: %s; not to be given up on this kernel, or in "
	    "this container: %s",
	    given_up, kept);
}
