/*
 * Other renderings of a manifest, derived from it and not signed: PROV-JSON
 * for machines, a report for people. Both read the manifest alone.
 */
#ifndef DOMAIN_LINEAGE_RENDERING_H
#define DOMAIN_LINEAGE_RENDERING_H

#include "ledger/base/buf.h"
#include "ledger/base/err.h"
#include "ledger/codec/json.h"

enum rendering { RENDERING_MANIFEST, RENDERING_PROV, RENDERING_REPORT };

/*
 * Which one a caller wants: by the name it gave (manifest, prov, html; no
 * value: none), else by its Accept (RFC 9110, 12.5.1), where PROV-JSON is
 * application/json;profile=prov. Whoever takes none of them gets the manifest.
 */
enum rendering rendering_choose(struct str name, struct str accept);

/* The manifest as JSON. */
int rendering_parse(
    struct arena *, struct str manifest, struct json **, struct err *);

/* W3C PROV-JSON: records are entities, events are activities, who caused them
 * are agents. */
int prov_render(
    struct arena *, const struct json *manifest, struct buf *, struct err *);

/* A page of HTML that stands on its own, without a script. */
int report_render(struct arena *, const struct json *manifest,
    struct str sha256, struct buf *, struct err *);

/* What an event's line says that its RunEvent does not. */
struct told {
	struct str actor_kind, actor_id;
	struct str uid, at, type, hash;
	int64_t seq;
};

/* Item i of the manifest's lists, RunEvent and evidence. */
int told_read(struct arena *, const struct json *run_event,
    const struct json *evidence, struct told *, struct err *);

#endif
