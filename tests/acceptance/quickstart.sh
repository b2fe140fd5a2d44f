#!/usr/bin/env bash
# scripts/quickstart as a newcomer uses it: from another folder, over a relative
# state, with each web server, twice; what it writes, and that it stops.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
export PROBITY_STATE=here/state
n=0

fail() {
	echo "FAILED: $*" >&2
	[ -z "${PROBITY_COUNTS:-}" ] || echo "$n 1" >"$PROBITY_COUNTS"
	exit 1
}
clean() {
	(cd "$work" && "$top/scripts/quickstart" stop >/dev/null) || true
	rm -rf "$work"
}
trap clean EXIT
passed() {
	n=$((n + 1))
	echo "ok $n $*"
}
value() {
	jq -r ".$1" "$work/here/state/quickstart.json"
}

cd "$work"
mkdir here
export PROBITY_PORT=$((20000 + RANDOM % 20000))
names='action_uid agent_api_key agent_key_id agent_private_key api_key base_url'
names+=' client_id client_secret environment ledger origin pids public_key'
names+=' source_uid workspace'
first=
for server in lighttpd apache nginx; do
	PROBITY_SERVER=$server "$top/scripts/quickstart" >"out.$server" ||
		fail "quickstart with $server"
	[ "$(wc -l <"out.$server")" -le 12 ] || fail "it prints too much"
	[ "$(jq -r 'keys | join(" ")' here/state/quickstart.json)" = "$names" ] ||
		fail "members of quickstart.json"
	[ "$(stat -c %a here/state/quickstart.json)" = 600 ] || fail "mode"
	[ "$(value base_url)" = "http://127.0.0.1:$PROBITY_PORT" ] || fail base_url
	[[ $(value ledger) = "$work"/* ]] || fail "ledger is not an absolute path"
	[[ $(value public_key) =~ ^ssh-ed25519\ [A-Za-z0-9+/=]+$ ]] || fail key
	passed "quickstart with $server"

	api() {
		curl -sS -H "Authorization: Bearer $(value api_key)" \
			"$(value base_url)/api/v2/$1"
	}
	[ "$(api "agent-execution/actions/$(value action_uid)" |
		jq -r .state)" = created ] || fail "the action is not there"
	[ "$(api finance-core/bank-statements | jq '.data | length')" = 1 ] ||
		fail "bank statements"
	passed "the key and the action work"

	token=$(curl -sS -u "$(value client_id):$(value client_secret)" \
		-d grant_type=client_credentials \
		"$(value base_url)/api/v2/oauth/token" | jq -r .access_token)
	[ "$(curl -sS -H "Authorization: Bearer $token" \
		"$(value base_url)/api/v2/workspace" | jq -r .name)" = demo ] ||
		fail "the OAuth client gets no token that works"
	passed "the OAuth client works"

	this=$(jq -c '[.api_key, .client_id, .client_secret, .action_uid, .source_uid, .public_key]' \
		here/state/quickstart.json)
	[ -z "$first" ] || [ "$this" = "$first" ] || fail "not the same again"
	first=$this
	for pid in $(value 'pids[]'); do
		kill -0 "$pid" || fail "no process $pid"
	done
	passed "goes on with what there was"
done

pids=$(value 'pids[]')
"$top/scripts/quickstart" stop
sleep 0.3
for pid in $pids; do
	state=$(ps -o stat= -p "$pid" || true)
	case $state in '' | Z*) ;; *) fail "process $pid still runs" ;; esac
done
passed "stop ends them all"

PROBITY_PORT=nonsense "$top/scripts/quickstart" >out 2>&1 && fail "port nonsense"
grep -q PROBITY_PORT out || fail "it does not say what to do"
passed "a wrong port is explained"
[ -z "${PROBITY_COUNTS:-}" ] || echo "$n 0" >"$PROBITY_COUNTS"
