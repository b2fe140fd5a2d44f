#include <stdio.h>
#include <string.h>

#include "ledger/crypto/pkcs11.h"

#define SLOTS_MAX 64
#define ID_MAX    256
#define POINT_MAX 64

/* What an operator is most likely to meet, by its name in the standard. */
static const struct {
	ck_rv_t rv;
	const char *name;
} reasons[] = {
#define REASON(name)        \
	{                   \
		name, #name \
	}
	REASON(CKR_HOST_MEMORY),
	REASON(CKR_SLOT_ID_INVALID),
	REASON(CKR_GENERAL_ERROR),
	REASON(CKR_FUNCTION_FAILED),
	REASON(CKR_CANT_LOCK),
	REASON(CKR_DEVICE_ERROR),
	REASON(CKR_DEVICE_MEMORY),
	REASON(CKR_DEVICE_REMOVED),
	REASON(CKR_KEY_HANDLE_INVALID),
	REASON(CKR_KEY_TYPE_INCONSISTENT),
	REASON(CKR_KEY_FUNCTION_NOT_PERMITTED),
	REASON(CKR_MECHANISM_INVALID),
	REASON(CKR_OBJECT_HANDLE_INVALID),
	REASON(CKR_PIN_INCORRECT),
	REASON(CKR_PIN_INVALID),
	REASON(CKR_PIN_LEN_RANGE),
	REASON(CKR_PIN_EXPIRED),
	REASON(CKR_PIN_LOCKED),
	REASON(CKR_SESSION_CLOSED),
	REASON(CKR_SESSION_COUNT),
	REASON(CKR_SESSION_HANDLE_INVALID),
	REASON(CKR_TOKEN_NOT_PRESENT),
	REASON(CKR_TOKEN_NOT_RECOGNIZED),
	REASON(CKR_USER_NOT_LOGGED_IN),
	REASON(CKR_USER_TYPE_INVALID),
	REASON(CKR_CRYPTOKI_NOT_INITIALIZED),
#undef REASON
};

int
pkcs11_failed(struct pkcs11_ask *ask, const char *what, ck_rv_t rv)
{
	ask->lost = true;
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].rv == rv)
			return err_set(ask->e, &err_unavailable, "%s: %s", what,
			    reasons[i].name);
	return err_set(ask->e, &err_unavailable, "%s: CKR 0x%lx", what, rv);
}

/* Fields of a token are filled up with blanks. */
static bool
matches(struct str wanted, const unsigned char *field, size_t n)
{
	if (!wanted.p)
		return true;
	while (n > 0 && field[n - 1] == ' ')
		n--;
	return str_eq(wanted, (struct str){ (const char *)field, n });
}

static bool
is_wanted(const struct pkcs11_uri *u, const struct ck_token_info *t)
{
	return (t->flags & CKF_TOKEN_INITIALIZED) != 0 &&
	       matches(u->token, t->label, sizeof t->label) &&
	       matches(u->manufacturer, t->manufacturer_id,
		   sizeof t->manufacturer_id) &&
	       matches(u->model, t->model, sizeof t->model) &&
	       matches(u->serial, t->serial_number, sizeof t->serial_number);
}

int
pkcs11_find_token(struct pkcs11_ask *ask, const struct pkcs11_uri *u,
    ck_slot_id_t *slot, struct ck_token_info *info)
{
	ck_slot_id_t slots[SLOTS_MAX];
	unsigned long n = SLOTS_MAX;
	size_t found = 0;
	ck_rv_t rv;

	/* Asked without room, a module looks for tokens that came or went. */
	rv = ask->f->C_GetSlotList(1, NULL, &n);
	if (rv == CKR_OK && n > SLOTS_MAX)
		return err_set(ask->e, &err_unavailable,
		    "the PKCS #11 module has more than %d slots", SLOTS_MAX);
	n = SLOTS_MAX;
	if (rv == CKR_OK)
		rv = ask->f->C_GetSlotList(1, slots, &n);
	if (rv != CKR_OK)
		return pkcs11_failed(ask, "the tokens cannot be listed", rv);
	for (size_t i = 0; i < n; i++) {
		struct ck_token_info t;

		if (ask->f->C_GetTokenInfo(slots[i], &t) != CKR_OK ||
		    !is_wanted(u, &t))
			continue;
		*slot = slots[i];
		*info = t;
		found++;
	}
	if (found == 1)
		return 0;
	ask->lost = found == 0;
	return err_set(ask->e, &err_unavailable,
	    found == 0 ? "no token is there that the PKCS #11 URI matches"
		       : "more than one token matches the PKCS #11 URI: give "
			 "token= and serial=");
}

/* Objects of that template: at most two, which is one too many already. */
static int
find_objects(struct pkcs11_ask *ask, ck_session_handle_t session,
    struct ck_attribute *template, unsigned long n_template,
    ck_object_handle_t out[2], unsigned long *n)
{
	ck_rv_t rv;

	rv = ask->f->C_FindObjectsInit(session, template, n_template);
	if (rv == CKR_OK) {
		rv = ask->f->C_FindObjects(session, out, 2, n);
		ask->f->C_FindObjectsFinal(session);
	}
	if (rv != CKR_OK)
		return pkcs11_failed(ask, "the key cannot be looked for", rv);
	return 0;
}

