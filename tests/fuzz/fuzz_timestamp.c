/*
 * An authority's reply is whatever a stranger sent. It is refused, or it
 * answers the query that was asked.
 */
#include <stdlib.h>

#include "ledger/crypto/timestamp.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* As the corpus has it: that of the note "a note\n". */
#define NONCE UINT64_C(0x8123456789abcdef)

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct arena *a = arena_new();
	struct timestamp stamp;
	struct str query;
	struct err e = { 0 };

	if (timestamp_query(sha256(STR("a note\n")), NONCE, a, &query, &e))
		abort();
	if (timestamp_check(query, (struct str){ (const char *)p, n }, STR_NONE,
		a, &stamp, &e) == 0) {
		if (stamp.gen_time.us <= 0 || stamp.policy.n == 0)
			abort();
	} else if (e.kind != &err_malformed) {
		abort();
	}
	arena_free(a);
	return 0;
}
