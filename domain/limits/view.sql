-- What operators set; the subject is an application, a key or an OAuth client.
-- NULL: not set.
CREATE TABLE request_limit (
	subject TEXT PRIMARY KEY,
	requests_per_second INTEGER,
	burst INTEGER,
	monthly INTEGER,
	changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
