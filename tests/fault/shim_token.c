/*
 * A PKCS #11 module: SoftHSM2, but for what the environment's SHIM_TOKEN says.
 *
 *	wrong     signatures with a bit turned over, after a while
 *	short     signatures of 63 bytes
 *	lost      the next signature finds its session gone
 *	final     tokens that take one more PIN
 *	locked    tokens that take none
 *
 * shim_token_logins counts the PINs that were given.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CRYPTOKI_GNU 1
#include <p11-kit-1/p11-kit/pkcs11.h>

#define MODULE "/usr/lib/softhsm/libsofthsm2.so"

atomic_int shim_token_logins;

static struct ck_function_list *real;
static struct ck_function_list ours;

static int
is_told(const char *what)
{
	const char *told = getenv("SHIM_TOKEN");

	return told != NULL && strcmp(told, what) == 0;
}

static ck_rv_t
login(ck_session_handle_t session, ck_user_type_t user, unsigned char *pin,
    unsigned long n)
{
	atomic_fetch_add(&shim_token_logins, 1);
	return real->C_Login(session, user, pin, n);
}

static ck_rv_t
token_info(ck_slot_id_t slot, struct ck_token_info *info)
{
	ck_rv_t rv = real->C_GetTokenInfo(slot, info);

	if (is_told("final"))
		info->flags |= CKF_USER_PIN_FINAL_TRY;
	if (is_told("locked"))
		info->flags |= CKF_USER_PIN_LOCKED;
	return rv;
}

static ck_rv_t
sign_init(ck_session_handle_t session, struct ck_mechanism *mechanism,
    ck_object_handle_t key)
{
	if (is_told("lost")) {
		unsetenv("SHIM_TOKEN");
		return CKR_SESSION_HANDLE_INVALID;
	}
	return real->C_SignInit(session, mechanism, key);
}

static ck_rv_t
sign(ck_session_handle_t session, unsigned char *data, unsigned long n,
    unsigned char *signature, unsigned long *n_signature)
{
	ck_rv_t rv = real->C_Sign(session, data, n, signature, n_signature);

	if (rv == CKR_OK && is_told("wrong")) {
		usleep(20000);
		signature[40] ^= 1;
	}
	if (rv == CKR_OK && is_told("short"))
		*n_signature = 63;
	return rv;
}

ck_rv_t
C_GetFunctionList(struct ck_function_list **out)
{
	void *library = dlopen(MODULE, RTLD_NOW | RTLD_LOCAL);
	void *symbol;
	ck_rv_t (*get)(struct ck_function_list **);

	if (library == NULL)
		return CKR_GENERAL_ERROR;
	symbol = dlsym(library, "C_GetFunctionList");
	memcpy(&get, &symbol, sizeof get);
	if (get(&real) != CKR_OK)
		return CKR_GENERAL_ERROR;
	ours = *real;
	ours.C_Login = login;
	ours.C_GetTokenInfo = token_info;
	ours.C_SignInit = sign_init;
	ours.C_Sign = sign;
	*out = &ours;
	return CKR_OK;
}
