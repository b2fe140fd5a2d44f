#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ts.h>
#include <openssl/x509.h>
#include <time.h>

#include "ledger/crypto/timestamp.h"

#define POLICY_MAX 127

static TS_REQ *
query_from(struct str der)
{
	const unsigned char *p = (const unsigned char *)der.p;

	return der.n <= TIMESTAMP_MAX ? d2i_TS_REQ(NULL, &p, (long)der.n)
				      : NULL;
}

/* DER has one end: bytes after it would be stored and never looked at. */
static TS_RESP *
reply_from(struct str der)
{
	const unsigned char *p = (const unsigned char *)der.p;
	TS_RESP *reply = NULL;

	if (der.n > 0 && der.n <= TIMESTAMP_MAX)
		reply = d2i_TS_RESP(NULL, &p, (long)der.n);
	if (reply && p != (const unsigned char *)der.p + der.n) {
		TS_RESP_free(reply);
		reply = NULL;
	}
	return reply;
}

static X509_STORE *
store_from(struct str pem, struct err *e)
{
	BIO *in = BIO_new_mem_buf(pem.p, (int)pem.n);
	X509_STORE *store = X509_STORE_new();
	X509 *certificate = NULL;
	int n = 0;

	while (in && store &&
	       (certificate = PEM_read_bio_X509(in, NULL, NULL, NULL))) {
		n += X509_STORE_add_cert(store, certificate);
		X509_free(certificate);
	}
	BIO_free(in);
	if (n > 0)
		return store;
	X509_STORE_free(store);
	err_set(e, &err_invalid,
	    "the trusted authorities hold no certificate in PEM");
	return NULL;
}

/* The names are compared with the signer's certificate, which is only there
 * where the signature is verified. */
static int
flags_of(const X509_STORE *store)
{
	unsigned flags = TS_VFY_VERSION | TS_VFY_IMPRINT | TS_VFY_NONCE;

	if (store)
		flags |= TS_VFY_SIGNATURE | TS_VFY_SIGNER;
	return (int)flags;
}

static const char *
last_reason(void)
{
	const char *reason = ERR_reason_error_string(ERR_peek_last_error());

	return reason ? reason : "it is not in order";
}

/* Store and context become the verification's. */
static int
verify_as(TS_VERIFY_CTX *ctx, int flags, TS_RESP *reply, X509_STORE *store,
    struct err *e)
{
	int failed = 0;

	if (!ctx) {
		X509_STORE_free(store);
		return err_set(e, &err_internal, "cannot check a time-stamp");
	}
	TS_VERIFY_CTX_set_flags(ctx, flags);
	TS_VERIFY_CTX_set_store(ctx, store);
	if (TS_RESP_verify_response(ctx, reply) != 1)
		failed = err_set(e, &err_malformed,
		    "the authority's reply is not what was asked for: %s",
		    last_reason());
	TS_VERIFY_CTX_free(ctx);
	return failed;
}

static int
verify(TS_REQ *query, TS_RESP *reply, X509_STORE *store, struct err *e)
{
	return verify_as(TS_REQ_to_TS_VERIFY_CTX(query, NULL), flags_of(store),
	    reply, store, e);
}

static int
take_facts(
    TS_RESP *reply, struct arena *a, struct timestamp *out, struct err *e)
{
	TS_TST_INFO *info = TS_RESP_get_tst_info(reply);
	char policy[POLICY_MAX + 1];
	struct tm when = { 0 };
	int n = OBJ_obj2txt(
	    policy, sizeof policy, TS_TST_INFO_get_policy_id(info), 1);

	if (n <= 0 || n > POLICY_MAX)
		return err_set(e, &err_malformed,
		    "the policy of the time-stamp cannot be read");
	if (ASN1_TIME_to_tm(TS_TST_INFO_get_time(info), &when) != 1 ||
	    timegm(&when) <= 0)
		return err_set(e, &err_malformed,
		    "the time of the time-stamp cannot be read");
	*out = (struct timestamp){
		.gen_time = { (int64_t)timegm(&when) * 1000000 },
		.policy = arena_str(a, str_from(policy)),
	};
	return 0;
}

int
timestamp_check(struct str query_der, struct str reply_der, struct str ca,
    struct arena *a, struct timestamp *out, struct err *e)
{
	X509_STORE *store = NULL;
	TS_REQ *query = query_from(query_der);
	TS_RESP *reply = reply_from(reply_der);
	int failed;

	ERR_clear_error();
	if (!query)
		failed = err_set(e, &err_internal, "the query cannot be read");
	else if (!reply)
		failed = err_set(e, &err_malformed,
		    "the authority's reply is not a TimeStampResp");
	else if (ca.p && !(store = store_from(ca, e)))
		failed = -1;
	else
		failed = verify(query, reply, store, e) ||
				 take_facts(reply, a, out, e)
			     ? -1
			     : 0;
	TS_RESP_free(reply);
	TS_REQ_free(query);
	ERR_clear_error();
	return failed;
}

/* A context for the hash alone; NULL when there is no memory. */
static TS_VERIFY_CTX *
context_for(struct digest d)
{
	TS_VERIFY_CTX *ctx = TS_VERIFY_CTX_new();
	unsigned char *hash = OPENSSL_memdup(d.b, sizeof d.b);

	if (ctx && hash)
		TS_VERIFY_CTX_set_imprint(ctx, hash, sizeof d.b);
	else
		OPENSSL_free(hash);
	return ctx;
}

/* The imprint's algorithm is not compared where only its bytes are given. */
static bool
is_sha256(TS_RESP *reply)
{
	TS_TST_INFO *info = TS_RESP_get_tst_info(reply);
	TS_MSG_IMPRINT *imprint =
	    info ? TS_TST_INFO_get_msg_imprint(info) : NULL;

	return imprint &&
	       OBJ_obj2nid(TS_MSG_IMPRINT_get_algo(imprint)->algorithm) ==
		   NID_sha256;
}

int
timestamp_verify(struct digest hash, struct str reply_der, struct str ca,
    struct arena *a, struct timestamp *out, struct err *e)
{
	const int flags = TS_VFY_VERSION | TS_VFY_IMPRINT | TS_VFY_SIGNATURE;
	TS_RESP *reply = reply_from(reply_der);
	X509_STORE *store;
	int failed = -1;

	ERR_clear_error();
	if (!reply || !is_sha256(reply))
		err_set(e, &err_malformed,
		    "it is not a TimeStampResp for a SHA-256");
	else if ((store = store_from(ca, e)))
		failed = verify_as(context_for(hash), flags, reply, store, e) ||
				 take_facts(reply, a, out, e)
			     ? -1
			     : 0;
	TS_RESP_free(reply);
	ERR_clear_error();
	return failed;
}
