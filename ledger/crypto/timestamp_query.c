#include <openssl/err.h>
#include <openssl/ts.h>

#include "ledger/crypto/timestamp.h"

static bool
set_imprint(TS_REQ *query, struct digest digest)
{
	TS_MSG_IMPRINT *imprint = TS_MSG_IMPRINT_new();
	X509_ALGOR *hash = X509_ALGOR_new();
	bool done =
	    imprint && hash &&
	    X509_ALGOR_set0(hash, OBJ_nid2obj(NID_sha256), V_ASN1_NULL, NULL) ==
		1 &&
	    TS_MSG_IMPRINT_set_algo(imprint, hash) == 1 &&
	    TS_MSG_IMPRINT_set_msg(imprint, digest.b, sizeof digest.b) == 1 &&
	    TS_REQ_set_msg_imprint(query, imprint) == 1;

	X509_ALGOR_free(hash);
	TS_MSG_IMPRINT_free(imprint);
	return done;
}

static bool
set_nonce(TS_REQ *query, uint64_t nonce)
{
	ASN1_INTEGER *number = ASN1_INTEGER_new();
	bool done = number && ASN1_INTEGER_set_uint64(number, nonce) == 1 &&
		    TS_REQ_set_nonce(query, number) == 1;

	ASN1_INTEGER_free(number);
	return done;
}

static bool
encode(const TS_REQ *query, struct arena *a, struct str *der)
{
	unsigned char *bytes = NULL;
	int n = i2d_TS_REQ(query, &bytes);

	if (n > 0)
		*der = arena_str(
		    a, (struct str){ (const char *)bytes, (size_t)n });
	OPENSSL_free(bytes);
	return n > 0;
}

int
timestamp_query(struct digest digest, uint64_t nonce, struct arena *a,
    struct str *der, struct err *e)
{
	TS_REQ *query = TS_REQ_new();
	bool done = query && TS_REQ_set_version(query, 1) == 1 &&
		    set_imprint(query, digest) && set_nonce(query, nonce) &&
		    TS_REQ_set_cert_req(query, 1) == 1 && encode(query, a, der);

	TS_REQ_free(query);
	ERR_clear_error();
	return done ? 0
		    : err_set(
			  e, &err_internal, "cannot make a time-stamp query");
}
