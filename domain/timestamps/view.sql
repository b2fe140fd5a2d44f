-- Every time-stamp of a checkpoint, by the event that recorded it.
CREATE TABLE checkpoint_timestamp (
	seq INTEGER PRIMARY KEY,
	size INTEGER NOT NULL,
	root TEXT NOT NULL,
	authority TEXT NOT NULL,
	gen_time INTEGER NOT NULL,
	policy TEXT NOT NULL
) STRICT;
