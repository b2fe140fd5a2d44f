-- People who decide by signature. A key is registered once: a revoked one does
-- not come back under another record.
CREATE TABLE approver (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL UNIQUE,
	name_box BLOB NOT NULL,
	content_key TEXT NOT NULL,
	public_key TEXT NOT NULL UNIQUE,
	roles TEXT NOT NULL,
	status TEXT NOT NULL,
	added_at INTEGER NOT NULL,
	changed_at INTEGER NOT NULL
) STRICT;
