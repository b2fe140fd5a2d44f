-- A client's secret is known by its SHA-256. Each has a number: rotation counts
-- on, and with that ends every token that was issued under an earlier one.
CREATE TABLE oauth_client (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL UNIQUE,
	application TEXT NOT NULL REFERENCES application (uid),
	client_id TEXT NOT NULL UNIQUE,
	sha256 BLOB NOT NULL,
	secret_number INTEGER NOT NULL,
	label TEXT,
	scopes TEXT NOT NULL,
	status TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	changed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX oauth_client_application ON oauth_client (application);

-- In force: not revoked_at, the client active, its secret still of this number,
-- and before expires_at, which only who knows the time can say.
CREATE TABLE access_token (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL UNIQUE,
	client TEXT NOT NULL REFERENCES oauth_client (uid),
	public_id TEXT NOT NULL UNIQUE,
	sha256 BLOB NOT NULL,
	secret_number INTEGER NOT NULL,
	scopes TEXT NOT NULL,
	audience TEXT NOT NULL,
	issued_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	revoked_at INTEGER
) STRICT;
CREATE INDEX access_token_client ON access_token (client, expires_at);
