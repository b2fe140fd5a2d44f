-- One chain: each row's hash covers the row before, so appends take turns, on
-- the row that holds the head.
CREATE TABLE events (
	seq bigserial PRIMARY KEY,
	prev bytea NOT NULL,
	hash bytea NOT NULL,
	body text NOT NULL
);

CREATE TABLE head (
	one boolean PRIMARY KEY DEFAULT true CHECK (one),
	hash bytea NOT NULL
);

INSERT INTO head (hash) VALUES (decode(repeat('00', 32), 'hex'));

CREATE FUNCTION append(body text) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
	before bytea;
	after bytea;
BEGIN
	SELECT head.hash INTO before FROM head FOR UPDATE;
	after := sha256(before || convert_to(body, 'UTF8'));
	INSERT INTO events (prev, hash, body) VALUES (before, after, body);
	UPDATE head SET hash = after;
	RETURN after;
END $$;
