-- One row an action; what it asks for is in its event.
CREATE TABLE action (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL UNIQUE,
	seq INTEGER NOT NULL,
	application TEXT NOT NULL,
	state TEXT NOT NULL,
	connector_id INTEGER NOT NULL,
	external_reference TEXT,
	updated_at INTEGER NOT NULL
) STRICT;

-- An external reference names one live action of a connector.
CREATE UNIQUE INDEX action_reference
	ON action (connector_id, external_reference)
	WHERE external_reference IS NOT NULL
	AND state NOT IN ('rejected', 'cancelled', 'expired', 'failed');

-- What live actions hold of a source, and of an arrangement: running totals,
-- so that a new action costs the same however many there are.
CREATE TABLE action_source_reservation (
	source_uid TEXT PRIMARY KEY,
	reserved_minor INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE action_arrangement_reservation (
	arrangement_uid TEXT PRIMARY KEY,
	reserved_minor INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
