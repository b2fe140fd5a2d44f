/*
 * Lineage manifests (docs/ledger-format.md, "Manifests"): an in-toto Statement
 * in a DSSE envelope, signed by the ledger's manifest key, that holds what is
 * needed to prove what it says. Checked here with the ledger's public key and
 * nothing else, in memory that does not grow with the file: the Statement is
 * decoded into a temporary file without a name, and walked through there.
 *
 *	struct manifest_options o = { .keys = { &key, 1 } };
 *	if (manifest_check(fd, &o, &report, e))
 *		return -1;
 *	if (!report.good)
 *		printf("%s: %s\n", report.check, report.reason);
 */
#ifndef LEDGER_CHAIN_MANIFEST_H
#define LEDGER_CHAIN_MANIFEST_H

#include "ledger/chain/event.h"
#include "ledger/chain/pinned.h"

#define MANIFEST_STATEMENT "https://in-toto.io/Statement/v1"
#define MANIFEST_PREDICATE "https://probity.dev/predicates/lineage-manifest/v1"

/* The event that certifies a manifest key, and what the key is for. */
#define MANIFEST_KEY_TYPE    "manifest_key.certified"
#define MANIFEST_KEY_PURPOSE "manifest"

#define MANIFEST_FILE_MAX      ((uint64_t)64 << 30)
#define MANIFEST_NAME_MAX      200
#define MANIFEST_UNCHECKED_MAX 16

struct manifest_options {
	struct pinned keys;    /* any of the ledger's history is one of them */
	const char *temporary; /* folder; NULL: $TMPDIR, or /tmp */
	/* Called now and then; `what` is counted. */
	void (*progress)(
	    void *, const char *what, uint64_t done, uint64_t total);
	void *progress_arg;
};

struct manifest_report {
	bool good;
	char check[16];   /* the failing one: "format", "key", "checkpoint",
			     "proof", "event", "signature", "lineage", "reply" */
	char reason[512]; /* why */
	bool has_seq;     /* it failed at this event */
	uint64_t seq;
	uint64_t events; /* checked */
	uint64_t voids;  /* of them without effect, since a revocation makes
			    them void; none but in a complete one */

	/* Set as far as it was read; empty or zero else. */
	char origin[MANIFEST_NAME_MAX + 1];
	char scope_type[MANIFEST_NAME_MAX + 1], scope_id[MANIFEST_NAME_MAX + 1];
	char generated_at[INSTANT_TEXT + 1];
	uint64_t size; /* of the checkpoint */
	struct digest root;
	bool complete;    /* it holds every event of the ledger of that size */
	uint64_t key_seq; /* the event that certifies the manifest key */
	struct public_key manifest_key;
	uint64_t bytes; /* of the Statement */
	struct digest sha256;
	uint64_t materials;
	bool reply; /* the service's reply, whose other members agree, but */
	/* for these, of which nothing in the file says anything else */
	char unchecked[MANIFEST_UNCHECKED_MAX][MANIFEST_NAME_MAX + 1];
	size_t n_unchecked;
	bool sealed; /* its proof of the sealing event has a good checkpoint */
	uint64_t sealed_seq;
};

/*
 * Checks the regular file that is open for reading: a DSSE envelope, or the
 * reply of the service that holds one. A file that is bad is 0 with good
 * false; -1 when it could not be found out, with err_too_large beyond
 * MANIFEST_FILE_MAX.
 */
int manifest_check(int fd, const struct manifest_options *,
    struct manifest_report *, struct err *);

#endif