/* A template takes values that it does not change as if it did. */
static void
attribute_set(struct ck_attribute *a, ck_attribute_type_t type,
    struct str value, unsigned char *room)
{
	memcpy(room, value.p, value.n);
	*a = (struct ck_attribute){ type, room, value.n };
}

static int
check_length(struct pkcs11_ask *ask, struct str value)
{
	if (value.n <= ID_MAX)
		return 0;
	return err_set(ask->e, &err_unavailable,
	    "object and id of a PKCS #11 URI have at most %d bytes", ID_MAX);
}

static int
find_private(struct pkcs11_ask *ask, const struct pkcs11_uri *u,
    ck_session_handle_t session, ck_object_handle_t *out)
{
	unsigned char label[ID_MAX], id[ID_MAX];
	ck_object_class_t class = CKO_PRIVATE_KEY;
	struct ck_attribute t[3] = { { CKA_CLASS, &class, sizeof class } };
	ck_object_handle_t found[2];
	unsigned long n = 1, n_found;

	if (check_length(ask, u->object) || check_length(ask, u->id))
		return -1;
	if (u->object.p)
		attribute_set(&t[n++], CKA_LABEL, u->object, label);
	if (u->id.p)
		attribute_set(&t[n++], CKA_ID, u->id, id);
	if (find_objects(ask, session, t, n, found, &n_found))
		return -1;
	*out = found[0];
	if (n_found == 1)
		return 0;
	ask->lost = n_found == 0;
	return err_set(ask->e, &err_unavailable,
	    n_found == 0
		? "the token has no private key that the PKCS #11 URI matches"
		: "the token has several private keys that the PKCS #11 URI "
		  "matches: give object= and id=");
}

static int
check_type(
    struct pkcs11_ask *ask, ck_session_handle_t session, ck_object_handle_t key)
{
	ck_key_type_t type = 0;
	struct ck_attribute a = { CKA_KEY_TYPE, &type, sizeof type };
	ck_rv_t rv = ask->f->C_GetAttributeValue(session, key, &a, 1);

	if (rv != CKR_OK)
		return pkcs11_failed(ask, "the key's type cannot be read", rv);
	if (type != CKK_EC_EDWARDS)
		return err_set(ask->e, &err_unavailable,
		    "the key on the token is not Ed25519 (CKK_EC_EDWARDS)");
	return 0;
}

/* The bytes of an attribute, STR_NONE where the object has none that fits. */
static struct str
read_attribute(struct pkcs11_ask *ask, ck_session_handle_t session,
    ck_object_handle_t object, ck_attribute_type_t type, unsigned char *room,
    size_t max)
{
	struct ck_attribute a = { type, room, max };

	if (ask->f->C_GetAttributeValue(session, object, &a, 1) != CKR_OK ||
	    a.value_len > max)
		return STR_NONE;
	return (struct str){ (const char *)room, a.value_len };
}

/* CKA_EC_POINT: the 32 bytes as they are, or in a DER OCTET STRING, which is
 * what the standard says and half of the modules do. */
static bool
decode_point(struct str point, struct public_key *out)
{
	if (point.n == 2 + sizeof out->b &&
	    str_has_prefix(point, STR("\x04\x20")))
		point = str_slice(point, 2, point.n);
	if (point.n != sizeof out->b)
		return false;
	memcpy(out->b, point.p, sizeof out->b);
	return true;
}

/* Keys of a pair have the same CKA_ID, or else the same label. */
static int
find_public(struct pkcs11_ask *ask, ck_session_handle_t session,
    ck_object_handle_t key, struct public_key *out)
{
	unsigned char name[ID_MAX], point[POINT_MAX];
	ck_object_class_t class = CKO_PUBLIC_KEY;
	ck_key_type_t type = CKK_EC_EDWARDS;
	struct ck_attribute t[3] = { { CKA_CLASS, &class, sizeof class },
		{ CKA_KEY_TYPE, &type, sizeof type } };
	ck_attribute_type_t same = CKA_ID;
	ck_object_handle_t found[2];
	unsigned long n = 0;
	struct str value =
	    read_attribute(ask, session, key, same, name, sizeof name);

	if (value.n == 0) {
		same = CKA_LABEL;
		value =
		    read_attribute(ask, session, key, same, name, sizeof name);
	}
	t[2] = (struct ck_attribute){ same, name, value.n };
	if (value.n > 0 && find_objects(ask, session, t, 3, found, &n))
		return -1;
	if (n != 1)
		return err_set(ask->e, &err_unavailable,
		    "the token has %s public key with the private key's id: it "
		    "must have one",
		    n == 0 ? "no" : "more than one");
	if (!decode_point(read_attribute(ask, session, found[0], CKA_EC_POINT,
			      point, sizeof point),
		out))
		return err_set(ask->e, &err_unavailable,
		    "the token's public key (CKA_EC_POINT) is not of Ed25519");
	return 0;
}

int
pkcs11_find_key(struct pkcs11_ask *ask, const struct pkcs11_uri *u,
    ck_session_handle_t session, ck_object_handle_t *key,
    struct public_key *public)
{
	if (find_private(ask, u, session, key) ||
	    check_type(ask, session, *key) ||
	    find_public(ask, session, *key, public))
		return -1;
	return 0;
}
