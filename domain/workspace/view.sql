-- One row: a ledger belongs to one workspace.
CREATE TABLE workspace (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL UNIQUE,
	name TEXT NOT NULL,
	display_name TEXT NOT NULL,
	environment TEXT NOT NULL,
	entitlements TEXT NOT NULL,
	created_at INTEGER NOT NULL
) STRICT;

-- Entitlements that were given or taken after the workspace was created.
CREATE TABLE workspace_entitlement (
	key TEXT PRIMARY KEY,
	changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
