-- Every full verification of this ledger that was recorded in it.
CREATE TABLE verification (
	id INTEGER PRIMARY KEY,
	size INTEGER NOT NULL,
	root TEXT,
	head TEXT,
	result TEXT NOT NULL,
	events INTEGER NOT NULL,
	reason TEXT,
	failed_seq INTEGER,
	started_at INTEGER NOT NULL,
	finished_at INTEGER NOT NULL
) STRICT;

-- What was found damaged in the repository. One that is mended and found again
-- is another.
CREATE TABLE damage (
	id INTEGER PRIMARY KEY,
	kind TEXT NOT NULL,
	name TEXT NOT NULL,
	what TEXT NOT NULL,
	first_seq INTEGER,
	last_seq INTEGER,
	found_at INTEGER NOT NULL,
	mended_at INTEGER
) STRICT;
CREATE INDEX damage_open ON damage (kind, name) WHERE mended_at IS NULL;

-- Every scrub that came to its end.
CREATE TABLE scrub (
	id INTEGER PRIMARY KEY,
	events INTEGER NOT NULL,
	objects INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	damaged INTEGER NOT NULL,
	seconds INTEGER NOT NULL,
	started_at INTEGER NOT NULL,
	finished_at INTEGER NOT NULL
) STRICT;
