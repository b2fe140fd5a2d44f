#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ledger/base/io.h"
#include "ledger/crypto/timestamp.h"

#define NOTE  "a note\n"
#define NONCE UINT64_C(0x8123456789abcdef)

/* An authority of the test's own: certificates and answers are made by the
 * openssl program. The shell finds the fixture's folder in $dir. */
static const char make_authority[] =
    "cd \"$dir\" && exec 2>/dev/null &&"
    " openssl req -x509 -newkey ed25519 -nodes -keyout ca.key -out ca.pem"
    " -subj /CN=ca -days 2 &&"
    " openssl req -x509 -newkey ed25519 -nodes -keyout no.key -out other.pem"
    " -subj /CN=other -days 2 &&"
    " openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
    " -keyout tsa.key -out tsa.csr -subj /CN=tsa &&"
    " echo extendedKeyUsage=critical,timeStamping >ext &&"
    " openssl x509 -req -in tsa.csr -CA ca.pem -CAkey ca.key -days 2"
    " -extfile ext -out tsa.pem &&"
    " printf '[tsa]\\ndefault_tsa=t\\n[t]\\nserial=serial\\nsigner_digest="
    "sha256\\ndefault_policy=1.2.3.4\\ndigests=sha256\\n' >conf";
static const char make_reply[] =
    "cd \"$dir\" && openssl ts -reply -config conf -queryfile query"
    " -signer tsa.pem -inkey tsa.key -out reply 2>/dev/null";

struct fixture {
	char dir[64];
	struct arena *a;
	struct str query, reply, ca;
};

static struct str
slurp(struct fixture *f, const char *name)
{
	struct str bytes;
	struct err e = { 0 };

	if (io_read_file(f->a, arena_printf(f->a, "%s/%s", f->dir, name),
		TIMESTAMP_MAX, &bytes, &e))
		fail_msg("%s: %s", name, e.detail);
	return bytes;
}

/* What the authority answers to these bytes. */
static struct str
answer_to(struct fixture *f, struct str query)
{
	struct err e = { 0 };

	assert_int_equal(io_write_file(arena_printf(f->a, "%s/query", f->dir),
			     query, 0600, &e),
	    0);
	assert_int_equal(system(make_reply), 0);
	return slurp(f, "reply");
}

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct err e = { 0 };

	snprintf(f->dir, sizeof f->dir, "/tmp/test_timestamp.XXXXXX");
	if (!mkdtemp(f->dir) || setenv("dir", f->dir, 1) ||
	    system(make_authority) != 0)
		return -1;
	f->a = arena_new();
	*state = f;
	assert_int_equal(
	    timestamp_query(sha256(STR(NOTE)), NONCE, f->a, &f->query, &e), 0);
	f->reply = answer_to(f, f->query);
	f->ca = slurp(f, "ca.pem");
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;
	int rc = system("rm -r \"$dir\"");

	arena_free(f->a);
	free(f);
	return rc;
}

static void
accept(struct fixture *f, struct str query, struct str reply, struct str ca)
{
	struct timestamp stamp;
	struct err e = { 0 };

	if (timestamp_check(query, reply, ca, f->a, &stamp, &e))
		fail_msg("%s", e.detail);
	assert_true(str_is(stamp.policy, "1.2.3.4"));
	assert_true(llabs(stamp.gen_time.us -
			  clock_system.wall(&clock_system).us) < 600000000);
	assert_int_equal(stamp.gen_time.us % 1000000, 0);
}

static void
refuse(struct fixture *f, struct str query, struct str reply, struct str ca,
    const struct err_kind *kind)
{
	struct timestamp stamp;
	struct err e = { 0 };

	assert_int_equal(
	    timestamp_check(query, reply, ca, f->a, &stamp, &e), -1);
	assert_ptr_equal(e.kind, kind);
}

/* The bytes with one of them, counted from the end, another. */
static struct str
flip(struct fixture *f, struct str s, size_t from_end)
{
	char *copy = arena_cstr(f->a, s);

	copy[s.n - from_end] ^= 1;
	return (struct str){ copy, s.n };
}

/* openssl's own words for what was asked. */
static void
test_query(void **state)
{
	struct fixture *f = *state;

	(void)f;
	assert_int_equal(
	    system("cd \"$dir\" && openssl ts -query -in query -text >text &&"
		   " grep -q 'Hash Algorithm: sha256' text &&"
		   " grep -q 'Nonce: 0x8123456789ABCDEF' text &&"
		   " grep -q 'Certificate required: yes' text &&"
		   " printf 'a note\\n' >note && openssl ts -verify -data note"
		   " -in reply -CAfile ca.pem >text 2>&1"),
	    0);
}

static void
test_accepts(void **state)
{
	struct fixture *f = *state;

	accept(f, f->query, f->reply, STR_NONE);
	accept(f, f->query, f->reply, f->ca);
}

/* The query ends in the nonce and three bytes of certReq; the hash stands
 * before the nonce and its two bytes of header (9 bytes, since it has a sign).
 */
static void
test_other_question(void **state)
{
	struct fixture *f = *state;
	struct str nonce = flip(f, f->query, 4);
	struct str imprint = flip(f, f->query, 3 + 11 + 1);

	refuse(f, f->query, answer_to(f, nonce), STR_NONE, &err_malformed);
	refuse(f, f->query, answer_to(f, imprint), STR_NONE, &err_malformed);
	refuse(f, f->query, answer_to(f, imprint), f->ca, &err_malformed);
}

static void
test_other_authority(void **state)
{
	struct fixture *f = *state;

	refuse(f, f->query, f->reply, slurp(f, "other.pem"), &err_malformed);
	refuse(f, f->query, flip(f, f->reply, 1), f->ca, &err_malformed);
	refuse(f, f->query, f->reply, STR("no certificate"), &err_invalid);
}

/* Status 2, rejection, and no token. */
static void
test_refusal(void **state)
{
	static const char refusal[] = { 0x30, 0x05, 0x30, 0x03, 0x02, 0x01,
		0x02 };
	static const char granted[] = { 0x30, 0x05, 0x30, 0x03, 0x02, 0x01,
		0x00 };
	struct fixture *f = *state;

	refuse(f, f->query, (struct str){ refusal, sizeof refusal }, STR_NONE,
	    &err_malformed);
	refuse(f, f->query, (struct str){ granted, sizeof granted }, STR_NONE,
	    &err_malformed);
}

static void
test_garbage(void **state)
{
	struct fixture *f = *state;
	char *longer = arena_alloc(f->a, TIMESTAMP_MAX + 1);

	refuse(f, f->query, STR(""), STR_NONE, &err_malformed);
	refuse(f, f->query, STR("<html>"), STR_NONE, &err_malformed);
	for (size_t n = 0; n < f->reply.n; n += 7)
		refuse(f, f->query, str_slice(f->reply, 0, n), STR_NONE,
		    &err_malformed);
	memcpy(longer, f->reply.p, f->reply.n);
	refuse(f, f->query, (struct str){ longer, f->reply.n + 1 }, STR_NONE,
	    &err_malformed);
	refuse(f, f->query, (struct str){ longer, TIMESTAMP_MAX + 1 }, STR_NONE,
	    &err_malformed);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_accepts),
		cmocka_unit_test(test_other_question),
		cmocka_unit_test(test_other_authority),
		cmocka_unit_test(test_refusal),
		cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
