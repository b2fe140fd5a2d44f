/*
 * GET /infrastructure/posture: what guards the workspace's ledger, as it is
 * now. Each part has a state in a word and since when it is so; null where
 * nothing says.
 */
#include "domain/infrastructure/group.h"
#include "domain/ledger_ops.h"
#include "domain/parties.h"
#include "domain/production.h"
#include "domain/service.h"
#include "domain/timestamps.h"
#include "domain/witnesses.h"
#include "domain/words.h"
#include "domain/workspace.h"
#include "ledger/base/embed.h"

struct posture_environment {
	struct str state;
	struct instant since;
};

struct posture_production {
	struct str state;
	struct instant since;
	struct uid approver_uid;
};

struct posture_keys {
	struct str state;
	struct instant since;
	struct str public_key;
};

struct posture_witnesses {
	struct str state;
	struct instant since;
	int64_t asked, minimum;
	struct opt_int newest_size;
	struct instant last_at;
};

struct posture_timestamps {
	struct str state;
	struct instant since;
	struct str authority;
	struct opt_int newest_size;
	struct instant last_at;
};

struct posture_connectors {
	struct str state;
	struct instant since;
	int64_t sandbox, file, https;
};

struct posture_loopback {
	struct str state;
	struct instant since;
	struct str_list addresses;
};

struct posture_verification {
	struct str state;
	struct instant since;
	struct opt_int size;
};

struct posture_space {
	struct str state;
	struct instant since;
	int64_t free_bytes, floor_bytes;
};

struct posture {
	const void *environment, *production_access, *key_storage, *witnesses,
	    *time_stamping, *connectors, *loopback_allow_list,
	    *last_verification, *free_space;
};

#define SINCE_UNKNOWN "Always null: nothing records when that changed"

/* clang-format off */
SHAPE(posture_environment, "The environment of the credential",
	FIELD(posture_environment, state, .required = true, .values = VALUES("sandbox", "production"), .doc = "sandbox or production"),
	FIELD(posture_environment, since, .required = true, .doc = "When its ledger got its workspace"));
SHAPE(posture_production, "Whether live keys and live actions work",
	FIELD(posture_production, state, .required = true, .values = VALUES("open", "closed", "sandbox"), .doc = "open or closed; sandbox: no live key is of this environment"),
	FIELD(posture_production, since, .doc = "When it was opened or closed; null: never opened"),
	FIELD(posture_production, approver_uid, .doc = "Who decided it"));
SHAPE(posture_keys, "Where the ledger's private key is",
	FIELD(posture_keys, state, .required = true, .values = VALUES("file", "token"), .doc = "file or token"),
	FIELD(posture_keys, since, .doc = SINCE_UNKNOWN),
	FIELD(posture_keys, public_key, .required = true, .doc = "The key, as an OpenSSH line"));
SHAPE(posture_witnesses, "Who cosigns the ledger's checkpoints",
	FIELD(posture_witnesses, state, .required = true, .doc = "none: nobody is asked; waiting: no checkpoint has enough cosignatures yet; cosigning; unknown: the list cannot be read"),
	FIELD(posture_witnesses, since, .doc = "The first cosignature; null: there is none"),
	FIELD(posture_witnesses, asked, .doc = "Witnesses that are asked"),
	FIELD(posture_witnesses, minimum, .doc = "Cosignatures that are enough"),
	FIELD(posture_witnesses, newest_size, .doc = "Size of the newest checkpoint that has enough"),
	FIELD(posture_witnesses, last_at, .doc = "When that was cosigned"));
SHAPE(posture_timestamps, "Who stamps the ledger's checkpoints with a time",
	FIELD(posture_timestamps, state, .required = true, .doc = "none: nobody is asked; waiting: nothing is stamped yet; stamping"),
	FIELD(posture_timestamps, since, .doc = "The first time-stamp; null: there is none"),
	FIELD(posture_timestamps, authority, .doc = "URL of the authority that is asked"),
	FIELD(posture_timestamps, newest_size, .doc = "Size of the checkpoint that was stamped last"),
	FIELD(posture_timestamps, last_at, .doc = "When, as the authority says"));
SHAPE(posture_connectors, "Ways to execute actions, by kind",
	FIELD(posture_connectors, state, .required = true, .doc = "none or present"),
	FIELD(posture_connectors, since, .doc = "When the first was added"),
	FIELD(posture_connectors, sandbox, .doc = "Connectors that settle by rule"),
	FIELD(posture_connectors, file, .doc = "Connectors that exchange files"),
	FIELD(posture_connectors, https, .doc = "Connectors that call a bank"));
