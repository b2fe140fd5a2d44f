#include "domain/mirror.h"

#include <sys/wait.h>

#include "domain/ledger_ops/mirror_git.h"
#include "ledger/base/child.h"

#define SAID_MAX 4096
#define REFSPEC  "refs/heads/main:refs/heads/main"

int
mirror_fetch(struct service *s, const struct place *place, struct str from,
    const char *into, struct arena *a, struct err *e)
{
	const struct config *config = service_config(s);
	const char *const argv[] = { arena_cstr(a, config->git), "--git-dir",
		into, "fetch", "--no-tags", "--no-auto-maintenance",
		"--recurse-submodules=no", "--", arena_cstr(a, from), REFSPEC,
		NULL };
	char said[SAID_MAX];
	struct child child;
	int status;

	if (mirror_check(from, e) ||
	    child_start(
		argv, mirror_environment(a, into), -1, true, &child, e) ||
	    child_finish(
		&child, config->clone_seconds, said, sizeof said, &status, e))
		return -1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	mirror_log_said(place, said);
	return err_set(e, &err_unavailable,
	    "git could not fetch from the mirror; the log says what it said");
}
