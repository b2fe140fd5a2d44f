/*
 * Another key for a ledger. No operations: they need the private keys, and the
 * batch is the event's alone.
 */
#include <inttypes.h>
#include <stdio.h>

#include "domain/probityctl/ctl.h"
#include "ledger/write/key_change.h"

struct rotate_key_request {
	struct str new_key;
};

struct revoke_key_request {
	int64_t last_good;
	struct str recovery_key, new_key;
};

/* clang-format off */
SHAPE(rotate_key_request, "The key that takes the place",
	FIELD(rotate_key_request, new_key, .doc = "File with an Ed25519 private key in PEM or the PKCS #11 URI of one, made elsewhere; made here when absent"));
SHAPE(revoke_key_request, "From where on the key is not believed, and the key that takes its place",
	FIELD(revoke_key_request, last_good, .required = true, .min = 1, .doc = "Size of the last good checkpoint: the events after it become void"),
	FIELD(revoke_key_request, recovery_key, .doc = "File with the recovery key; the one among the ledger's keys when absent"),
	FIELD(revoke_key_request, new_key, .doc = "File with an Ed25519 private key in PEM or the PKCS #11 URI of one, made elsewhere; made here when absent"));
/* clang-format on */

static const char *
file_param(const struct ctl *ctl, const char *name)
{
	struct str path = ctl_param(ctl, name);

	return path.p ? arena_cstr(ctl->arena, path) : NULL;
}

/* Of the key before. */
static const char *
whereabouts(const struct key_change *c)
{
	return c->old_on_token
		   ? "The private key before stays on its token: destroy it"
		     " there."
		   : "The private key before was destroyed.";
}

static void
print_change(const struct ctl *ctl, const struct key_change *c)
{
	struct json *v = json_object(ctl->arena);
	char old[PUBLIC_KEY_SSH + 1], key[PUBLIC_KEY_SSH + 1];
	struct buf b;

	public_key_ssh(c->old, old);
	public_key_ssh(c->key, key);
	if (!ctl->json) {
		printf("%-20s  %s\n%-20s  %s\n%-20s  %" PRIu64 "\n",
		    "key before", old, "key in force", key, "event", c->seq);
		if (c->void_from < c->seq)
			printf("%-20s  %" PRIu64 " to %" PRIu64 "\n",
			    "void events", c->void_from, c->seq - 1);
		printf("%s\nTell the auditors the key in force, and make a "
		       "backup of the ledger and of its keys now.\n",
		    whereabouts(c));
		return;
	}
	json_put_str(ctl->arena, v, "old_key", str_from(old));
	json_put_str(ctl->arena, v, "public_key", str_from(key));
	json_put(v, "old_key_on_token", json_bool(ctl->arena, c->old_on_token));
	json_put_int(ctl->arena, v, "seq", (int64_t)c->seq);
	if (c->void_from < c->seq)
		json_put_int(ctl->arena, v, "void_from", (int64_t)c->void_from);
	else
		json_put(v, "void_from", json_null(ctl->arena));
	json_put_str(ctl->arena, v, "checkpoint", c->checkpoint);
	buf_init(&b, 65536);
	json_write_pretty(v, &b);
	printf("%.*s\n", STR_ARGS(buf_str(&b)));
	buf_fini(&b);
}

static struct actor
actor_here(const struct ctl *ctl)
{
	return (struct actor){ .kind = STR("operator"),
		.id = operator_name(ctl->arena) };
}

int
run_rotate_key(struct ctl *ctl, struct err *e)
{
	struct actor actor = actor_here(ctl);
	struct ledger_options options;
	struct key_change change;

	if (service_ledger_options(
		ctl->service, &ctl->place, ctl->arena, &options, e) ||
	    ledger_rotate_key(&options, &actor, file_param(ctl, "new_key"),
		ctl->arena, &change, e))
		return -1;
	print_change(ctl, &change);
	return 0;
}

int
run_revoke_key(struct ctl *ctl, struct err *e)
{
	struct actor actor = actor_here(ctl);
	struct ledger_options options;
	struct key_change change;
	uint64_t last_good;

	if (!str_to_u64(ctl_param(ctl, "last_good"), &last_good))
		return err_set(e, &err_usage,
		    "--last-good takes the size of a checkpoint");
	if (service_ledger_options(
		ctl->service, &ctl->place, ctl->arena, &options, e) ||
	    ledger_revoke_key(&options, &actor, last_good,
		file_param(ctl, "recovery_key"), file_param(ctl, "new_key"),
		ctl->arena, &change, e))
		return -1;
	print_change(ctl, &change);
	return 0;
}
