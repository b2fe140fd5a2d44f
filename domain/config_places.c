/*
 * What settings name outside of the configuration: files, folders, programs.
 * The programs meet them when they start or come to use them; who checks a
 * configuration wants to know before.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "domain/config.h"
#include "domain/config_file.h"
#include "domain/config_shape.h"

const char *
config_place(struct arena *a, const struct config_origins *origins, size_t i)
{
	const struct config_origin *origin = &origins->of[i];
	char *variable;

	switch (origin->source) {
	case CONFIG_FILE:
		return arena_printf(
		    a, "%s:%d:%d", origins->path, origin->line, origin->column);
	case CONFIG_ENVIRONMENT:
		variable =
		    arena_printf(a, "PROBITY_%s", config_shape.fields[i].name);
		for (char *p = variable; *p; p++)
			*p = (char)toupper((unsigned char)*p);
		return variable;
	case CONFIG_DEFAULT:
		break;
	}
	return "default";
}

static int
check_readable(struct arena *a, struct str path, struct err *e)
{
	const char *name = arena_cstr(a, path);
	struct stat st;

	if (stat(name, &st) || access(name, R_OK))
		return err_errno(e, &err_invalid, "cannot read %s", name);
	return S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) ||
		       S_ISCHR(st.st_mode)
		   ? 0
		   : err_set(e, &err_invalid, "%s is no file", name);
}

/* The front makes the file, not its folder. */
static int
check_log(struct arena *a, struct str path, struct err *e)
{
	size_t n = path.n;
	const char *folder;
	struct stat st;

	if (str_is(path, "-"))
		return 0;
	while (n > 0 && path.p[n - 1] != '/')
		n--;
	folder = n == 0 ? "." : arena_cstr(a, str_slice(path, 0, n));
	if (stat(folder, &st))
		return err_errno(e, &err_invalid, "its folder %s", folder);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, &err_invalid, "%s is no folder", folder);
	if (stat(arena_cstr(a, path), &st) == 0 && S_ISDIR(st.st_mode))
		return err_set(e, &err_invalid, "is a folder, not a file");
	return 0;
}

static bool
is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       access(path, X_OK) == 0;
}

/* As posix_spawnp(3) looks. */
static bool
is_along_path(struct arena *a, struct str name)
{
	/* There are no threads. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	const char *path = getenv("PATH");
	struct str rest = str_from(path ? path : "/bin:/usr/bin");

	while (rest.p) {
		struct str folder = str_take(&rest, ':');

		if (is_program(arena_printf(a, "%.*s/%.*s",
			STR_ARGS(folder.n ? folder : STR(".")),
			STR_ARGS(name))))
			return true;
	}
	return false;
}

static int
check_program(struct arena *a, struct str name, struct err *e)
{
	bool is_path = str_find(name, '/') < name.n;

	if (is_path ? is_program(arena_cstr(a, name)) : is_along_path(a, name))
		return 0;
	return err_set(e, &err_invalid, "there is no program %.*s%s",
	    STR_ARGS(name), is_path ? "" : " along PATH");
}

static const struct {
	const char *name;
	int (*check)(struct arena *, struct str value, struct err *);
} checks[] = {
	{ "timestamp_ca", check_readable },
	{ "outbound_ca", check_readable },
	{ "witness_file", check_readable },
	{ "mirror_file", check_readable },
	{ "git", check_program },
	{ "access_log", check_log },
};

int
config_look(struct arena *a, struct str name, struct str value, struct err *e)
{
	if (value.n == 0)
		return 0;
	for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
		if (str_is(name, checks[i].name))
			return checks[i].check(a, value, e);
	return 0;
}

bool
config_state_is_there(struct arena *a, const struct config *config)
{
	struct stat st;

	return stat(arena_cstr(a, config->state), &st) == 0 || errno != ENOENT;
}
