#include "domain/mirror.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "domain/ledger_ops/mirror_git.h"
#include "ledger/base/child.h"
#include "ledger/base/log.h"

#define SAID_MAX     4096
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

const struct err_kind err_mirror_differs = { "mirror-differs",
	"The mirror holds something else than the ledger", 409, false,
	"Find out who wrote to it; keep it as it is, and mirror to a new "
	"one." };

/* For the child, where no configuration of the machine has a say. Hooks and
 * redirects would let others choose what is run or asked. */
static const struct {
	const char *name, *value;
} settings[] = {
	{ "core.hooksPath", "/dev/null" },
	{ "http.followRedirects", "false" },
	{ "pack.window", "0" },
	{ "pack.threads", "1" },
};
#define N_SETTINGS (sizeof settings / sizeof settings[0])

#define FIXED_VARIABLES 9

/* Nobody sets variables while threads run. */
static const char *
environment(const char *name, const char *otherwise)
{
	const char *value = getenv(name); /* NOLINT(concurrency-mt-unsafe) */

	return value && *value ? value : otherwise;
}

/* PATH to find git and ssh, HOME for ssh's keys and ~/.netrc. */
const char **
mirror_environment(struct arena *a, const char *repository)
{
	const char **list = arena_array(
	    a, FIXED_VARIABLES + 2 * (N_SETTINGS + 1) + 1, sizeof *list);
	size_t n = 0;

	list[n++] =
	    arena_printf(a, "PATH=%s", environment("PATH", DEFAULT_PATH));
	list[n++] = arena_printf(a, "HOME=%s", environment("HOME", "/"));
	list[n++] = "LANG=C";
	list[n++] = "GIT_CONFIG_NOSYSTEM=1";
	list[n++] = "GIT_CONFIG_GLOBAL=/dev/null";
	list[n++] = "GIT_TERMINAL_PROMPT=0";
	list[n++] = "GIT_ALLOW_PROTOCOL=file:ssh:https";
	list[n++] = "GIT_SSH_COMMAND=ssh -oBatchMode=yes"
		    " -oStrictHostKeyChecking=yes -oConnectTimeout=20";
	list[n++] = arena_printf(a, "GIT_CONFIG_COUNT=%zu", N_SETTINGS + 1);
	for (size_t i = 0; i <= N_SETTINGS; i++) {
		bool own = i == N_SETTINGS;

		list[n++] = arena_printf(a, "GIT_CONFIG_KEY_%zu=%s", i,
		    own ? "safe.directory" : settings[i].name);
		list[n++] = arena_printf(a, "GIT_CONFIG_VALUE_%zu=%s", i,
		    own ? repository : settings[i].value);
	}
	list[n] = NULL;
	return list;
}

/* An https URL may name no user: who has one writes a password after it, and
 * the list of processes shows it to everybody. */
int
mirror_check(struct str to, struct err *e)
{
	bool https = str_has_prefix(to, STR("https://"));

	if (to.n == 0 || to.n > MIRROR_URL_MAX)
		return err_set(e, &err_invalid,
		    "a mirror has 1 to %d characters", MIRROR_URL_MAX);
	for (size_t i = 0; i < to.n; i++)
		if (to.p[i] <= ' ' || to.p[i] > '~')
			return err_set(e, &err_invalid,
			    "a mirror is written in ASCII without blanks");
	if (!https && !str_has_prefix(to, STR("ssh://")) && to.p[0] != '/')
		return err_set(e, &err_invalid,
		    "a mirror is an absolute path, ssh://… or https://…");
	if (https && str_find(to, '@') < to.n)
		return err_set(e, &err_invalid,
		    "an https mirror names no user or password: put them into"
		    " ~/.netrc of the service's user");
	return 0;
}

/* What others wrote, as one line that moves no cursor. */
void
mirror_log_said(const struct place *place, char *said)
{
	for (char *p = said; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = ' ';
	log_line(LOG_WARN, "mirror", "%.*s/%.*s: %s",
	    STR_ARGS(place->workspace), STR_ARGS(place->environment), said);
}

/* git says "!" and why, one line a branch, and ends with 1. */
static int
judge(const struct place *place, int status, char *said, struct err *e)
{
	bool refused;

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	refused = strstr(said, "(fetch first)") != NULL ||
		  strstr(said, "(non-fast-forward)") != NULL;
	mirror_log_said(place, said);
	if (refused)
		return err_set(e, &err_mirror_differs,
		    "the remote has commits that the ledger does not have;"
		    " it was left as it is");
	return err_set(e, &err_unavailable,
	    "git could not push; the log says what it said");
}

static const char *
refspec(struct oid commit, struct arena *a)
{
	char hex[OID_HEX + 1];

	oid_hex(commit, hex);
	return arena_printf(a, "%s:refs/heads/main", hex);
}

static int
push(struct service *s, const struct place *place, const char *repository,
    const char *to, const struct mirror_push *what, struct arena *a,
    struct err *e)
{
	const struct config *config = service_config(s);
	char said[SAID_MAX];
	const char *branch = refspec(what->commit, a);
	const char *const argv[] = { arena_cstr(a, config->git), "--git-dir",
		repository, "push", "--porcelain", "--no-follow-tags",
		"--no-signed", "--recurse-submodules=no", "--", to, branch,
		NULL };
	struct child child;
	int status;

	if (child_start(
		argv, mirror_environment(a, repository), -1, true, &child, e) ||
	    child_finish(
		&child, config->mirror_seconds, said, sizeof said, &status, e))
		return -1;
	return judge(place, status, said, e);
}

/* What there is to push: read first, so that no reading is held meanwhile. */
static int
find_newest(struct service *s, const struct place *place, struct arena *a,
    struct mirror_push *out, struct err *e)
{
	struct ledger_status status;
	struct reading reading;
	struct ledger *ledger;
	int rc;

	if (service_acquire(s, place, &ledger, e))
		return -1;
	rc = ledger_read_begin(ledger, &reading, e);
	if (rc == 0) {
		rc = ledger_read_status(&reading, a, &status, e);
		ledger_read_end(&reading);
	}
	service_release(s, ledger);
	if (rc == 0)
		*out = (struct mirror_push){ status.size, status.commit };
	return rc;
}

int
mirror_push(struct service *s, const struct place *place, struct str to,
    struct arena *a, struct mirror_push *out, struct err *e)
{
	struct ledger_options options;
	char dir[PATH_MAX];

	if (mirror_check(to, e) ||
	    service_ledger_options(s, place, a, &options, e) ||
	    find_newest(s, place, a, out, e))
		return -1;
	if (!realpath(arena_printf(a, "%s/ledger.git", options.dir), dir))
		return err_errno(e, &err_unavailable, "%s", options.dir);
	return push(s, place, dir, arena_cstr(a, to), out, a, e);
}
