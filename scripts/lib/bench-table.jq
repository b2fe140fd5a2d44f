# The report for people.

def pad($n): tostring | . + (" " * ([$n - length, 0] | max));
def left($n): tostring | (" " * ([$n - length, 0] | max)) + .;
def digits($d): if . == null then "-"
	else (pow(10; $d) as $p | (. * $p | round) / $p | tostring) end;

def clients($name; $of):
	if $of == null then empty
	else ($of | to_entries | sort_by(.key | tonumber)[]
		| ($name | pad(26)) + (.key | left(8))
		+ (.value.rate | digits(0) | left(10))
		+ (.value.p50_ms | digits(2) | left(10))
		+ (.value.p99_ms | digits(2) | left(10)))
	end;

def growth_row($name):
	($name | pad(28)) + ([.[] | .[$name] | digits(1) | left(12)] | add);

"Probity \(.machine.commit), \(.machine.at)",
"\(.machine.cpu), \(.machine.cores) cores, \(.machine.filesystem), \(.seconds) s each",
"",
("" | pad(26)) + ("clients" | left(8)) + ("a second" | left(10))
	+ ("p50 ms" | left(10)) + ("p99 ms" | left(10)),
clients("no-op POST"; .noop),
clients("durable POST"; .post),
clients("GET"; .get),
clients("library alone"; .direct),
clients("PostgreSQL chain"; .pg_chain),
clients("durable POST, slow disk"; .slow_disk.post),
clients("PostgreSQL, slow disk"; .slow_disk.pg_chain),
(select(.bounds) | .bounds
	| "",
	"Ed25519 over \(.event_bytes) bytes, a second:",
	"  OpenSSL signs \(.sign_per_core) on a core; the library in use signs \(.sign_per_core_in_use)",
	"  it verifies \(.verify_per_core) on a core, \(.verify_all_cores) on all",
	"fdatasync: 4 KiB \(.fdatasync_4k_ms) ms, 64 KiB \(.fdatasync_64k_ms) ms; making a file \(.create_file_ms) ms (medians)"),
(select(.growth) | .growth
	| "",
	growth_row("events"),
	(.[0] | keys_unsorted[] | select(. != "events")) as $name
	| growth_row($name)),
(select(.export) | .export[]
	| "",
	"lineage export of \(.events) events: \(.rate) a second, \(.bytes) bytes;"
	+ " the worker had \(.worker_mib) MiB at most, probity.fcgi \(.fcgi_mib) MiB"),
"",
"Targets",
(.targets[]
	| (if .reached then "  reached " else "  MISSED  " end)
	+ (.name | pad(58)) + (.value | digits(3) | left(10))
	+ (if .at_least then "  at least \(.at_least)" else "  at most \(.at_most)" end)
	+ (if .aim then " (aim \(.aim))" else "" end))
