#include "domain/outbound/curl_library.h"

#include <pthread.h>

#include "ledger/base/library.h"

struct curl_functions curl_functions;

static const struct library_symbol symbols[] = {
	{ "curl_easy_cleanup", &curl_functions.easy_cleanup },
	{ "curl_easy_getinfo", &curl_functions.easy_getinfo },
	{ "curl_easy_init", &curl_functions.easy_init },
	{ "curl_easy_perform", &curl_functions.easy_perform },
	{ "curl_easy_setopt", &curl_functions.easy_setopt },
	{ "curl_easy_strerror", &curl_functions.easy_strerror },
	{ "curl_global_init", &curl_functions.global_init },
	{ "curl_slist_append", &curl_functions.slist_append },
	{ "curl_slist_free_all", &curl_functions.slist_free_all },
	{ 0 },
};
static struct library library = { "libcurl.so.4", symbols, NULL };
static pthread_once_t once = PTHREAD_ONCE_INIT;
static CURLcode started;

static void
start(void)
{
	started = curl_functions.global_init(CURL_GLOBAL_DEFAULT);
}

int
curl_library_load(struct err *e)
{
	if (library_load(&library, e))
		return -1;
	pthread_once(&once, start);
	if (started != CURLE_OK)
		return err_set(e, &err_internal, "cannot start libcurl");
	return 0;
}
