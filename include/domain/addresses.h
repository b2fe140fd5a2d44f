/*
 * A list of addresses and networks as settings hold it: "127.0.0.1 ::1
 * 10.0.0.0/8", with blanks or commas between. An IPv4 address that comes
 * inside an IPv6 one (::ffff:10.0.0.1) is that IPv4 address.
 */
#ifndef DOMAIN_ADDRESSES_H
#define DOMAIN_ADDRESSES_H

#include "ledger/base/err.h"
#include "ledger/base/str.h"

/* err_invalid with the first entry that is none. */
int addresses_check(struct str list, struct err *);

/* Whether the address is one of them, or in one of their networks. */
bool addresses_have(struct str list, struct str address);

#endif
