#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "domain/service.h"

#define NAME_BYTES 320

/* Plain CGI does this for each request: no memory is asked for. */
static bool
place_has_token(int keys, const char *workspace, const char *environment)
{
	/* The second is there while a change of keys is on its way. */
	static const char *const names[] = { "signing.key",
		"signing-next.key" };
	char path[NAME_BYTES];

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(path, sizeof path, "%s/%s/%s", workspace, environment,
		    names[i]);
		if (private_key_file_names_token(keys, path))
			return true;
	}
	return false;
}

static bool
any_has_token(DIR *keys, size_t most)
{
	struct dirent *entry;
	size_t n = 0;

	/* A stream of our own. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	while ((entry = readdir(keys)) != NULL) {
		if (!workspace_name_is_valid(str_from(entry->d_name)))
			continue;
		if (n++ == most ||
		    place_has_token(dirfd(keys), entry->d_name, "sandbox") ||
		    place_has_token(dirfd(keys), entry->d_name, "production"))
			return true;
	}
	return false;
}

bool
service_has_tokens(const struct config *config, size_t most)
{
	char path[PATH_MAX];
	bool found;
	DIR *keys;

	snprintf(path, sizeof path, "%.*s", STR_ARGS(config->keys));
	keys = opendir(path);
	if (!keys)
		return errno != ENOENT;
	found = any_has_token(keys, most);
	closedir(keys);
	return found;
}
