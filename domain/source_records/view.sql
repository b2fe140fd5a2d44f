-- Imports, the bank statements and the sealed records that they brought.

-- What would tell which file it was is encrypted under the import's content
-- key; rows of source_import.recorded, from before there were any, have hashes.
CREATE TABLE source_import (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL UNIQUE,
	file_bytes INTEGER, -- of the encrypted ones
	-- Of file, format, kind, mapping and the other options together.
	request_box BLOB,
	request_sha256 BLOB UNIQUE,
	file_box BLOB,
	file_sha256 BLOB,
	content_key TEXT,
	at INTEGER NOT NULL,
	seq INTEGER NOT NULL
) STRICT;
CREATE INDEX source_import_bytes ON source_import (file_bytes, id);

CREATE TABLE bank_account (
	account TEXT PRIMARY KEY,
	statement_to TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE bank_statement (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL UNIQUE,
	reference TEXT NOT NULL,
	account TEXT NOT NULL,
	servicer TEXT,
	general_ledger_id INTEGER,
	sequence INTEGER,
	from_on TEXT NOT NULL,
	to_on TEXT NOT NULL,
	currency TEXT NOT NULL,
	opening_minor INTEGER NOT NULL,
	closing_minor INTEGER NOT NULL,
	credit_minor INTEGER NOT NULL,
	debit_minor INTEGER NOT NULL,
	entries INTEGER NOT NULL,
	open_entries INTEGER NOT NULL,
	status TEXT NOT NULL,
	import_uid TEXT NOT NULL REFERENCES source_import (uid),
	UNIQUE (account, reference, to_on)
) STRICT;
CREATE INDEX bank_statement_gl ON bank_statement (general_ledger_id, id);
CREATE INDEX bank_statement_status ON bank_statement (status, id);
CREATE INDEX bank_statement_gl_status
	ON bank_statement (general_ledger_id, status, id);
CREATE INDEX bank_statement_account ON bank_statement (account, to_on, id);

CREATE TABLE source_record (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL UNIQUE,
	kind TEXT NOT NULL,
	-- The seal, and the bytes that it is the SHA-256 of.
	sha256 BLOB NOT NULL,
	canonical TEXT NOT NULL,
	-- What makes it the same record in another file; see seal.h.
	entry_key BLOB UNIQUE,
	amount_minor INTEGER NOT NULL,
	currency TEXT NOT NULL,
	counterparty_id INTEGER,
	arrangement_uid TEXT,
	general_ledger_id INTEGER,
	reference TEXT,
	import_uid TEXT NOT NULL REFERENCES source_import (uid),
	line INTEGER NOT NULL,
	-- Statement entries only, from here on.
	statement_uid TEXT REFERENCES bank_statement (uid),
	debit INTEGER,
	reversal INTEGER,
	bank_reference TEXT,
	booked_on TEXT,
	value_on TEXT,
	settles TEXT,
	seq INTEGER NOT NULL
) STRICT;
CREATE INDEX source_record_kind ON source_record (kind, id);
CREATE INDEX source_record_import ON source_record (import_uid, id);
CREATE INDEX source_record_counterparty ON source_record (counterparty_id, id);
CREATE INDEX source_record_reference ON source_record (reference, id);

-- How many of each kind there are.
CREATE TABLE source_total (
	kind TEXT PRIMARY KEY,
	n INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
