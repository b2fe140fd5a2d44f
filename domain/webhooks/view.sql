-- A registration. secret is the box of its two keys (docs/webhooks.md); claim
-- is the event by which a worker holds the endpoint until lease_until; ailing
-- says that the latest attempts failed or took long.
CREATE TABLE webhook (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL UNIQUE,
	application TEXT NOT NULL REFERENCES application (uid),
	url TEXT NOT NULL,
	base_url TEXT NOT NULL,
	description TEXT,
	events TEXT NOT NULL,
	status TEXT NOT NULL,
	secret BLOB NOT NULL,
	public_key TEXT NOT NULL,
	previous_secret BLOB,
	previous_until INTEGER,
	claim INTEGER,
	lease_until INTEGER,
	served_at INTEGER,
	ailing INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	changed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_application ON webhook (application, id);

-- What active registrations want: all that an event has to look at.
CREATE TABLE webhook_subscription (
	event TEXT NOT NULL,
	application TEXT NOT NULL,
	webhook_id INTEGER NOT NULL REFERENCES webhook (id),
	PRIMARY KEY (event, application, webhook_id)
) STRICT, WITHOUT ROWID;

-- The outbox: one row an event and registration. attempts counts all, before
-- those of them that were made before the latest replay. detail is JSON.
CREATE TABLE webhook_delivery (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL UNIQUE,
	webhook_id INTEGER NOT NULL REFERENCES webhook (id),
	event TEXT NOT NULL,
	seq INTEGER NOT NULL,
	event_hash BLOB NOT NULL,
	at INTEGER NOT NULL,
	subject TEXT NOT NULL,
	detail TEXT,
	status TEXT NOT NULL,
	attempts INTEGER NOT NULL,
	before INTEGER NOT NULL,
	next_at INTEGER,
	ended_at INTEGER
) STRICT;
CREATE INDEX webhook_delivery_due
	ON webhook_delivery (next_at, webhook_id) WHERE status = 'queued';
CREATE INDEX webhook_delivery_line
	ON webhook_delivery (webhook_id, id) WHERE status = 'queued';
CREATE INDEX webhook_delivery_subject
	ON webhook_delivery (webhook_id, subject, id) WHERE status = 'queued';
CREATE INDEX webhook_delivery_dead
	ON webhook_delivery (webhook_id, id) WHERE status = 'dead';

CREATE TABLE webhook_attempt (
	delivery_id INTEGER NOT NULL REFERENCES webhook_delivery (id),
	number INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	at INTEGER NOT NULL,
	worker TEXT NOT NULL,
	outcome TEXT NOT NULL,
	http_status INTEGER,
	duration_ms INTEGER NOT NULL,
	fault TEXT,
	next_at INTEGER,
	PRIMARY KEY (delivery_id, number)
) STRICT, WITHOUT ROWID;
