/*
 * libgit2 as this program wants it.
 */
#include <pthread.h>

#include "ledger/store/repo_git.h"

static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static void
library_init(void)
{
	static const int levels[] = { GIT_CONFIG_LEVEL_PROGRAMDATA,
		GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG,
		GIT_CONFIG_LEVEL_GLOBAL };

	git_libgit2_init();
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
	/* Front, worker and operators may be different users; whose files to
	 * believe is said by the directories' modes. No configuration of the
	 * repository runs anything in here. */
	git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	/* A cached object counts as existing even after its file has gone,
	 * and recovery has to see the files as they are. */
	git_libgit2_opts(GIT_OPT_ENABLE_CACHING, 0);
	/* What is read is compared with its id by repo_read. */
	git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 0);
}

void
repo_library_start(void)
{
	pthread_once(&library_once, library_init);
}

void
repo_library_bound(size_t bytes)
{
	repo_library_start();
	git_libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, bytes / 4);
	git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, bytes);
}

/*
 * libgit2 with mbedTLS, as Debian builds it, parses the system's 140
 * certificates when it starts: a fifth of a plain CGI request, for connections
 * that are never made, since stock git does the mirrors (decision 0009). This
 * function is found before the one of mbedTLS, and finds no certificate;
 * libgit2 would then trust no server.
 */
int mbedtls_x509_crt_parse_file(void *chain, const char *path);

int
mbedtls_x509_crt_parse_file(void *chain, const char *path)
{
	(void)chain;
	(void)path;
	return 0;
}
