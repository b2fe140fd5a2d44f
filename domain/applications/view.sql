-- An application owns keys. Lists of names are kept with spaces between them.
CREATE TABLE application (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL UNIQUE,
	name TEXT NOT NULL,
	responsible TEXT NOT NULL,
	status TEXT NOT NULL,
	scopes TEXT NOT NULL,
	entitlements TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	changed_at INTEGER NOT NULL
) STRICT;

-- Rotation gives the same credential another key: the public id changes with
-- it, so a rotated key is not found any more.
CREATE TABLE credential (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL UNIQUE,
	application TEXT NOT NULL REFERENCES application (uid),
	public_id TEXT NOT NULL UNIQUE,
	sha256 BLOB NOT NULL,
	label TEXT,
	scopes TEXT NOT NULL,
	status TEXT NOT NULL,
	issued_at INTEGER NOT NULL,
	changed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX credential_application ON credential (application);
