-- Keys that sign manifests, by the event that certified them.
CREATE TABLE manifest_key (
	key_id TEXT PRIMARY KEY,
	public_key TEXT NOT NULL,
	seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Exports: what was asked for and, once it is sealed, the seal. `kept`: the
-- manifest is a content of the sealing event; else a file that may be lost.
CREATE TABLE lineage_export (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL UNIQUE,
	scope_type TEXT NOT NULL,
	scope_id TEXT NOT NULL,
	size INTEGER NOT NULL,
	events INTEGER NOT NULL,
	generated_at INTEGER NOT NULL,
	key_id TEXT NOT NULL,
	sealed_seq INTEGER,
	manifest_sha256 TEXT,
	bytes INTEGER,
	signature TEXT,
	kept INTEGER NOT NULL
) STRICT;