SHAPE(posture_loopback, "Loopback addresses that webhooks may be sent to, for tests",
	FIELD(posture_loopback, state, .required = true, .doc = "empty or set"),
	FIELD(posture_loopback, since, .doc = SINCE_UNKNOWN),
	FIELD(posture_loopback, addresses, .max = 500, .doc = "They, as host:port"));
SHAPE(posture_verification, "The last full verification of the ledger",
	FIELD(posture_verification, state, .required = true, .doc = "passed, failed, or none yet"),
	FIELD(posture_verification, since, .doc = "When it ended"),
	FIELD(posture_verification, size, .doc = "Events in the ledger that was checked"));
SHAPE(posture_space, "Room on the ledger's disk",
	FIELD(posture_space, state, .required = true, .doc = "enough, or short: writes are refused with 507"),
	FIELD(posture_space, since, .doc = SINCE_UNKNOWN),
	FIELD(posture_space, free_bytes, .doc = "Bytes that are free"),
	FIELD(posture_space, floor_bytes, .doc = "Bytes that must stay free"));
SHAPE(posture, "What guards the workspace's ledger",
	FIELD(posture, environment, .required = true, .of = &posture_environment_shape, .doc = "The environment of the credential"),
	FIELD(posture, production_access, .required = true, .of = &posture_production_shape, .doc = "Whether live keys and live actions work"),
	FIELD(posture, key_storage, .required = true, .of = &posture_keys_shape, .doc = "Where the ledger's private key is"),
	FIELD(posture, witnesses, .required = true, .of = &posture_witnesses_shape, .doc = "Who cosigns the ledger's checkpoints"),
	FIELD(posture, time_stamping, .required = true, .of = &posture_timestamps_shape, .doc = "Who stamps the ledger's checkpoints with a time"),
	FIELD(posture, connectors, .required = true, .of = &posture_connectors_shape, .doc = "Ways to execute actions, by kind"),
	FIELD(posture, loopback_allow_list, .required = true, .of = &posture_loopback_shape, .doc = "Loopback addresses that webhooks may be sent to, for tests"),
	FIELD(posture, last_verification, .required = true, .of = &posture_verification_shape, .doc = "The last full verification of the ledger"),
	FIELD(posture, free_space, .required = true, .of = &posture_space_shape, .doc = "Room on the ledger's disk"));
/* clang-format on */

EMBED(infrastructure_posture_examples,
    "domain/infrastructure/examples/infrastructure.posture.json");
READ_OPERATION(infrastructure_posture, nothing, posture,
    .id = "infrastructure.posture", .method = "GET",
    .path = "/api/v2/infrastructure/posture",
    .examples = infrastructure_posture_examples, .scope = "infrastructure:read",
    .entitlement = "infrastructure", .product = "Core Platform",
    .summary = "Show what guards the workspace's ledger");

static int
put_environment(struct context *c, struct posture *out, struct err *e)
{
	struct posture_environment *v =
	    ARENA_NEW(c->arena, struct posture_environment);
	struct workspace_record w = { 0 };

	if (workspace_find(c, &w, e) < 0)
		return -1;
	v->state = c->place->environment;
	v->since = w.created_at;
	out->environment = v;
	return 0;
}

static int
put_production(struct context *c, struct posture *out, struct err *e)
{
	struct posture_production *v =
	    ARENA_NEW(c->arena, struct posture_production);
	struct production_state state;

	if (production_read(c, &state, e))
		return -1;
	v->state = state.open ? STR("open") : STR("closed");
	if (!str_is(c->place->environment, "production"))
		v->state = STR("sandbox");
	v->since = state.since;
	v->approver_uid = state.approver;
	out->production_access = v;
	return 0;
}

static int
put_keys(struct context *c, struct posture *out, struct err *e)
{
	struct posture_keys *v = ARENA_NEW(c->arena, struct posture_keys);
	char key[PUBLIC_KEY_SSH + 1];

	(void)e;
	public_key_ssh(ledger_public_key(c->ledger), key);
	v->state = ledger_key_on_token(c->ledger) ? STR("token") : STR("file");
	v->public_key = arena_str(c->arena, str_from(key));
	out->key_storage = v;
	return 0;
}

