# For scripts/bench: the service and the no-op, each behind a lighttpd of its
# own with the configuration that is shipped, and the requests to them.

service_pids=()
noop_pids=()

# A port of loopback on which nobody listens.
free_port() {
	local port=$1

	while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
		port=$((port + 1))
	done
	echo "$port"
}

end() {
	local pid

	for pid; do
		kill -TERM "$pid" 2>/dev/null || continue
		for _ in {1..100}; do
			kill -0 "$pid" 2>/dev/null || break
			sleep 0.1
		done
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
}

# web_server NAME PORT SOCKET: leaves its pid in $web_pid. It runs as whoever
# runs this, so it needs no directory of its own.
web_server() {
	mkdir -p "$run/$1"
	scripts/render-conf conf/lighttpd.conf port="$2" socket="$3" \
		run="$run/$1" log="$run/$1" |
		grep -v '^server\.\(user\|group\)name' >"$run/$1/lighttpd.conf"
	PATH=$PATH:/usr/sbin lighttpd -D -f "$run/$1/lighttpd.conf" \
		2>"$run/$1/stderr" &
	web_pid=$!
}

# use STATE: the ledger that programs work with from here on.
use() {
	state=$1
	repository=$state/var/ledgers/bench/sandbox/ledger.git
	configured=(env PROBITY_CONFIG=/dev/null PROBITY_STATE="$state/var"
		PROBITY_KEYS="$state/keys" PROBITY_LIMIT_BURST=1000000
		PROBITY_LIMIT_REQUESTS_PER_SECOND=1000000
		PROBITY_LIMIT_MONTHLY=1000000000000)
}

ctl() {
	"${configured[@]}" "$build/$1" "${@:2}"
}

# make_ledger STATE: a workspace with what an action needs. The source is large
# enough for every amount that is taken from it.
make_ledger() {
	local options=(--workspace bench --json) source application

	use "$1"
	mkdir -p "$state"
	printf '%s\n' 'Invoice,Supplier,Amount,Currency' \
		'BENCH-1,Bench GmbH,90000000000.00,EUR' >"$state/invoices.csv"
	ctl probityctl workspace create "${options[@]}"
	ctl probityctl connector add "${options[@]}" --name Bench \
		--kind sandbox --modes sandbox
	ctl probityctl counterparty add "${options[@]}" --name 'Bench GmbH' \
		--account DE89370400440532013000
	ctl probityctl source-record import "${options[@]}" --kind invoice \
		--file "$state/invoices.csv" --format csv --mapping \
		'reference=Invoice,counterparty=Supplier,amount=Amount,currency=Currency'
	source=$(ctl probityctl source-record list "${options[@]}" |
		jq -er '.data[0].uid')
	application=$(ctl probityctl application create "${options[@]}" \
		--name bench --responsible Bench \
		--scopes actions:create,agent:execution:read,trust:read \
		--entitlements core-platform,financial-actions,agents | jq -er .uid)
	ctl probityctl credential issue "${options[@]}" \
		--application "$application" | jq -er .key >"$state/key"
	jq -cn --arg source "$source" '{action_key: "supplier-payment",
		source_uid: $source, connector_id: 1, counterparty_id: 1,
		currency: "EUR", amount: "0.01", external_reference: "{ref}",
		execution_mode: "sandbox"}' >"$state/body.json"
	fill 20
} >"$dir/setup.log"

# fill EVENTS: brings the ledger to so many.
fill() {
	ctl tests/bench/bench_fill "$(<"$state/key")" "$state/body.json" "$1"
}

# start_program [PRELOAD], start_worker [PRELOAD]. In the background without a
# function around them: $! is the program's own.
start_program() {
	"${configured[@]}" LD_PRELOAD="${1:-}" "$build/probity.fcgi" \
		--listen "unix:$run/fcgi.sock,mode=0666" \
		>>"$dir/probity.log" 2>&1 &
	fcgi_pid=$!
	service_pids+=($!)
}

