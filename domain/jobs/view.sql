-- A job and its latest attempt. Input and result are JSON, result only of
-- completed jobs, fault only of failed attempts and of cancelled jobs; earlier
-- is the attempts that count no longer, since it is tried anew.
CREATE TABLE job (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL UNIQUE,
	kind TEXT NOT NULL,
	status TEXT NOT NULL,
	input TEXT,
	result TEXT,
	fault TEXT,
	attempt INTEGER NOT NULL,
	earlier INTEGER NOT NULL,
	worker TEXT,
	lease_until INTEGER,
	not_before INTEGER NOT NULL,
	queued_at INTEGER NOT NULL,
	ended_at INTEGER
) STRICT;
CREATE INDEX job_open ON job (status, id) WHERE status IN ('queued', 'claimed');
CREATE INDEX job_kind ON job (kind, id);

-- Each attempt, and its outcome once it has one: completed, failed, lost (its
-- lease ran out and another was made), cancelled.
CREATE TABLE job_attempt (
	job TEXT NOT NULL,
	attempt INTEGER NOT NULL,
	worker TEXT NOT NULL,
	claimed_at INTEGER NOT NULL,
	lease_until INTEGER NOT NULL,
	outcome TEXT,
	fault TEXT,
	ended_at INTEGER,
	PRIMARY KEY (job, attempt)
) STRICT, WITHOUT ROWID;
