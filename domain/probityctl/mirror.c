#include "domain/mirror.h"

#include <inttypes.h>
#include <stdio.h>

#include "domain/probityctl/ctl.h"

struct mirror_request {
	struct str to;
};

/* clang-format off */
SHAPE(mirror_request, "Where the ledger is pushed to",
	FIELD(mirror_request, to, .required = true, .doc = "Absolute path of a bare repository, ssh://… or https://…"));
/* clang-format on */

int
run_mirror(struct ctl *ctl, struct err *e)
{
	struct mirror_push done;
	char commit[OID_HEX + 1];

	if (mirror_push(ctl->service, &ctl->place, ctl_param(ctl, "to"),
		ctl->arena, &done, e))
		return -1;
	oid_hex(done.commit, commit);
	if (ctl->json)
		printf("{\"size\": %" PRIu64 ", \"commit\": \"%s\"}\n",
		    done.size, commit);
	else
		printf("%-20s  %" PRIu64 "\n%-20s  %s\n", "events", done.size,
		    "commit", commit);
	return 0;
}
