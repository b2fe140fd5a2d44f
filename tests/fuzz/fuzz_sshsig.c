/*
 * sshsig_parse: what it accepts, written anew and read again, is the same.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger/crypto/sshsig.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check_round_trip(const struct sshsig *s)
{
	struct sshsig again;
	struct err e = { 0 };
	struct buf b;

	buf_init(&b, SSHSIG_MAX);
	sshsig_armor(&b, s->key, str_from(s->name_space), s->signature);
	if (buf_failed(&b) || sshsig_parse(buf_str(&b), &again, &e) ||
	    memcmp(s, &again, sizeof again) != 0)
		abort();
	buf_fini(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct sshsig s;
	struct err e = { 0 };
	struct public_key k;
	struct str input = { (const char *)p, n };

	if (sshsig_parse(input, &s, &e) == 0)
		check_round_trip(&s);
	else if (e.kind != &err_malformed)
		abort();
	err_clear(&e);
	if (public_key_parse(input, &k, &e) && e.kind != &err_malformed)
		abort();
	return 0;
}
