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
