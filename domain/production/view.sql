-- The last decision; no row: production was never opened. credential_find
-- reads it with every request.
CREATE TABLE production_state (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	open INTEGER NOT NULL,
	since INTEGER NOT NULL,
	approver TEXT NOT NULL,
	stated_at INTEGER NOT NULL
) STRICT;