static int
put_witnesses(struct context *c, struct posture *out, struct err *e)
{
	struct posture_witnesses *v =
	    ARENA_NEW(c->arena, struct posture_witnesses);
	struct witnesses_state s;

	if (witnesses_describe(c, &s, e))
		return -1;
	*v = (struct posture_witnesses){
		.state = s.unknown      ? STR("unknown")
			 : s.asked == 0 ? STR("none")
			 : s.newest > 0 ? STR("cosigning")
					: STR("waiting"),
		.since = s.first,
		.asked = (int64_t)s.asked,
		.minimum = (int64_t)s.minimum,
		.newest_size = { s.newest > 0, (int64_t)s.newest },
		.last_at = s.latest,
	};
	out->witnesses = v;
	return 0;
}

static int
put_timestamps(struct context *c, struct posture *out, struct err *e)
{
	const struct config *config = service_config(c->service);
	struct posture_timestamps *v =
	    ARENA_NEW(c->arena, struct posture_timestamps);
	struct timestamps_state s;

	if (timestamps_describe(c, &s, e))
		return -1;
	*v = (struct posture_timestamps){
		.state = config->timestamp_url.n == 0 ? STR("none")
			 : s.authority.p              ? STR("stamping")
						      : STR("waiting"),
		.since = s.first,
		.newest_size = { s.authority.p != NULL, s.size },
		.last_at = s.latest,
	};
	if (config->timestamp_url.n > 0)
		v->authority = config->timestamp_url;
	out->time_stamping = v;
	return 0;
}

static int
put_connectors(struct context *c, struct posture *out, struct err *e)
{
	struct posture_connectors *v =
	    ARENA_NEW(c->arena, struct posture_connectors);
	struct connector_kinds kinds;

	if (connectors_by_kind(c, &kinds, e))
		return -1;
	*v = (struct posture_connectors){
		.state = kinds.since.us > 0 ? STR("present") : STR("none"),
		.since = kinds.since,
		.sandbox = kinds.sandbox,
		.file = kinds.file,
		.https = kinds.https,
	};
	out->connectors = v;
	return 0;
}

static int
put_loopback(struct context *c, struct posture *out, struct err *e)
{
	struct posture_loopback *v =
	    ARENA_NEW(c->arena, struct posture_loopback);
	struct str text = service_config(c->service)->outbound_loopback;
	struct str *items = arena_array(c->arena, text.n + 1, sizeof *items);

	(void)e;
	v->addresses.items = items;
	while (text.p) {
		struct str address = str_take(&text, ' ');

		if (address.n > 0)
			items[v->addresses.n++] = address;
	}
	v->state = v->addresses.n > 0 ? STR("set") : STR("empty");
	out->loopback_allow_list = v;
	return 0;
}

static int
put_verification(struct context *c, struct posture *out, struct err *e)
{
	struct posture_verification *v =
	    ARENA_NEW(c->arena, struct posture_verification);
	struct verification last;
	int found = ledger_last_verification(c, &last, e);

	v->state = STR("none");
	if (found == 1)
		*v = (struct posture_verification){
			.state = last.result,
			.since = last.finished_at,
			.size = { true, last.size },
		};
	out->last_verification = v;
	return found < 0 ? -1 : 0;
}

static int
put_space(struct context *c, struct posture *out, struct err *e)
{
	int64_t floor = service_config(c->service)->free_floor;
	struct posture_space *v = ARENA_NEW(c->arena, struct posture_space);
	struct ledger_status status;

	if (floor == 0)
		floor = LEDGER_FREE_FLOOR;
	if (ledger_read_status(c->reading, c->arena, &status, e))
		return -1;
	*v = (struct posture_space){
		.free_bytes = (int64_t)status.free_bytes,
		.floor_bytes = floor,
	};
	v->state = v->free_bytes < floor ? STR("short") : STR("enough");
	out->free_space = v;
	return 0;
}

static int
infrastructure_posture_read(struct context *c, const struct nothing *in,
    struct posture *out, struct err *e)
{
	static int (*const parts[])(
	    struct context *, struct posture *, struct err *) = {
		put_environment,
		put_production,
		put_keys,
		put_witnesses,
		put_timestamps,
		put_connectors,
		put_loopback,
		put_verification,
		put_space,
	};

	(void)in;
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		if (parts[i](c, out, e))
			return -1;
	return 0;
}
