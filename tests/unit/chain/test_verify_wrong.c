/*
 * What somebody with the key can do is named all the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/verdict.h"
#include "tests/support/wrong_batch.h"

static void
test_wrong_batches(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_wrongs; i++) {
		const struct wrong *w = &wrongs[i];
		struct small_ledger *l = make_ledger();
		struct verify_options o = { .key = l->key };
		struct verify_report r;

		add_wrong(l, w->events, w->rest);
		small_ledger_add(l, 2);
		r = verify_with(l, &o);
		assert_bad(&r, w->check, w->seq, w->reason);
		assert_int_equal(r.size, 10);
		assert_int_equal(r.batches, 5);
		o.quick = true;
		r = verify_with(l, &o);
		/* Without their signatures, these are good events. */
		if (w->rest != wrong_event_changed &&
		    w->rest != wrong_signature_forged)
			assert_bad(&r, w->check, w->seq, w->reason);
		o.quick = false;
		o.from_seq = 10;
		r = verify_with(l, &o);
		/* No root is computed then; and the batch that claims to end
		 * at 10 is the one trusted. */
		if (w->rest != wrong_root && w->rest != wrong_size_trailer)
			assert_bad(&r, w->check, w->seq, w->reason);
		small_ledger_free(l);
	}
}

/* Changed events do not escape the quick verification either: the chain and
 * the tree no longer agree. */
static void
test_quick_sees_changed_events(void **state)
{
	struct small_ledger *l = make_ledger();
	struct verify_options o = { .key = l->key, .quick = true };
	struct verify_report r;

	(void)state;
	add_wrong(l, NULL, wrong_event_changed);
	r = verify_with(l, &o);
	assert_bad(&r, "chain", 12, "prev");
	small_ledger_free(l);
}

static void
test_wrong_parents(void **state)
{
	struct small_ledger *l = make_ledger();
	struct verify_report r;

	(void)state;
	add_wrong(l, NULL, wrong_two_parents);
	r = verify_full(l);
	assert_bad(&r, "commit", 0, "more than one");
	small_ledger_free(l);

	l = make_ledger();
	add_wrong(l, NULL, wrong_no_parent);
	r = verify_full(l);
	assert_bad(&r, "event", 0, "does not open a ledger");
	small_ledger_free(l);
}

static void
test_listed_extra_is_passed_over(void **state)
{
	struct small_ledger *l = make_ledger();
	struct parts p = small_ledger_draft(l, 2);
	char hex[DIGEST_HEX + 1];
	struct verify_report r;

	(void)state;
	small_ledger_seal_parts(l, &p);
	wrong_extra_unlisted(l, &p);
	digest_hex(sha256(STR("x")), hex);
	p.message = arena_strf(l->a, "%.*sLedger-X: x-notes %s\nNew: 1\n",
	    STR_ARGS(p.message), hex);
	small_ledger_write(l, &p);
	small_ledger_add(l, 1);
	r = verify_full(l);
	assert_good(&r);
	assert_int_equal(r.size, 13);
	small_ledger_free(l);
}

static void
test_closed_ledger(void **state)
{
	struct small_ledger *l = make_ledger();
	struct parts p = small_ledger_draft(l, 1);
	struct verify_report r;

	(void)state;
	p.events[0].type = STR("ledger.closed");
	small_ledger_seal_parts(l, &p);
	small_ledger_write(l, &p);
	r = verify_full(l);
	assert_good(&r);
	small_ledger_add(l, 1);
	r = verify_full(l);
	assert_bad(&r, "chain", 11, "follows ledger.closed");
	small_ledger_free(l);
}

/* The name and the blob fit the event, its content or its size does not. */
static void
test_payload_contents(void **state)
{
	for (int i = 0; i < 3; i++) {
		struct small_ledger *l = make_ledger();
		struct parts p = small_ledger_draft(l, 1);
		struct payload named =
		    small_ledger_payload(l, "x", STR("content"));
		struct verify_report r;

		named.size += i == 0 ? 1 : 0;
		named.size -= i == 1 ? 1 : 0;
		p.events[0].payloads = &named;
		p.events[0].n_payloads = 1;
		small_ledger_seal_parts(l, &p);
		if (i == 2)
			p.payloads[0].oid =
			    small_ledger_payload(l, "y", STR("c0ntent")).oid;
		small_ledger_write(l, &p);
		r = verify_full(l);
		assert_bad(
		    &r, "payload", 10, i == 2 ? "another hash" : "has 7 bytes");
		small_ledger_free(l);
	}
	(void)state;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong_batches),
		cmocka_unit_test(test_quick_sees_changed_events),
		cmocka_unit_test(test_wrong_parents),
		cmocka_unit_test(test_listed_extra_is_passed_over),
		cmocka_unit_test(test_closed_ledger),
		cmocka_unit_test(test_payload_contents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
