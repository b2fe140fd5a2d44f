/*
 * The ledger's own event types and tables.
 */
#include "ledger/base/embed.h"
#include "ledger/chain/key_event.h"
#include "ledger/chain/signers.h"
#include "ledger/write/closing.h"
#include "ledger/write/index.h"
#include "ledger/write/writer.h"

EMBED(core_sql, "ledger/write/core.sql");

SHAPE(ledger_opened, "A ledger and its first keys",
    FIELD(ledger_opened, algorithms, .required = true,
	.doc = "Hash, tree and signature algorithms"),
    FIELD(ledger_opened, continues,
	.doc = "Origin, size, root and head of the closed ledger before"),
    FIELD(ledger_opened, public_key, .required = true,
	.doc = "The ledger's key, as OpenSSH writes it"),
    FIELD(ledger_opened, recovery_key, .required = true,
	.doc = "The key that may revoke it"));

struct key_rotated {
	struct str possession, public_key;
};

struct key_revoked {
	struct str possession, public_key, revoked;
	struct digest_text root;
	int64_t size;
};

SHAPE(key_rotated, "A new key of the ledger, in the old one's place",
    FIELD(key_rotated, possession, .required = true,
	.doc = "The new key's signature that it is this ledger's, base64"),
    FIELD(key_rotated, public_key, .required = true,
	.doc = "The new key, as OpenSSH writes it"));

SHAPE(key_revoked, "A key that is believed no more, and the one in its place",
    FIELD(key_revoked, possession, .required = true,
	.doc = "The new key's signature that it is this ledger's, base64"),
    FIELD(key_revoked, public_key, .required = true,
	.doc = "The new key, as OpenSSH writes it"),
    FIELD(key_revoked, revoked, .required = true,
	.doc = "The key that signed event `size`, or would have"),
    FIELD(key_revoked, root, .required = true,
	.doc = "Root of the Merkle tree of that size"),
    FIELD(key_revoked, size, .required = true, .min = 1,
	.doc = "The last good size; the events from there on are void"));

SHAPE(clock_confirmed, "An operator's word that the clock is right",
    FIELD(
	clock_confirmed, wall, .required = true, .doc = "What the clock said"),
    FIELD(clock_confirmed, last, .required = true,
	.doc = "The time of the event before"));

/* What the writer keeps beside the projection: the position the clock's word
 * (position_advance), keys_follow the key history. */
static int
project_nothing(
    struct db *db, const struct event *ev, const void *data, struct err *e)
{
	(void)db;
	(void)ev;
	(void)data;
	(void)e;
	return 0;
}
#define KEPT_BESIDE(id, text, words)                              \
	const struct event_type event_##id = { text, &id##_shape, \
		project_nothing, words }

EVENT_TYPE(ledger_opened, "ledger.opened", ledger_opened,
    "A ledger begins: its algorithms and keys");
KEPT_BESIDE(clock_confirmed, "clock.confirmed",
    "An operator confirmed a clock that was not plausible");

KEPT_BESIDE(key_rotated, "key.rotated",
    "Another key signs the ledger after this event");
KEPT_BESIDE(key_revoked, "key.revoked",
    "The recovery key puts another key in the ledger key's place and makes"
    " events void");

static int
project_ledger_opened(struct db *db, const struct event *ev,
    const struct ledger_opened *data, struct err *e)
{
	struct public_key key, recovery;
	struct str bytes = { (const char *)key.b, sizeof key.b };
	struct str more = { (const char *)recovery.b, sizeof recovery.b };

	(void)ev;
	if (!key_line_decode(data->public_key, &key) ||
	    !key_line_decode(data->recovery_key, &recovery))
		return err_set(
		    e, &err_corrupt, "a key in ledger.opened is malformed");
	if (db_run(db, e,
		"INSERT INTO ledger_key VALUES (0, ?, 0, NULL, 0, NULL, 0, 0)",
		"b", bytes))
		return -1;
	return db_run(
	    db, e, "INSERT INTO ledger_recovery VALUES (1, ?)", "b", more);
}

static const struct event_type *const core_types[] = { &event_ledger_opened,
	&event_clock_confirmed, &event_ledger_closed, &event_ledger_indexed,
	&event_key_rotated, &event_key_revoked, NULL };

const struct view core_view = { core_types, core_sql };

int
ledger_opened_from(struct arena *a, const struct opened *keys,
    struct ledger_opened *out, struct err *e)
{
	return shape_decode_json(
	    &ledger_opened_shape, opened_encode(a, keys), a, out, e);
}
