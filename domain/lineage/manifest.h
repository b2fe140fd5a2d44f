/*
 * Lineage manifests (docs/lineage.md): an in-toto Statement whose predicate
 * holds the scope's events as OpenLineage RunEvents, and what proves them, as
 * canonical JSON (RFC 8785). The same ledger and spec give the same bytes,
 * whenever and by whichever program.
 */
#ifndef DOMAIN_LINEAGE_MANIFEST_H
#define DOMAIN_LINEAGE_MANIFEST_H

#include "domain/ledger_proofs.h"
#include "domain/lineage/scope.h"
#include "domain/lineage/sink.h"

#define MANIFEST_PREDICATE "https://probity.dev/predicates/lineage-manifest/v1"
#define MANIFEST_STATEMENT "https://in-toto.io/Statement/v1"

/* What the ledger signed of its first `size` events, where a batch must have
 * ended; 0: the newest. c->reading is set. */
int covered_read(
    struct context *, uint64_t size, struct signed_root *, struct err *);

struct manifest {
	struct scope scope;
	struct signed_root covered;
	struct instant generated_at;
	uint64_t key_seq; /* the event that certifies the signing key */
	/* Told now and then how many of the scope's events are done; or NULL.
	 */
	void (*progress)(void *, uint64_t done);
	void *progress_arg;
};

/* Not to be called with a reading open. */
int manifest_write(
    struct context *, const struct manifest *, struct sink *, struct err *);

#endif
