/*
 * ledger close: the end of a ledger, and the one that continues it.
 */
#include <stdio.h>

#include "domain/probityctl/ctl.h"
#include "domain/workspace.h"

struct close_request {
	struct str successor, reason;
	bool yes;
};

/* clang-format off */
SHAPE(close_request, "What continues it",
	FIELD(close_request, successor, .required = true, .doc = "Origin of the ledger that continues it"),
	FIELD(close_request, reason, .doc = "Why, for the ledger's last event"),
	FIELD(close_request, yes, .doc = "Do it: nothing can be added to the closed ledger"));
/* clang-format on */

static int
check_yes(const struct ctl *ctl, struct err *e)
{
	if (str_is(ctl_param(ctl, "yes"), "true"))
		return 0;
	return err_set(e, &err_usage,
	    "this ends the ledger of %.*s/%.*s for ever. The one that"
	    " continues it begins with the workspace's record alone:"
	    " applications, credentials, parties, source records and actions"
	    " stay in the closed one, to be read; every key that was issued"
	    " ends. Give --yes to do it",
	    STR_ARGS(ctl->place.workspace), STR_ARGS(ctl->place.environment));
}

static void
print_text(const struct succession_report *r, const char *root, const char *key)
{
	printf("%-20s  %s\n%-20s  %llu\n%-20s  %s\n%-20s  --closed %u\n"
	       "%-20s  %s\n%-20s  %s\n",
	    "closed", r->closed.origin, "events",
	    (unsigned long long)r->closed.size, "root", root, "read it with",
	    r->generation, "continued by", r->origin, "its public key", key);
}

static void
print_json(struct ctl *ctl, const struct succession_report *r, const char *root,
    const char *key)
{
	struct arena *a = ctl->arena;
	struct json *v = json_object(a), *closed = json_object(a);
	char head[DIGEST_HEX + 1];
	struct buf b;

	digest_hex(r->closed.head, head);
	json_put_str(a, closed, "origin", str_from(r->closed.origin));
	json_put_int(a, closed, "size", (int64_t)r->closed.size);
	json_put_str(a, closed, "root", str_from(root));
	json_put_str(a, closed, "head", str_from(head));
	json_put_int(a, closed, "number", (int64_t)r->generation);
	json_put(v, "closed", closed);
	json_put_str(a, v, "origin", str_from(r->origin));
	json_put_str(a, v, "public_key", str_from(key));
	buf_init(&b, 65536);
	json_write_pretty(v, &b);
	printf("%.*s\n", STR_ARGS(buf_str(&b)));
	buf_fini(&b);
}

int
run_close(struct ctl *ctl, struct err *e)
{
	struct ledger_closed closing = {
		.reason = ctl_param(ctl, "reason"),
		.successor = ctl_param(ctl, "successor"),
	};
	struct succession_report r;
	char root[DIGEST_HEX + 1], key[PUBLIC_KEY_SSH + 1];

	if (check_yes(ctl, e) ||
	    workspace_succeed(ctl->service, &ctl->place,
		operator_name(ctl->arena), &closing, &r, e))
		return -1;
	digest_hex(r.closed.root, root);
	public_key_ssh(r.key, key);
	if (ctl->json)
		print_json(ctl, &r, root, key);
	else
		print_text(&r, root, key);
	return 0;
}
