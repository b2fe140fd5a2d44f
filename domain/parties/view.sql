-- Ways to execute an action.
CREATE TABLE connector (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL,
	name TEXT NOT NULL,
	kind TEXT NOT NULL,
	sandbox INTEGER NOT NULL,
	live INTEGER NOT NULL,
	status TEXT NOT NULL,
	created_at INTEGER NOT NULL
) STRICT;

-- Who is paid, or pays. Name and account are encrypted boxes under the content
-- key; rows of counterparty.added, from before there were any, hold them in
-- clear. No index is over either: imports decrypt what they look for.
CREATE TABLE counterparty (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL,
	name TEXT,
	account TEXT,
	name_box BLOB,
	account_box BLOB,
	content_key TEXT,
	lei TEXT,
	status TEXT NOT NULL,
	created_at INTEGER NOT NULL
) STRICT;

-- Imports find it by what a document calls it.
CREATE INDEX counterparty_lei ON counterparty (lei) WHERE lei IS NOT NULL;

-- Standing agreements with a counterparty.
CREATE TABLE arrangement (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL UNIQUE,
	counterparty_id INTEGER NOT NULL REFERENCES counterparty (id),
	kind TEXT NOT NULL,
	currency TEXT NOT NULL,
	limit_amount TEXT,
	limit_minor INTEGER,
	status TEXT NOT NULL,
	created_at INTEGER NOT NULL
) STRICT;
