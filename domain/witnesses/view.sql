-- What witnesses said of checkpoints. One that says it again changes nothing.
CREATE TABLE cosignature (
	size INTEGER NOT NULL,
	witness TEXT NOT NULL,
	key_id TEXT NOT NULL,
	line TEXT NOT NULL,
	time INTEGER NOT NULL,
	PRIMARY KEY (size, witness, key_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX cosignature_witness ON cosignature (witness, key_id, size);
