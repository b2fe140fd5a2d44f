# For scripts/bench: what everything costs as the ledger grows. The ledger is
# filled in the process, 64 writers, and measured at each size; what the
# measurement of writing itself adds comes last.

# Bytes that the objects take on the disk, with the rest of their last blocks,
# but for the packs that a larger one has replaced: they stay for ten minutes.
repository_bytes() {
	local superseded=$repository/packs-superseded

	[ -e "$superseded" ] || superseded=/dev/null
	find "$repository/objects" -type f -printf '%f %b\n' |
		awk 'pass == 1 { gone[$2] = 1; next }
			{ name = $1; sub(/\.[a-z]+$/, "", name) }
			!(name in gone) { n += $2 } END { print n * 512 }' \
			pass=1 "$superseded" pass=2 -
}

# Milliseconds from the program's start to its first reply, the median of five.
# The fifth goes on.
start_ms() {
	local path from i

	path=$(make_paths 1)
	for i in {1..5}; do
		if [ "$i" != 1 ]; then
			end "$fcgi_pid"
			unset 'service_pids[-1]'
		fi
		from=${EPOCHREALTIME/./}
		start_program
		echo $(($(await_service "$path") - from))
	done >"$run/starts"
	sort -n "$run/starts" | awk 'NR == 3 {printf "%.1f\n", $1 / 1000}'
}

# cgi PATH [BODY-FILE]: requests by plain CGI, a process for each.
cgi() {
	ctl tests/bench/bench_cgi "$build/probity.fcgi" $((seconds * 20)) \
		"$(<"$state/key")" "$@"
}

resident_mib() {
	awk '/^VmRSS/ {printf "%.1f\n", $2 / 1024}' "/proc/$1/status"
}

# fill_to EVENTS: what it adds, loose and packed, on the disk.
fill_to() {
	local before filled loose from packed

	before=$(repository_bytes)
	filled=$(fill "$1")
	loose=$(repository_bytes)
	from=${EPOCHREALTIME/./}
	PROBITY_PACK_THRESHOLD=1 ctl probity-worker --once \
		2>>"$dir/probity.log"
	packed=$(repository_bytes)
	jq -c --argjson loose "$((loose - before))" \
		--argjson packed "$packed" \
		--argjson view "$(stat -c %s "${repository%/*}/state.db")" \
		--argjson us "$((${EPOCHREALTIME/./} - from))" \
		'. as $f | {events, fill_rate: .rate, worker_s: ($us / 1e6),
		git_bytes_per_event_loose:
			(if .added > 0 then $loose / .added else null end),
		git_bytes_per_event: ($packed / .events),
		state_bytes_per_event: ($view / .events)}' <<<"$filled"
}

# The service's part, with a worker beside it as in production.
measure_served() {
	local start cgi_get cgi_post one many get one_get proofs one_proof

	port=$(free_port 18480)
	web_server web "$port" "$run/fcgi.sock"
	service_pids+=("$web_pid")
	start_ms >"$run/start"
	start=$(<"$run/start")
	start_worker
	cgi_get=$(cgi "$(make_paths 1)")
	cgi_post=$(cgi /api/v2/actions/credit-corporate "$state/body.json")
	get=$(get 64 "$seconds")
	one_get=$(get 1 "$seconds")
	proofs=$(prove 64 "$seconds")
	one_proof=$(prove 1 "$seconds")
	many=$(post 64 "$seconds")
	one=$(post 1 "$seconds")
	jq -cn --argjson start_ms "$start" \
		--argjson cgi_get "$cgi_get" --argjson cgi_post "$cgi_post" \
		--argjson get "$get" --argjson one_get "$one_get" \
		--argjson proofs "$proofs" --argjson one_proof "$one_proof" \
		--argjson many "$many" --argjson one "$one" \
		--argjson rss_mib "$(resident_mib "$fcgi_pid")" \
		'{start_ms: $start_ms,
		cgi_get_p50_ms: $cgi_get.p50_ms, cgi_post_p50_ms: $cgi_post.p50_ms,
		get_rate: $get.rate, get_p50_ms: $one_get.p50_ms,
		proof_rate: $proofs.rate, proof_p50_ms: $one_proof.p50_ms,
		post_rate: $many.rate, post_p99_ms: $many.p99_ms,
		post_p50_ms: $one.p50_ms, rss_mib: $rss_mib}'
}

measure_size() {
	local filled replay

	say "a ledger of $1 events: filling, packing"
	filled=$(fill_to "$1")
	say "a ledger of $1 events: verification, rebuild"
	replay=$(ctl tests/bench/bench_replay bench)
	say "a ledger of $1 events: start, GET, POST"
	# Not in a subshell: what it starts is ended from here.
	measure_served >"$run/served"
	stop_service
	record '.growth' "$(jq --argjson filled "$filled" \
		--argjson replay "$replay" --slurpfile served "$run/served" \
		'(.growth // []) + [$filled + $replay + $served[0]]' "$result")"
}

measure_growth() {
	local size last

	make_ledger "$dir/growth"
	for size in $sizes; do
		measure_size "$size"
	done
	last=$(jq -c '.growth[-1]' "$result")
	for size in verify_full verify_quick rebuild; do
		record ".$size" "$(jq ".$size" <<<"$last")"
	done
}
