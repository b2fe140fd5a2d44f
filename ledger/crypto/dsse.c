#include "ledger/crypto/dsse.h"

#include <inttypes.h>
#include <string.h>

#include "ledger/codec/text.h"
#include "ledger/crypto/hash.h"

#define HEAD_MAX    512
#define FINGERPRINT "SHA256:"

_Static_assert(
    sizeof FINGERPRINT - 1 + BASE64_LENGTH(DIGEST_BYTES) - 1 == DSSE_KEYID, "");

void
dsse_keyid(struct public_key key, char out[DSSE_KEYID + 1])
{
	char base64[BASE64_LENGTH(DIGEST_BYTES) + 1];
	uint8_t blob[PUBLIC_KEY_BLOB];
	struct digest d;

	public_key_blob(key, blob);
	d = sha256((struct str){ (const char *)blob, sizeof blob });
	base64_encode(d.b, sizeof d.b, base64);
	memcpy(out, FINGERPRINT, sizeof FINGERPRINT - 1);
	/* 32 bytes end in one "=". */
	memcpy(out + sizeof FINGERPRINT - 1, base64, sizeof base64 - 2);
	out[DSSE_KEYID] = '\0';
}

void
dsse_pae_head(struct buf *b, struct str payload_type, uint64_t n)
{
	buf_addf(b, "DSSEv1 %zu %.*s %" PRIu64 " ", payload_type.n,
	    STR_ARGS(payload_type), n);
}

/* The head, then the payload, as one message. */
struct pae {
	struct str head;
	bool head_given;
	const struct ed25519_source *payload;
	uint64_t n, left;
};

static int
pae_rewind(void *arg, struct err *e)
{
	struct pae *p = arg;

	p->head_given = false;
	p->left = p->n;
	return p->payload->rewind(p->payload->arg, e);
}

static int
pae_next(void *arg, struct str *piece, struct err *e)
{
	struct pae *p = arg;

	if (!p->head_given) {
		p->head_given = true;
		*piece = p->head;
		return 0;
	}
	if (p->payload->next(p->payload->arg, piece, e))
		return -1;
	if (piece->n > p->left || (piece->n == 0 && p->left > 0))
		return err_set(e, &err_internal,
		    "the payload to be signed has not the length given");
	p->left -= piece->n;
	return 0;
}

int
dsse_sign(const struct private_key *key, struct str payload_type, uint64_t n,
    const struct ed25519_source *payload, struct signature *out, struct err *e)
{
	struct pae pae = { .payload = payload, .n = n };
	struct ed25519_source whole = { pae_rewind, pae_next, &pae };
	struct buf head;
	int rc;

	buf_init(&head, HEAD_MAX);
	dsse_pae_head(&head, payload_type, n);
	pae.head = buf_str(&head);
	rc = buf_failed(&head)
		 ? err_set(e, &err_internal, "a payload type is too long")
		 : ed25519_sign_stream(key, &whole, out, e);
	buf_fini(&head);
	return rc;
}

struct ed25519_verifier *
dsse_verify_begin(struct public_key key, struct str payload_type, uint64_t n,
    struct signature sig)
{
	struct ed25519_verifier *v = ed25519_verify_begin(key, sig);
	struct buf head;

	buf_init(&head, HEAD_MAX + payload_type.n);
	dsse_pae_head(&head, payload_type, n);
	ed25519_verify_add(v, buf_str(&head));
	buf_fini(&head);
	return v;
}

void
dsse_head(struct buf *b)
{
	buf_add_cstr(b, "{\"payload\":\"");
}

void
dsse_tail(struct buf *b, struct str payload_type, struct public_key key,
    struct signature sig)
{
	char keyid[DSSE_KEYID + 1];

	dsse_keyid(key, keyid);
	buf_addf(b,
	    "\",\"payloadType\":\"%.*s\",\"signatures\":[{\"keyid\":\"%s\","
	    "\"sig\":\"",
	    STR_ARGS(payload_type), keyid);
	base64_add(b, (struct str){ (const char *)sig.b, sizeof sig.b });
	buf_add_cstr(b, "\"}]}");
}
