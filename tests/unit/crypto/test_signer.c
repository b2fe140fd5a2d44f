#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "ledger/crypto/note.h"

#define ORIGIN "ledger.example.com/acme/sandbox"

static const uint8_t seed[32] = { 1, 2, 3 };

static struct signer *
new_signer(const char *origin)
{
	return signer_new(private_key_from_seed(seed), str_from(origin));
}

/* One text of each kind, in the order of enum signs. */
static const char *const texts[] = { "{\"v\":1}", ORIGIN "\n1\nroot\n",
	"SSHSIG", "probity-key/v1\nkey\n" };

/* Each kind signs its own bytes and refuses those of every other. */
static void
test_kinds(void **state)
{
	struct signer *s = new_signer(ORIGIN);
	struct signature sig;

	(void)state;
	for (int kind = 0; kind < 4; kind++)
		for (int text = 0; text < 4; text++) {
			struct err e = { 0 };
			struct str m = str_from(texts[text]);
			int rc = signer_sign(s, (enum signs)kind, m, &sig, &e);

			assert_int_equal(rc, kind == text ? 0 : -1);
			if (rc == 0)
				assert_true(
				    ed25519_verify(signer_public(s), m, sig));
			else
				assert_ptr_equal(e.kind, &err_internal);
		}
	signer_free(s);
}

static void
expect_refusal(const struct signer *s, enum signs kind, const char *text)
{
	struct signature sig;
	struct err e = { 0 };

	assert_int_equal(signer_sign(s, kind, str_from(text), &sig, &e), -1);
	assert_ptr_equal(e.kind, &err_internal);
}

static void
test_refusals(void **state)
{
	struct signer *s = new_signer(ORIGIN);

	(void)state;
	expect_refusal(s, SIGNS_EVENT, "");
	expect_refusal(s, SIGNS_EVENT, NULL);
	expect_refusal(s, SIGNS_EVENT, " {");
	/* The origin must be the whole line. */
	expect_refusal(s, SIGNS_NOTE, ORIGIN);
	expect_refusal(s, SIGNS_NOTE, ORIGIN "x\n1\n");
	expect_refusal(s, SIGNS_NOTE, "ledger.example.com/acme\n1\n");
	expect_refusal(s, SIGNS_COMMIT, "SSHSI");
	expect_refusal(s, SIGNS_POSSESSION, "probity-key/v1");
	expect_refusal(s, SIGNS_POSSESSION, "probity-key/v10\n");
	signer_free(s);
}

/* An origin that begins like another kind would blur the kinds. */
static void
test_bad_origins(void **state)
{
	static const char *const origins[] = { "", "{", "SSHSIG",
		"probity-key/v1" };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct signer *s = new_signer(origins[i]);
		char text[64];

		snprintf(text, sizeof text, "%s\n", origins[i]);
		expect_refusal(s, SIGNS_NOTE, text);
		signer_free(s);
	}
}

static void
test_identity(void **state)
{
	struct signer *s = new_signer(ORIGIN);

	(void)state;
	assert_true(str_is(signer_origin(s), ORIGIN));
	assert_int_equal(
	    signer_key_id(s), note_key_id(STR(ORIGIN), signer_public(s)));
	signer_free(s);
	signer_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_bad_origins),
		cmocka_unit_test(test_identity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
