/*
 * What a key file says: whose public key it means, and that it signs. Nothing
 * is changed; the trial begins as nothing does that a ledger's key signs.
 */
#include <stdio.h>

#include "domain/probityctl/ctl.h"
#include "ledger/base/uid.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/ed25519.h"

#define TRIAL_BYTES 32

struct key_check_request {
	struct str file;
};

/* clang-format off */
SHAPE(key_check_request, "Which key",
	FIELD(key_check_request, file, .required = true, .doc = "Path of the key file: a key in PEM, or the PKCS #11 URI of one on a token"));
/* clang-format on */

static int
try_key(const struct private_key *key, struct err *e)
{
	char text[sizeof "probity-trial/v1\n" + 2 * TRIAL_BYTES] =
	    "probity-trial/v1\n";
	uint8_t bytes[TRIAL_BYTES];
	struct signature signature;
	struct str trial;

	random_bytes(bytes, sizeof bytes);
	hex_encode(bytes, sizeof bytes, text + sizeof "probity-trial/v1\n" - 1);
	trial = str_from(text);
	if (private_key_sign(key, trial, &signature, e))
		return -1;
	if (!ed25519_verify(private_key_public(key), trial, signature))
		return err_set(
		    e, &err_unavailable, "what the key signs does not verify");
	return 0;
}

static void
print_key(const struct ctl *ctl, const struct private_key *key)
{
	const char *kept = private_key_on_token(key) ? "token" : "file";
	char line[PUBLIC_KEY_SSH + 1];

	public_key_ssh(private_key_public(key), line);
	if (ctl->json)
		printf("{\"public_key\": \"%s\", \"kept_in\": \"%s\", "
		       "\"signs\": true}\n",
		    line, kept);
	else
		printf("%-20s  %s\n%-20s  %s\n%-20s  yes\n", "public key", line,
		    "kept in", kept, "signs");
}

int
run_key_check(struct ctl *ctl, struct err *e)
{
	struct private_key *key = NULL;
	char *path = arena_cstr(ctl->arena, ctl_param(ctl, "file"));
	int rc;

	if (private_key_load(path, &key, e))
		return -1;
	rc = try_key(key, e);
	if (rc == 0)
		print_key(ctl, key);
	private_key_free(key);
	return rc;
}
