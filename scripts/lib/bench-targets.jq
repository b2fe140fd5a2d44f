# Adds to the measurements what is to be reached, and whether it is. A target
# whose parts were not measured is left out.

# cost(f): how much more f costs at the largest size than at the smallest.
def growth_ratio($name; $is_rate):
	.growth[0][$name] as $small | .growth[-1][$name] as $large
	| if $is_rate then $small / $large else $large / $small end;

def target($name; value; $least; $aim):
	(try (value // null) catch null) as $v
	| if $v == null then empty
	else {$name, value: $v, at_least: $least, $aim, reached: ($v >= $least)}
	end;

def limit($name; value; $most; $aim):
	(try (value // null) catch null) as $v
	| if $v == null then empty
	else {$name, value: $v, at_most: $most, $aim, reached: ($v <= $most)}
	end;

if (.growth | length) > 1 then
	.growth_ratios = ([
		(["post_rate", "get_rate", "proof_rate", "verify_full", "verify_quick",
			"rebuild"][] as $n | {($n): growth_ratio($n; true)}),
		(["post_p50_ms", "get_p50_ms", "proof_p50_ms", "start_ms",
			"cgi_get_p50_ms", "cgi_post_p50_ms", "rss_mib", "git_bytes_per_event",
			"state_bytes_per_event"][] as $n
			| {($n): growth_ratio($n; false)})
	] | add)
else . end
| .targets = [
	target("library, 64 writers / OpenSSL signatures of one core";
		.direct["64"].rate / .sign_per_core; 0.6; 1.0),
	target("durable POST / no-op POST, 64 connections";
		.post["64"].rate / .noop["64"].rate; 0.15; 0.22),
	target("durable POST / PostgreSQL chain, 64 connections";
		.post["64"].rate / .pg_chain["64"].rate; 2; null),
	limit("POST p50 at 1 connection, ms"; .post["1"].p50_ms; 3; null),
	limit("POST p99 at 64 connections, ms"; .post["64"].p99_ms; 25; null),
	limit("inclusion proof p50 at the largest size, 1 connection, ms";
		.growth[-1].proof_p50_ms; 1; null),
	limit("GET by plain CGI, p50 at the largest size, ms";
		.growth[-1].cgi_get_p50_ms; 15; null),
	limit("POST by plain CGI, p50 at the largest size, ms";
		.growth[-1].cgi_post_p50_ms; 15; null),
	target("full verification / signatures verified by all cores";
		.verify_full / .bounds.verify_all_cores; 0.8; null),
	target("quick verification, events/s"; .verify_quick; 150000; 300000),
	(.growth_ratios // {} | to_entries[]
		| {name: "growth of cost: \(.key)", value, at_most: 1.3,
			aim: null, reached: (.value <= 1.3)}),
	target("slow disk, POST/s at 64 connections";
		.slow_disk.post["64"].rate; 4000; 8000)
]
