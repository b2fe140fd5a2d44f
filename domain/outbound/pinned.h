/*
 * A request held to the addresses that were screened: libcurl is told them and
 * asks no resolver, and each socket's address is looked at once more before
 * it is opened.
 */
#ifndef DOMAIN_OUTBOUND_PINNED_H
#define DOMAIN_OUTBOUND_PINNED_H

#include "domain/outbound.h"
#include "domain/outbound/curl_library.h"

struct pin {
	const struct screened *screened;
	struct curl_slist *resolve;
	bool strayed; /* libcurl wanted another address */
};

/* False without memory. pin_fini in any case, after the handle's end. */
bool pin_init(struct pin *, const struct screened *, struct arena *);
bool pin_set(CURL *, struct pin *);
void pin_fini(struct pin *);

#endif
