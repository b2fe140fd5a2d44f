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

-- Who is paid, or pays.
CREATE TABLE counterparty (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL,
	name TEXT NOT NULL,
	account TEXT NOT NULL,
	lei TEXT,
	status TEXT NOT NULL,
	created_at INTEGER NOT NULL
) STRICT;

-- Imports find it by what a document calls it.
CREATE INDEX counterparty_account ON counterparty (account);
CREATE INDEX counterparty_lei ON counterparty (lei) WHERE lei IS NOT NULL;
CREATE INDEX counterparty_name ON counterparty (name);

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
