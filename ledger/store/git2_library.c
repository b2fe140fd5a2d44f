#include "ledger/store/git2_library.h"

#include <pthread.h>

#include "ledger/base/library.h"
#include "ledger/store/repo.h"

struct git2 git2;

#define SYMBOL(name) { "git_" #name, &git2.name },
static const struct library_symbol symbols[] = { GIT2_FUNCTIONS(SYMBOL){ 0 } };
static struct library library = { "libgit2.so." LIBGIT2_SOVERSION, symbols,
	NULL };
static pthread_once_t once = PTHREAD_ONCE_INIT;
static size_t bound;

static void
start(void)
{
	static const int levels[] = { GIT_CONFIG_LEVEL_PROGRAMDATA,
		GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG,
		GIT_CONFIG_LEVEL_GLOBAL };

	git2.libgit2_init();
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		git2.libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
	/* Front, worker and operators may be different users; whose files to
	 * believe is said by the directories' modes. No configuration of the
	 * repository runs anything in here. */
	git2.libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	/* A cached object counts as existing even after its file has gone,
	 * and recovery has to see the files as they are. */
	git2.libgit2_opts(GIT_OPT_ENABLE_CACHING, 0);
	/* What is read is compared with its id by repo_read. */
	git2.libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 0);
	if (bound > 0) {
		git2.libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, bound / 4);
		git2.libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, bound);
	}
}

int
git2_load(struct err *e)
{
	if (library_load(&library, e))
		return -1;
	pthread_once(&once, start);
	return 0;
}

void
repo_library_bound(size_t bytes)
{
	bound = bytes;
}

/*
 * libgit2 with mbedTLS, as Debian builds it, parses the system's 140
 * certificates when it starts: a fifth of a plain CGI request, for connections
 * that are never made, since stock git does the mirrors (decision 0009). This
 * function is found before the one of mbedTLS (the Makefile exports it), and
 * finds no certificate; libgit2 would then trust no server.
 */
int mbedtls_x509_crt_parse_file(void *chain, const char *path);

int
mbedtls_x509_crt_parse_file(void *chain, const char *path)
{
	(void)chain;
	(void)path;
	return 0;
}
