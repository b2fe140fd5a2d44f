/*
 * libcurl, loaded when something is first sent: it brings thirty libraries
 * along, and most programs that are started for one request send nothing. Its
 * functions keep their names.
 */
#ifndef DOMAIN_OUTBOUND_CURL_LIBRARY_H
#define DOMAIN_OUTBOUND_CURL_LIBRARY_H

#include <curl/curl.h>

#include "ledger/base/err.h"

/* They check types by macros where the compiler can. */
#undef curl_easy_getinfo
#undef curl_easy_setopt

struct curl_functions {
	__typeof__(&curl_easy_cleanup) easy_cleanup;
	__typeof__(&curl_easy_getinfo) easy_getinfo;
	__typeof__(&curl_easy_init) easy_init;
	__typeof__(&curl_easy_perform) easy_perform;
	__typeof__(&curl_easy_setopt) easy_setopt;
	__typeof__(&curl_easy_strerror) easy_strerror;
	__typeof__(&curl_global_init) global_init;
	__typeof__(&curl_slist_append) slist_append;
	__typeof__(&curl_slist_free_all) slist_free_all;
};
extern struct curl_functions curl_functions;

/* Before any of them. Thread-safe. err_unavailable when the library is not
 * there, err_internal when it cannot start. */
int curl_library_load(struct err *);

#define curl_easy_cleanup   curl_functions.easy_cleanup
#define curl_easy_getinfo   curl_functions.easy_getinfo
#define curl_easy_init      curl_functions.easy_init
#define curl_easy_perform   curl_functions.easy_perform
#define curl_easy_setopt    curl_functions.easy_setopt
#define curl_easy_strerror  curl_functions.easy_strerror
#define curl_slist_append   curl_functions.slist_append
#define curl_slist_free_all curl_functions.slist_free_all

#endif
