# For scripts/bench: what a user would build instead, a PostgreSQL table whose
# rows are chained by SHA-256, as Debian configures it but for the socket.

# Not root: PostgreSQL refuses that.
as_postgres() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid=postgres --regid=postgres --clear-groups \
			env -C "$pg" HOME="$pg" "$@"
	else
		env -C "$pg" "$@"
	fi
}

# postgres_create EVENT-BYTES
postgres_create() {
	pg=$dir/pg
	pg_bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
	mkdir -p "$pg"
	if [ "$(id -u)" = 0 ]; then
		chown postgres:postgres "$pg"
		as_postgres true 2>/dev/null ||
			die "the user postgres cannot reach $dir: set BENCH_DIR"
	fi
	as_postgres "$pg_bin/initdb" -D "$pg/data" -A trust -U postgres \
		-E UTF8 --locale=C >"$dir/postgres.log"
	head -c "$1" /dev/zero | tr '\0' x >"$dir/pg-body"
	echo 'SELECT append(:body);' >"$run/append.sql"
	chmod 644 "$run/append.sql"
	postgres_start ""
	as_postgres "$pg_bin/psql" -q -h "$pg" -U postgres -v ON_ERROR_STOP=1 \
		<scripts/lib/bench-postgres.sql
	record .pg_version "\"$(as_postgres "$pg_bin/postgres" --version |
		cut -d ' ' -f 3)\""
	postgres_stop
}

# postgres_start PRELOAD
postgres_start() {
	as_postgres env LD_PRELOAD="$1" "$pg_bin/pg_ctl" -D "$pg/data" -w -s \
		-l "$pg/log" -o "-c listen_addresses= -k $pg" start >/dev/null ||
		die "PostgreSQL does not start: $(tail -n 3 "$pg/log")"
	pg_runs=1
}

postgres_stop() {
	[ "${pg_runs:-0}" = 1 ] || return 0
	as_postgres "$pg_bin/pg_ctl" -D "$pg/data" -w -s -m fast stop
	pg_runs=0
}

# Latencies of all transactions, in microseconds, on standard input.
postgres_percentiles() {
	sort -n | awk '
	{ us[NR] = $1 }
	END {
		printf "{\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"max_ms\":%.3f}\n",
		    us[int((NR + 1) / 2)] / 1000,
		    us[int((NR - 1) * 0.99) + 1] / 1000, us[NR] / 1000
	}'
}

# postgres_measure CLIENTS SECONDS
postgres_measure() {
	local out threads=2

	[ "$1" -ge 2 ] || threads=1
	as_postgres sh -c 'rm -f latency.*'
	out=$(as_postgres timeout 300 "$pg_bin/pgbench" -n -h "$pg" \
		-U postgres -M prepared -f "$run/append.sql" \
		-D body="$(<"$dir/pg-body")" -c "$1" -j "$threads" -T "$2" \
		-l --log-prefix=latency postgres 2>&1) || die "pgbench: $out"
	cat "$pg"/latency.* | cut -d ' ' -f 3 | postgres_percentiles |
		jq -c --argjson clients "$1" --argjson rate \
			"$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' <<<"$out")" \
			'{clients: $clients, rate: $rate} + .'
}
