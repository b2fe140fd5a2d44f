#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "ledger/crypto/pkcs11.h"
#include "ledger/crypto/private_key.h"

#define PIN_MAX 255

/* `file:` as a URI of a file has it (RFC 8089), or the bare path. */
static int
pin_path(struct str source, char *out, size_t room, struct err *e)
{
	if (str_has_prefix(source, STR("file://")))
		source = str_slice(source, 7, source.n);
	else if (str_has_prefix(source, STR("file:")))
		source = str_slice(source, 5, source.n);
	if (!str_has_prefix(source, STR("/")) || source.n >= room)
		return err_set(e, &err_unavailable,
		    "pin-source must be file: and an absolute path");
	snprintf(out, room, "%.*s", STR_ARGS(source));
	return 0;
}

/* *pin lies in the URI or in the file's bytes; no value: there is none. */
static int
read_pin(const struct pkcs11_uri *u, struct key_file *f, struct str *pin,
    struct err *e)
{
	char path[1024];

	*pin = u->pin_value;
	if (u->pin_source.p) {
		if (pin_path(u->pin_source, path, sizeof path, e) ||
		    key_file_read(path, f, e))
			return -1;
		*pin = f->text;
		if (str_has_suffix(*pin, STR("\n")))
			pin->n--;
	}
	if (pin->p && (pin->n == 0 || pin->n > PIN_MAX))
		return err_set(
		    e, &err_unavailable, "a PIN has 1 to %d bytes", PIN_MAX);
	return 0;
}

static int
check_flags(const struct ck_token_info *t, struct err *e)
{
	if (t->flags & CKF_USER_PIN_LOCKED)
		return err_set(e, &err_unavailable,
		    "the token's PIN is locked: its security officer sets a "
		    "new one");
	if (t->flags & CKF_USER_PIN_FINAL_TRY)
		return err_set(e, &err_unavailable,
		    "the token takes one more PIN before it locks itself: log "
		    "in by hand first");
	return 0;
}

static int
give_pin(struct pkcs11_ask *ask, struct pkcs11_module *m,
    ck_session_handle_t session, const struct ck_token_info *t, struct str pin)
{
	struct str serial = { (const char *)t->serial_number,
		sizeof t->serial_number };
	unsigned char copy[PIN_MAX];
	ck_rv_t rv;

	if (!pin.p)
		return err_set(ask->e, &err_unavailable,
		    "the token wants a PIN: give pin-source");
	if (pkcs11_pin_is_refused(m, serial, pin))
		return err_set(ask->e, &err_unavailable,
		    "the token has refused this PIN: mend it, or start the "
		    "program anew when the token takes it");
	memcpy(copy, pin.p, pin.n);
	rv = ask->f->C_Login(session, CKU_USER, copy, pin.n);
	sodium_memzero(copy, sizeof copy);
	if (rv == CKR_OK || rv == CKR_USER_ALREADY_LOGGED_IN)
		return 0;
	pkcs11_failed(ask, "the token refuses the login", rv);
	if (rv == CKR_PIN_INCORRECT || rv == CKR_PIN_INVALID ||
	    rv == CKR_PIN_LEN_RANGE || rv == CKR_PIN_LOCKED) {
		pkcs11_pin_refuse(m, serial, pin);
		ask->lost = false;
	}
	return -1;
}

int
pkcs11_log_in(struct pkcs11_ask *ask, struct pkcs11_module *m,
    const struct pkcs11_uri *u, ck_session_handle_t session,
    const struct ck_token_info *t)
{
	struct key_file f;
	struct str pin;
	int rc = -1;

	if ((t->flags & CKF_LOGIN_REQUIRED) == 0)
		return 0;
	if (check_flags(t, ask->e) == 0 && read_pin(u, &f, &pin, ask->e) == 0)
		rc = give_pin(ask, m, session, t, pin);
	sodium_memzero(&f, sizeof f);
	return rc;
}
