#include "domain/damage.h"
#include "domain/ledger_ops.h"
#include "domain/ledger_ops/group.h"
#include "ledger/crypto/note.h"
#include "ledger/write/closing.h"

struct ledger_state {
	struct str origin, successor;
	int64_t size, batches;
	struct digest_text head, root;
	struct str commit;
	struct instant last_at;
	struct str public_key, verifier_key, checkpoint;
	int64_t free_bytes;
	const void *last_verification, *last_scrub;
	struct list damage;
};

/* clang-format off */
SHAPE(ledger_state, "Where the ledger stands",
	FIELD(ledger_state, origin, .doc = "The ledger's name"),
	FIELD(ledger_state, successor, .doc = "The ledger that continues it; null while it is open"),
	FIELD(ledger_state, size, .doc = "Events"),
	FIELD(ledger_state, batches, .doc = "Batches, which are commits"),
	FIELD(ledger_state, head, .doc = "Hash of the last event"),
	FIELD(ledger_state, root, .doc = "Root of the Merkle tree"),
	FIELD(ledger_state, commit, .doc = "The last commit"),
	FIELD(ledger_state, last_at, .doc = "Time of the last event"),
	FIELD(ledger_state, public_key, .doc = "Key that signs it, as an OpenSSH line"),
	FIELD(ledger_state, verifier_key, .doc = "The same for tools that read signed notes"),
	FIELD(ledger_state, checkpoint, .max = 4096, .doc = "The latest signed note"),
	FIELD(ledger_state, free_bytes, .doc = "Room left on its disk"),
	FIELD(ledger_state, last_verification, .of = &verification_shape, .doc = "The last full verification"),
	FIELD(ledger_state, last_scrub, .of = &scrubbed_shape, .doc = "The last scrub that came to its end"),
	FIELD(ledger_state, damage, .of = &damaged_object_shape, .max = DAMAGE_TOLD_MAX, .doc = "What of the repository is known to be damaged"));
/* clang-format on */

READ_OPERATION(ledger_status, nothing, ledger_state, .id = "ledger.status",
    .command = "ledger status", .product = "Core Platform",
    .summary = "Show where the ledger stands");

static int
put_keys(struct context *c, struct ledger_state *out, struct err *e)
{
	char text[PUBLIC_KEY_SSH + 1];
	struct signers signers;
	struct public_key key;
	struct buf b;

	if (ledger_read_keys(c->reading, &signers, e))
		return -1;
	key = signers_in_force(&signers)->key;
	public_key_ssh(key, text);
	out->public_key = arena_str(c->arena, str_from(text));
	buf_init(&b, 1024);
	note_verifier_key(&b, out->origin, key);
	out->verifier_key = arena_str(c->arena, buf_str(&b));
	buf_fini(&b);
	return 0;
}

static int
put_closing(struct context *c, struct ledger_state *out, struct err *e)
{
	struct ledger_closed closed;

	if (ledger_read_closed(c->db, c->arena, &closed, e) < 0)
		return -1;
	out->successor = closed.successor;
	return 0;
}

static int
put_verification(struct context *c, struct ledger_state *out, struct err *e)
{
	struct verification *last = ARENA_NEW(c->arena, struct verification);
	int found = ledger_last_verification(c, last, e);

	if (found == 1)
		out->last_verification = last;
	return found < 0 ? -1 : 0;
}

static int
put_damage(struct context *c, struct ledger_state *out, struct err *e)
{
	struct scrubbed *last = ARENA_NEW(c->arena, struct scrubbed);
	int found = damage_read_scrub(c->db, last, e);
	struct damage_list open = { 0 };

	if (found < 0 || damage_read_open(c->db, c->arena, &open, e))
		return -1;
	if (found == 1)
		out->last_scrub = last;
	out->damage = (struct list){ open.p, open.n };
	return 0;
}

static int
ledger_status_read(struct context *c, const struct nothing *in,
    struct ledger_state *out, struct err *e)
{
	struct ledger_status s;
	char commit[OID_HEX + 1];

	(void)in;
	if (ledger_read_status(c->reading, c->arena, &s, e))
		return -1;
	oid_hex(s.commit, commit);
	*out = (struct ledger_state){
		.origin = ledger_origin(c->ledger),
		.size = (int64_t)s.size,
		.batches = (int64_t)s.batches,
		.head = { digest_hex_str(c->arena, s.head) },
		.root = { digest_hex_str(c->arena, s.root) },
		.commit = arena_str(c->arena, str_from(commit)),
		.last_at = s.last_at,
		.checkpoint = s.checkpoint,
		.free_bytes = (int64_t)s.free_bytes,
	};
	if (put_keys(c, out, e) || put_closing(c, out, e) ||
	    put_verification(c, out, e))
		return -1;
	return put_damage(c, out, e);
}