start_worker() {
	"${configured[@]}" LD_PRELOAD="${1:-}" "$build/probity-worker" \
		>>"$dir/probity.log" 2>&1 &
	worker_pid=$!
	service_pids+=($!)
}

# start_service STATE [PRELOAD]: with the worker, as in production. What the
# worker does on the first day alone (a full verification) is done before.
start_service() {
	use "$1"
	ctl probity-worker --once 2>>"$dir/probity.log"
	port=$(free_port 18480)
	web_server web "$port" "$run/fcgi.sock"
	service_pids+=("$web_pid")
	start_program "${2:-}"
	start_worker "${2:-}"
	await_service "$(make_paths 1)" >/dev/null
}

# await_service PATH: prints when the first reply came, in microseconds since
# 1970. lighttpd that finds no socket does not look again for a second or two,
# so it is asked when there is one.
await_service() {
	for _ in {1..5000}; do
		[ ! -S "$run/fcgi.sock" ] || break
		sleep 0.002
	done
	load -1 -w 0 -H "Authorization: Bearer $(<"$state/key")" \
		127.0.0.1 "$port" GET "$1" ||
		die "the service does not answer: $(tail -n 3 "$dir/probity.log")"
}

stop_service() {
	end "${service_pids[@]}"
	service_pids=()
	rm -f "$run/fcgi.sock"
}

start_noop() {
	noop_port=$(free_port 18580)
	"$build/tests/bench/bench_noop" "$run/noop.sock" 64 &
	noop_pids+=($!)
	web_server noop "$noop_port" "$run/noop.sock"
	noop_pids+=("$web_pid")
	load -1 -w 0 127.0.0.1 "$noop_port" GET / >/dev/null ||
		die "the no-op does not answer"
}

stop_noop() {
	end "${noop_pids[@]}"
	noop_pids=()
}

load() {
	timeout 600 "$build/tests/bench/bench_http" "$@"
}

# post CLIENTS SECONDS
post() {
	load -c "$1" -s "$2" -b "$state/body.json" \
		-H "Authorization: Bearer $(<"$state/key")" \
		127.0.0.1 "$port" POST /api/v2/actions/credit-corporate
}

post_noop() {
	load -c "$1" -s "$2" -b "$state/body.json" \
		-H "Authorization: Bearer $(<"$state/key")" \
		127.0.0.1 "$noop_port" POST /api/v2/actions/credit-corporate
}

# A thousand actions from all over the ledger.
make_paths() {
	sqlite3 -readonly "$state/var/ledgers/bench/sandbox/state.db" \
		"WITH RECURSIVE pick(n) AS (SELECT 1 UNION ALL SELECT n + 1
		FROM pick WHERE n < ${1:-1000}) SELECT
		'/api/v2/agent-execution/actions/' || uid FROM pick JOIN action
		ON id = 1 + abs(random()) % (SELECT max(id) FROM action)" |
		grep .
}

get() {
	make_paths >"$run/paths"
	load -c "$1" -s "$2" -p "$run/paths" \
		-H "Authorization: Bearer $(<"$state/key")" \
		127.0.0.1 "$port" GET -
}

# Proofs that events from all over the ledger are in it.
prove() {
	local size

	size=$(sqlite3 -readonly "${repository%/*}/state.db" \
		'SELECT size FROM ledger_position')
	awk -v size="$size" 'BEGIN { srand(1); for (i = 0; i < 1000; i++)
		printf "/api/v2/ledger/proofs/inclusion?seq=%d\n",
			int(rand() * size) }' >"$run/paths"
	load -c "$1" -s "$2" -p "$run/paths" \
		-H "Authorization: Bearer $(<"$state/key")" \
		127.0.0.1 "$port" GET -
}

last_event_bytes() {
	git --git-dir "$repository" cat-file blob main:events | tail -n 1 | cut -d ' ' -f 2- |
		tr -d '\n' | wc -c
}
