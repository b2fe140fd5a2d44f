/*
 * Personal values in operations. They are encrypted by a write's prepare,
 * before the turn, and decrypted when a reply is made; events and tables hold
 * them encrypted only, and projections have no key.
 *
 *	struct content_key key;
 *	if (content_begin(c, &key, &subject, e))
 *		return -1;
 * *	data->name = content_text(c, &key, subject, "name", in->name);
 *	content_end(&key);
 */
#ifndef DOMAIN_CONTENT_H
#define DOMAIN_CONTENT_H

#include "domain/context.h"
#include "ledger/write/content.h"

/* For prepare: the uid of a new record, and a content key for it, synced. */
int content_begin(
    struct context *, struct content_key *, struct uid *subject, struct err *);

/* Forgets the secret. */
void content_end(struct content_key *);

/* Removes what content_begin made for a call that recorded nothing. */
void content_abandon(struct context *);

/* For an event; NULL for no value. */
const struct sealed_text *content_text(struct context *,
    const struct content_key *, struct uid subject, const char *member,
    struct str clear);

/* What a member is bound to, for the functions of ledger/crypto/sealed.h. */
struct sealed_place content_place(
    const struct context *, struct uid subject, const char *member);

/*
 * A key, to read with: 1, 0 when it was erased, by the event in *erasure, -1.
 * err_unavailable when it ought to be there and is not.
 */
int content_find(struct context *, struct uid key, struct content_key *,
    struct erasure *, struct err *);

/* What the key was found for, in the context's arena. */
int content_open(struct context *, const struct content_key *,
    struct uid subject, const char *member, struct str box, struct str *clear,
    struct err *);
int content_open_text(struct context *, const struct content_key *,
    struct uid subject, const struct sealed_text *, const char *member,
    struct str *clear, struct err *);

/* err_erased, with the erasing event: for reads of one record. */
int content_refuse(struct context *, const struct erasure *, struct err *);

#endif
