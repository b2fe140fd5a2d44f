-- A job and its latest attempt. Input and result are JSON, result only of
-- completed jobs, fault only of failed attempts.
CREATE TABLE job (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL UNIQUE,
	kind TEXT NOT NULL,
	status TEXT NOT NULL,
	input TEXT,
	result TEXT,
	fault TEXT,
	attempt INTEGER NOT NULL,
	worker TEXT,
	lease_until INTEGER,
	not_before INTEGER NOT NULL,
	queued_at INTEGER NOT NULL,
	ended_at INTEGER
) STRICT;
CREATE INDEX job_open ON job (status, id) WHERE status IN ('queued', 'claimed');
CREATE INDEX job_kind ON job (kind, id);
