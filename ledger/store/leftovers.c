#include "ledger/store/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "ledger/base/io.h"
#include "ledger/base/str.h"
#include "ledger/store/repo.h"

#define FORGOTTEN_S 3600
#define MARK        ".new-"
#define TAG_DIGITS  16

static bool
is_leftover(int dir, const char *file, const char *name)
{
	size_t n = strlen(name), mark = sizeof(MARK) - 1;
	struct stat st;

	return strlen(file) == n + mark + TAG_DIGITS &&
	       memcmp(file, name, n) == 0 &&
	       memcmp(file + n, MARK, mark) == 0 &&
	       strspn(file + n + mark, "0123456789abcdef") == TAG_DIGITS &&
	       fstatat(dir, file, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       time(NULL) - st.st_mtime > FORGOTTEN_S;
}

void
leftovers_remove(const char *path)
{
	const char *slash = strrchr(path, '/');
	const struct dirent *entry;
	char *folder, *found;
	DIR *dir;

	if (asprintf(&folder, "%.*s", slash ? (int)(slash - path) : 1,
		slash ? path : ".") < 0)
		abort();
	dir = opendir(folder);
	/* A stream of our own. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	while (dir && (entry = readdir(dir))) {
		if (!is_leftover(
			dirfd(dir), entry->d_name, slash ? slash + 1 : path))
			continue;
		if (asprintf(&found, "%s/%s", folder, entry->d_name) < 0)
			abort();
		(void)io_remove_tree(found);
		free(found);
	}
	if (dir)
		closedir(dir);
	free(folder);
}
