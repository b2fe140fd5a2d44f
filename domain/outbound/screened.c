#include <arpa/inet.h>
#include <string.h>

#include "domain/outbound/parts.h"

static bool
passes(const struct screened *s, int family, const void *bytes)
{
	return !address_special(family, bytes) ||
	       (s->loopback && address_is_loopback(family, bytes));
}

static bool
is_listed(const struct screened *s, const char *address)
{
	for (size_t i = 0; i < s->n_addresses; i++)
		if (strcmp(s->addresses[i], address) == 0)
			return true;
	return false;
}

/* The reply says what kind of address it is and not which: a name inside the
 * operator's network is not to be read out through here. */
int
screened_add(struct screened *s, int family, const void *bytes, struct err *e)
{
	char text[OUTBOUND_ADDRESS_MAX + 1];

	if (!passes(s, family, bytes))
		return err_set(e, &err_invalid,
		    "the address of %s is not public: %s", s->host,
		    address_special(family, bytes));
	if (!inet_ntop(family, bytes, text, sizeof text))
		return err_set(
		    e, &err_internal, "cannot write an address of %s", s->host);
	if (s->n_addresses < OUTBOUND_ADDRESSES_MAX && !is_listed(s, text))
		memcpy(s->addresses[s->n_addresses++], text, sizeof text);
	return 0;
}

bool
screened_has(const struct screened *s, int family, const void *bytes)
{
	char text[OUTBOUND_ADDRESS_MAX + 1];

	return passes(s, family, bytes) &&
	       inet_ntop(family, bytes, text, sizeof text) &&
	       is_listed(s, text);
}
