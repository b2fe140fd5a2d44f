#include "domain/addresses.h"

#include <arpa/inet.h>
#include <string.h>

#define ADDRESS_BITS 128
#define MAPPED_BITS  96

/* As IPv6 has it; IPv4 addresses are the mapped ones. */
struct network {
	unsigned char address[ADDRESS_BITS / 8];
	unsigned bits;
};

static bool
read_address(struct str text, struct network *out, unsigned *most)
{
	char copy[INET6_ADDRSTRLEN];

	if (text.n == 0 || text.n >= sizeof copy)
		return false;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	out->bits = ADDRESS_BITS;
	*most = ADDRESS_BITS;
	if (inet_pton(AF_INET6, copy, out->address) == 1)
		return true;
	*most = ADDRESS_BITS - MAPPED_BITS;
	memset(out->address, 0, sizeof out->address);
	out->address[10] = out->address[11] = 0xff;
	return inet_pton(AF_INET, copy, out->address + 12) == 1;
}

static bool
read_network(struct str text, struct network *out)
{
	struct str bits = text, address = str_take(&bits, '/');
	unsigned most;
	uint64_t n;

	if (!read_address(address, out, &most))
		return false;
	if (!bits.p)
		return true;
	if (!str_to_u64(bits, &n) || n > most)
		return false;
	out->bits = ADDRESS_BITS - most + (unsigned)n;
	return true;
}

static bool
is_in(const struct network *network, const struct network *one)
{
	size_t whole = network->bits / 8;
	unsigned rest = network->bits % 8;

	if (memcmp(network->address, one->address, whole) != 0)
		return false;
	return rest == 0 ||
	       (network->address[whole] ^ one->address[whole]) >> (8 - rest) ==
		   0;
}

/* The next entry; no value at the end. */
static struct str
next_entry(struct str *list)
{
	size_t n = 0;

	while (list->n > 0 && strchr(" \t,", list->p[0]))
		*list = str_slice(*list, 1, list->n);
	while (n < list->n && !strchr(" \t,", list->p[n]))
		n++;
	if (n == 0)
		return STR_NONE;
	*list = str_slice(*list, n, list->n);
	return (struct str){ list->p - n, n };
}

int
addresses_check(struct str list, struct err *e)
{
	struct network network;
	struct str entry;

	while (entry = next_entry(&list), entry.p)
		if (!read_network(entry, &network))
			return err_set(e, &err_invalid,
			    "%.*s is no address and no network such as "
			    "10.0.0.0/8",
			    STR_ARGS(entry));
	return 0;
}

bool
addresses_have(struct str list, struct str address)
{
	struct network network, one;
	struct str entry;
	unsigned most;

	if (!read_address(address, &one, &most))
		return false;
	while (entry = next_entry(&list), entry.p)
		if (read_network(entry, &network) && is_in(&network, &one))
			return true;
	return false;
}
