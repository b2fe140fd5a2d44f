/*
 * Lineage manifests of a small ledger, made from the text of the format, to be
 * shown to what checks them; and the same changed by hand and signed anew.
 * Every function ends the test program when it fails.
 *
 *	struct manifest_maker *m = manifest_maker_new(8);
 *	text = manifest_maker_whole(m);
 *	file = manifest_maker_envelope(m, text);
 *	manifest_maker_free(m);
 */
#ifndef TESTS_SUPPORT_MANIFEST_MAKER_H
#define TESTS_SUPPORT_MANIFEST_MAKER_H

#include "tests/support/small_ledger.h"

struct manifest_maker {
	struct small_ledger *ledger;
	struct private_key *key; /* the manifest key, certified */
	uint64_t key_seq;
	struct str *lines; /* of every event */
	struct digest *leaves;
	struct str checkpoint; /* the newest, of n events */
	uint64_t n;
};

/* A ledger of event 0, `before` events, the certificate and three more. */
struct manifest_maker *manifest_maker_new(size_t before);
void manifest_maker_free(struct manifest_maker *);

/* Every line and the checkpoint, after more was added to the ledger. */
void manifest_maker_read(struct manifest_maker *);

/* The Statement's canonical bytes, with these events, each with its path; or
 * all of them when seqs is NULL. Of a complete one there are no paths. In the
 * ledger's arena, as all texts here. */
struct str manifest_maker_statement(
    struct manifest_maker *, const uint64_t *seqs, size_t n, bool complete);
struct str manifest_maker_whole(struct manifest_maker *);

/* The envelope of any text, signed by the manifest key. */
struct str manifest_maker_envelope(struct manifest_maker *, struct str text);

/* The reply that holds the text, which is a whole one, with a proof of the
 * ledger's event `sealed`, which is added first; no proof when 0. */
struct str manifest_maker_reply(
    struct manifest_maker *, struct str text, bool sealed);

/* The text with the first `from` made `to`, which has to be there. */
struct str manifest_maker_replace(
    struct manifest_maker *, struct str text, const char *from, const char *to);

/* A file that holds the bytes, open for reading, without a name. */
int manifest_maker_file(struct str bytes);

#endif
