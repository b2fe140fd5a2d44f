# For scripts/bench: what a lineage export of a whole workspace costs, made by
# the worker beside the running service: its rate, the most memory that the
# worker had, and then that of the program while it sends the file.

# vm_hwm PID: the most memory that it had, MiB.
vm_hwm() {
	awk '/^VmHWM/ {print int($2 / 1024)}' "/proc/$1/status"
}

exports=/api/v2/infrastructure/lineage-exports

ask() {
	curl -sf -H "Authorization: Bearer $(<"$state/lineage-key")" \
		"http://127.0.0.1:$port$exports$@"
}

make_lineage_key() {
	local application

	application=$(ctl probityctl application create --workspace bench --json \
		--name lineage --responsible Bench --entitlements core-platform,infrastructure \
		--scopes infrastructure:lineage | jq -er .uid)
	ctl probityctl credential issue --workspace bench --json \
		--application "$application" | jq -er .key >"$state/lineage-key"
}

# await_export UID: prints the seconds until it is sealed.
await_export() {
	local from=$EPOCHREALTIME

	for _ in {1..36000}; do
		[ "$(sqlite3 -readonly "${repository%/*}/state.db" "SELECT count(*)
			FROM lineage_export WHERE uid = '$1' AND sealed_seq > 0")" = 0 ] ||
			break
		sleep 0.1
	done
	awk "BEGIN { print $EPOCHREALTIME - $from }"
}

# measure_one_export EVENTS: leaves the figures in $run/export.json.
measure_one_export() {
	local uid seconds bytes download

	fill "$1" >/dev/null
	start_service "$state"
	uid=$(ask "" -H 'Content-Type: application/json' \
		-d '{"scope_type":"workspace","scope_id":"bench"}' | jq -er .uid)
	seconds=$(await_export "$uid")
	download=$(ask "/$uid" -o /dev/null -w '%{time_total} %{size_download}')
	bytes=$(stat -c %s "$state/var/ledgers/bench/sandbox/exports/$uid")
	jq -n --argjson events "$1" --argjson seconds "$seconds" \
		--argjson bytes "$bytes" --argjson rate \
		"$(awk "BEGIN { print int($1 / $seconds) }")" \
		--argjson worker_mib "$(vm_hwm "$worker_pid")" \
		--argjson download_seconds "${download% *}" \
		--argjson download_bytes "${download#* }" \
		--argjson fcgi_mib "$(vm_hwm "$fcgi_pid")" '$ARGS.named' \
		>"$run/export.json"
	stop_service
}

measure_export() {
	local n all='[]'

	make_ledger "$dir/export"
	make_lineage_key
	for n in $export_sizes; do
		say "a lineage export of $n events"
		measure_one_export "$n"
		all=$(jq --slurpfile one "$run/export.json" '. + $one' <<<"$all")
	done
	record .export "$all"
}
