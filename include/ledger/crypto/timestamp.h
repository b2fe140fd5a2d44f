/*
 * Time-stamps of RFC 3161: an authority signs that it saw a hash at a time.
 * What it is asked and what it answers are DER, as `openssl ts` reads them.
 *
 *	timestamp_query(sha256(note), nonce, arena, &query, e);
 *	… reply from the authority …
 *	timestamp_check(query, reply, ca, arena, &stamp, e);
 */
#ifndef LEDGER_CRYPTO_TIMESTAMP_H
#define LEDGER_CRYPTO_TIMESTAMP_H

#include "ledger/base/arena.h"
#include "ledger/base/err.h"
#include "ledger/base/instant.h"
#include "ledger/crypto/hash.h"

/* Longest reply that is looked at; usual ones have 1 to 6 KiB. */
#define TIMESTAMP_MAX 65536

struct timestamp {
	struct instant gen_time; /* cut to whole seconds */
	struct str policy;       /* object identifier, as 1.2.3 */
};

/* A TimeStampReq for a SHA-256 with this nonce that wants the authority's
 * certificates in the token. */
int timestamp_query(struct digest, uint64_t nonce, struct arena *,
    struct str *der, struct err *);

/*
 * Whether the reply is a TimeStampResp that grants what the query asked for:
 * version, hash, nonce. With `ca`, certificates in PEM that are trusted, also
 * whether its signature is good and its certificate leads to one of them;
 * without a value nobody has checked who signed it. err_malformed for a reply
 * that is not that, with what is wrong; err_invalid for a `ca` without a
 * certificate.
 */
int timestamp_check(struct str query, struct str reply, struct str ca,
    struct arena *, struct timestamp *, struct err *);

/*
 * Whether the reply is a time-stamp of content with this hash by an authority
 * whose certificate leads to one of `ca`: for whoever has the reply and not
 * what was asked. Errors as timestamp_check.
 */
int timestamp_verify(struct digest, struct str reply, struct str ca,
    struct arena *, struct timestamp *, struct err *);

#endif
