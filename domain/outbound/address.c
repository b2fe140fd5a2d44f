#include <arpa/inet.h>
#include <string.h>

#include "domain/outbound/parts.h"

struct range {
	const char *prefix;
	int bits;
	const char *what;
};

/* IANA's registry of special-purpose addresses, multicast and reserved. */
static const struct range special_v4[] = {
	{ "0.0.0.0", 8, "this network" },
	{ "10.0.0.0", 8, "private" },
	{ "100.64.0.0", 10, "shared by a carrier" },
	{ "127.0.0.0", 8, "loopback" },
	{ "169.254.0.0", 16, "link-local" },
	{ "172.16.0.0", 12, "private" },
	{ "192.0.0.0", 24, "for protocols" },
	{ "192.0.2.0", 24, "for documentation" },
	{ "192.31.196.0", 24, "for protocols" },
	{ "192.52.193.0", 24, "for protocols" },
	{ "192.88.99.0", 24, "a 6to4 relay" },
	{ "192.168.0.0", 16, "private" },
	{ "192.175.48.0", 24, "for protocols" },
	{ "198.18.0.0", 15, "for benchmarks" },
	{ "198.51.100.0", 24, "for documentation" },
	{ "203.0.113.0", 24, "for documentation" },
	{ "224.0.0.0", 4, "multicast" },
	{ "240.0.0.0", 4, "reserved" },
};

/* Only 2000::/3 is given out, and of it not all. The other rows say why. */
static const struct range special_v6[] = {
	{ "::", 128, "unspecified" },
	{ "::1", 128, "loopback" },
	{ "::ffff:0:0", 96, "IPv4 in IPv6" },
	{ "64:ff9b::", 96, "IPv4 in IPv6" },
	{ "fc00::", 7, "private" },
	{ "fe80::", 10, "link-local" },
	{ "ff00::", 8, "multicast" },
	{ "2001::", 23, "for protocols" },
	{ "2001:db8::", 32, "for documentation" },
	{ "2002::", 16, "6to4" },
	{ "2620:4f:8000::", 48, "for protocols" },
	{ "3fff::", 20, "for documentation" },
};

static bool
is_within(const uint8_t *address, const uint8_t *prefix, int bits)
{
	size_t whole = (size_t)bits / 8;
	int rest = bits % 8;
	uint8_t mask = (uint8_t)(0xff00 >> rest);

	return memcmp(address, prefix, whole) == 0 &&
	       (rest == 0 || ((address[whole] ^ prefix[whole]) & mask) == 0);
}

static const char *
find(const struct range *ranges, size_t n, int family, const void *bytes)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t prefix[16];

		if (inet_pton(family, ranges[i].prefix, prefix) == 1 &&
		    is_within(bytes, prefix, ranges[i].bits))
			return ranges[i].what;
	}
	return NULL;
}

const char *
address_special(int family, const void *bytes)
{
	const uint8_t *first = bytes;
	const char *what;

	if (family == AF_INET)
		return find(special_v4,
		    sizeof special_v4 / sizeof special_v4[0], family, bytes);
	if (family != AF_INET6)
		return "of another kind";
	what = find(special_v6, sizeof special_v6 / sizeof special_v6[0],
	    family, bytes);
	return what || (first[0] & 0xe0) == 0x20 ? what : "not given out";
}

bool
address_is_loopback(int family, const void *bytes)
{
	const char *what = address_special(family, bytes);

	return what && strcmp(what, "loopback") == 0;
}
