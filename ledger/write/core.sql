-- What the ledger itself keeps in the read model.

-- Where the projection stands: one row.
CREATE TABLE ledger_position (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	size INTEGER NOT NULL,
	batches INTEGER NOT NULL,
	head BLOB NOT NULL,
	tree BLOB NOT NULL,
	commit_oid BLOB,
	last_at INTEGER NOT NULL,
	clock_floor INTEGER NOT NULL
);

CREATE TABLE ledger_batch (
	first_seq INTEGER PRIMARY KEY,
	count INTEGER NOT NULL,
	commit_oid BLOB NOT NULL
);

-- One row when the ledger is closed: nothing follows.
CREATE TABLE ledger_closed (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	successor TEXT NOT NULL, -- the origin that continues it
	reason TEXT
);

-- The ledger's keys in their order, as its key events give them; the times are
-- for stock git alone.
CREATE TABLE ledger_key (
	place INTEGER PRIMARY KEY,
	key BLOB NOT NULL,
	from_seq INTEGER NOT NULL,
	until_seq INTEGER, -- NULL: in force
	named_by INTEGER NOT NULL, -- the event
	void_from INTEGER, -- of a revocation: its recovery key's row
	valid_after INTEGER NOT NULL,
	valid_before INTEGER NOT NULL
);

-- The key of event 0 that signs revocations: one row.
CREATE TABLE ledger_recovery (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	key BLOB NOT NULL
);

-- Where the events about a record are.
CREATE TABLE ledger_subject (
	subject BLOB NOT NULL, -- the 16 bytes of its uid
	seq INTEGER NOT NULL,
	kind TEXT NOT NULL,
	void INTEGER NOT NULL, -- a revocation took its effect away
	PRIMARY KEY (subject, seq)
) WITHOUT ROWID;

-- Keyed hashes of requests that carried an Idempotency-Key.
CREATE TABLE idempotency (
	key_hmac BLOB PRIMARY KEY,
	request_hmac BLOB NOT NULL,
	first_seq INTEGER NOT NULL,
	last_seq INTEGER NOT NULL
) WITHOUT ROWID;

-- The Merkle tree: up to 256 hashes of 32 bytes, of one level of every eight.
CREATE TABLE ledger_tile (
	place INTEGER PRIMARY KEY, -- level << 48 | number of the tile
	hashes BLOB NOT NULL
);

-- The index over all records, by level and key: of a record how many events it
-- has and their chain, of a row above level 0 the hash of the page it opens.
CREATE TABLE ledger_index (
	level INTEGER NOT NULL,
	key TEXT NOT NULL, -- "<kind> <uid>"; empty: the head
	count INTEGER NOT NULL,
	hash BLOB NOT NULL,
	PRIMARY KEY (level, key)
) WITHOUT ROWID;

-- Where it was announced: from there on commits name its root.
CREATE TABLE ledger_indexed (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	seq INTEGER NOT NULL
);

-- Which events hold encrypted values, of which record and under which key.
CREATE TABLE ledger_content_key (
	key TEXT NOT NULL,
	seq INTEGER NOT NULL,
	subject TEXT NOT NULL,
	kind TEXT NOT NULL,
	PRIMARY KEY (key, seq)
) WITHOUT ROWID;
CREATE INDEX ledger_content_key_subject ON ledger_content_key (subject);

-- Keys that were destroyed, and by which event.
CREATE TABLE ledger_erased_key (
	key TEXT PRIMARY KEY,
	seq INTEGER NOT NULL,
	at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE ledger_erasure (
	seq INTEGER PRIMARY KEY,
	uid TEXT NOT NULL UNIQUE,
	subject TEXT NOT NULL,
	replays TEXT -- the uid of an earlier one, of the erasure list
);
CREATE INDEX ledger_erasure_subject ON ledger_erasure (subject);
CREATE INDEX ledger_erasure_replays ON ledger_erasure (replays)
	WHERE replays IS NOT NULL;
