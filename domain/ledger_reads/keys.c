#include "domain/ledger_reads/group.h"
#include "domain/ledger_reads/parts.h"
#include "ledger/base/embed.h"

struct ledger_key {
	struct str public_key, key_id, fingerprint;
	int64_t from_seq;
	struct opt_int until_seq, named_by, void_from;
};

struct recovery_key {
	struct str public_key, fingerprint;
};

struct ledger_keys {
	struct str origin;
	struct list keys;
	const void *recovery_key;
};

/* clang-format off */
SHAPE(ledger_key, "A key that signs or signed the ledger",
	FIELD(ledger_key, public_key, .required = true, .doc = "The key, as an OpenSSH line"),
	FIELD(ledger_key, key_id, .required = true, .doc = "Its id in signatures, eight hex digits"),
	FIELD(ledger_key, fingerprint, .required = true, .doc = "The key's fingerprint, as OpenSSH prints it"),
	FIELD(ledger_key, from_seq, .doc = "The first event it signed"),
	FIELD(ledger_key, until_seq, .doc = "The last event it signed; null while it is in force"),
	FIELD(ledger_key, named_by, .doc = "The event that names it"),
	FIELD(ledger_key, void_from, .doc = "Of a recovery key, whose event is a revocation: the events from this one on to before it are void; null for others"));
SHAPE(recovery_key, "The key that may put another in the ledger key's place",
	FIELD(recovery_key, public_key, .required = true, .doc = "The key, as an OpenSSH line"),
	FIELD(recovery_key, fingerprint, .required = true, .doc = "The key's fingerprint, as OpenSSH prints it"));
SHAPE(ledger_keys, "The keys of the ledger",
	FIELD(ledger_keys, origin, .required = true, .doc = "The ledger's name"),
	FIELD(ledger_keys, keys, .of = &ledger_key_shape, .doc = "Every key, in the order of the events they signed"),
	FIELD(ledger_keys, recovery_key, .required = true, .of = &recovery_key_shape, .doc = "The recovery key of the ledger's first event"));
/* clang-format on */

EMBED(ledger_key_list_examples,
    "domain/ledger_reads/examples/ledger.key.list.json");
READ_OPERATION(ledger_key_list, nothing, ledger_keys, .id = "ledger.key.list",
    .examples = ledger_key_list_examples, .method = "GET",
    .path = "/api/v2/ledger/keys", .scope = "trust:read",
    .entitlement = "core-platform", .product = PRODUCT,
    .summary = "List the keys that signed the ledger");

static struct str
key_as_text(struct arena *a, struct public_key key)
{
	char text[PUBLIC_KEY_SSH + 1];

	public_key_ssh(key, text);
	return arena_str(a, str_from(text));
}

static struct str
fingerprint_of(struct arena *a, struct public_key key)
{
	char text[PUBLIC_KEY_FINGERPRINT + 1];

	public_key_fingerprint(key, text);
	return arena_str(a, str_from(text));
}

static struct ledger_key
describe_key(struct arena *a, struct str origin, const struct signers_key *k)
{
	return (struct ledger_key){
		.public_key = key_as_text(a, k->key),
		.key_id = arena_strf(a, "%08x", note_key_id(origin, k->key)),
		.fingerprint = fingerprint_of(a, k->key),
		.from_seq = (int64_t)k->from_seq,
		.until_seq = { k->ended, (int64_t)k->until_seq },
		.named_by = { true, (int64_t)k->named_by },
		.void_from = { k->recovery, (int64_t)k->void_from },
	};
}

static int
ledger_key_list_read(struct context *c, const struct nothing *in,
    struct ledger_keys *out, struct err *e)
{
	struct recovery_key *recovery =
	    ARENA_NEW(c->arena, struct recovery_key);
	struct str origin = ledger_origin(c->ledger);
	struct ledger_key *keys;
	struct signers signers;

	(void)in;
	if (ledger_read_keys(c->reading, &signers, e))
		return -1;
	keys = arena_array(c->arena, signers.n, sizeof *keys);
	for (size_t i = 0; i < signers.n; i++)
		keys[i] = describe_key(c->arena, origin, &signers.keys[i]);
	*recovery = (struct recovery_key){
		.public_key = key_as_text(c->arena, signers.recovery),
		.fingerprint = fingerprint_of(c->arena, signers.recovery),
	};
	*out = (struct ledger_keys){ origin, { keys, signers.n }, recovery };
	return 0;
}
