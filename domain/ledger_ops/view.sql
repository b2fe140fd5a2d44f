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
