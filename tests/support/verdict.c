#include "tests/support/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct verify_report
verify_with(struct small_ledger *l, const struct verify_options *o)
{
	struct verify_report r;
	struct err e = { 0 };

	if (verify_ledger(l->repo_path, o, &r, &e))
		fail_msg("not carried out: %s", e.detail);
	return r;
}

struct verify_report
verify_full(struct small_ledger *l)
{
	struct verify_options o = { .key = l->key, .threads = 2 };

	return verify_with(l, &o);
}

void
assert_good(const struct verify_report *r)
{
	if (!r->good)
		fail_msg("event %llu: %s: %s",
		    (unsigned long long)r->failed_seq, r->check, r->reason);
}

void
assert_bad(const struct verify_report *r, const char *check, uint64_t seq,
    const char *reason)
{
	if (r->good)
		fail_msg("not noticed: %s", reason);
	if (strcmp(r->check, check) != 0 || !strstr(r->reason, reason))
		fail_msg("wanted %s: %s; got %s: %s", check, reason, r->check,
		    r->reason);
	assert_int_equal(r->failed_seq, seq);
}

struct small_ledger *
make_ledger(void)
{
	struct small_ledger *l = small_ledger_new();

	small_ledger_add(l, 3);
	small_ledger_add_payloads(l, STR("a statement"));
	small_ledger_add(l, 1);
	small_ledger_add(l, 3);
	return l;
}
