// What an operator sees and changes while the service runs: health, metrics,
// the access log, the configuration.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync }
	from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { close, paths, send } from "./support/client.mjs";
import { finish } from "./support/evidence.mjs";
import { top } from "./support/places.mjs";
import { Service, until } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const nobody = "127.0.0.1:9";
let service, w, accessLog;
const page = (path, headers = {}) => send(service, "GET", path, { headers });
const worker = () => {
	const r = service.run(join(service.bin, "probity-worker"), ["--once"]);
	assert.equal(r.code, 0, r.stderr);
};

// Puts settings in force, or tries to.
function configure(text, name = "fcgi") {
	service.write(service.confFile, text);
	service.children.get(name).kill("SIGHUP");
}

const settings = (more = "") => `access_log = ${accessLog}\n${more}`;
const lines = (file) => (existsSync(file) ? readFileSync(file, "utf8") : "")
	.split("\n").slice(0, -1).map((line) => JSON.parse(line));
// Told after the reply, so it may come a moment later than that.
const lineOf = (reply, file = accessLog) => until("the request is in the log",
	() => lines(file).find((l) => l.request === reply.headers["x-request-id"]));

function parse(text, format) {
	return JSON.parse(execFileSync("/usr/bin/python3",
		[join(top, "tests/acceptance/support/metrics.py"), format],
		{ input: text, encoding: "utf8" }));
}
async function metrics(format = "text") {
	const reply = await page("/metrics", format === "text" ? {}
		: { Accept: "application/openmetrics-text; version=1.0.0" });
	assert.equal(reply.status, 200, reply.text);
	return parse(reply.text, format);
}
const samples = (families) => families.flatMap((f) => f.samples);
function value(families, name, labels = {}) {
	const found = samples(families).filter((s) => s.name === name &&
		Object.entries(labels).every(([k, v]) => s.labels[k] === v));
	assert.ok(found.length <= 1, `${name}: ${JSON.stringify(found)}`);
	return found[0]?.value ?? 0;
}
const requests = (families, operation, status) => value(families,
	"probity_requests_total", { operation, status: String(status) });

before(async () => {
	service = new Service({ build: "debug", worker: false,
		// The file is written anew here, and clients are many.
		env: { PROBITY_OUTBOUND_LOOPBACK: nobody,
			PROBITY_LIMIT_REQUESTS_PER_SECOND: "1000000",
			PROBITY_LIMIT_BURST: "1000000" } });
	accessLog = join(service.dir, "log/access.log");
	await service.start();
	w = provision(service, "acme");
	configure(settings());
	await until("the access log is opened", async () => {
		await page("/healthz");
		return lines(accessLog).length > 0;
	});
});
after(close);

test("the process lives, and says whether it can serve", async () => {
	const alive = await page("/healthz");
	assert.equal(alive.status, 200);
	assert.equal(alive.text, "ok\n");
	assert.equal(alive.headers["cache-control"], "no-store");
	assert.equal((await send(service, "HEAD", "/healthz")).status, 200);
	assert.equal((await send(service, "POST", "/healthz")).status, 405);

	const ready = await page("/readyz");
	assert.equal(ready.status, 200, ready.text);
	assert.equal(ready.json.ready, true);
	assert.deepEqual(ready.json.checks.map((c) => [c.name, c.ok, c.detail]),
		["state", "ledgers", "space", "clock"].map((name) => [name, true, "ok"]));
});

test("it is not ready while its state is away, and says no name", async () => {
	const aside = `${service.state}.aside`;
	renameSync(service.state, aside);
	let reply;
	await until("it is not ready", async () => {
		reply = await page("/readyz");
		return reply.status === 503;
	});
	renameSync(aside, service.state);
	assert.equal(reply.json.ready, false);
	assert.equal(reply.json.checks.find((c) => c.name === "state").ok, false);
	assert.ok(!/acme|sandbox|\/tmp|[0-9]{4}/.test(reply.text), reply.text);
	assert.equal((await page("/healthz")).status, 200);
	await until("it is ready", async () =>
		(await page("/readyz")).status === 200);
});

test("requests are counted, by operation and status", async () => {
	const first = await metrics();
	for (let i = 0; i < 3; i++) await send(service, "GET", paths.workspace, w);
	await send(service, "GET", paths.workspace);
	await page("/nowhere");
	const made = await send(service, "POST", paths.create,
		{ key: w.key, body: actionBody(w) });
	assert.equal(made.status, 201, made.text);
	// Without a web server's process that stays: it counts all the same.
	const cgi = service.run(join(service.bin, "probity.fcgi"), [], { env: {
		GATEWAY_INTERFACE: "CGI/1.1", REQUEST_METHOD: "GET",
		REQUEST_URI: "/nowhere", REMOTE_ADDR: "127.0.0.1" } });
	assert.match(cgi.stdout, /^Status: 404 /);

	// A request is counted when its reply is out.
	const wanted = { "none 404": 2, "workspace.show 200": 3,
		"workspace.show 401": 1, "action.create_credit 201": 1 };
	let last;
	const more = (row) => requests(last, ...row.split(" ")) -
		requests(first, ...row.split(" "));
	const grown = (name, labels) =>
		value(last, name, labels) - value(first, name, labels);
	const timed = () => grown("probity_request_duration_seconds_count",
		{ operation: "workspace.show" });
	await until("all are counted", async () => {
		last = await metrics();
		return timed() >= 4 &&
			Object.keys(wanted).every((row) => more(row) >= wanted[row]);
	});
	for (const row of Object.keys(wanted)) assert.equal(more(row), wanted[row], row);
	assert.equal(timed(), 4);
	assert.ok(grown("probity_request_duration_seconds_sum",
		{ operation: "workspace.show" }) > 0);
	assert.equal(grown("probity_batch_events_count"), 1);
	assert.equal(grown("probity_batch_events_sum"), 1);
	assert.equal(grown("probity_journal_sync_seconds_count"), 1);
	assert.equal(value(last, "probity_build_info", { version: "2.0.0" }), 1);
	assert.ok(value(last, "probity_uptime_seconds") > 0);
	assert.ok(Math.abs(value(last, "process_start_time_seconds") +
		value(last, "probity_uptime_seconds") - Date.now() / 1000) < 60);
	assert.ok(value(last, "probity_open_ledgers") >= 1);
	assert.ok(value(last, "probity_free_bytes") > 0);
});

test("what the worker measures is there for each ledger", async () => {
	worker();
	const all = await metrics();
	const place = { workspace: "acme", environment: "sandbox" };
	const status = service.ctl("acme", "ledger status");
	assert.equal(value(all, "probity_ledger_events", place), status.size);
	assert.equal(value(all, "probity_jobs_open", place), 0);
	assert.equal(value(all, "probity_webhook_deliveries_queued", place), 0);
	assert.equal(value(all, "probity_webhook_delivery_lag_seconds", place), 0);
	assert.equal(value(all, "probity_jobs_oldest_seconds", place), 0);
	assert.equal(value(all, "probity_ledger_verified", place), 1);
	assert.equal(value(all, "probity_ledger_damaged_objects", place), 0);
	const verified = Date.parse(status.last_verification.finished_at) / 1000;
	assert.ok(Math.abs(value(all,
		"probity_ledger_verified_timestamp_seconds", place) - verified) < 0.01);
	assert.ok(value(all, "probity_worker_measured_timestamp_seconds") >
		verified);
});

test("a delivery that nobody takes shows as lag", async () => {
	const { uid } = service.ctl("acme", "application create", { name: "hooks",
		responsible: "a@example.com", entitlements: "financial-actions,agents",
		scopes: "actions:create,agent:execution:webhooks" });
	const { key } = service.ctl("acme", "credential issue", { application: uid });
	const hook = await send(service, "POST", "/api/v2/agent-execution/webhooks",
		{ key, body: { url: `https://${nobody}/` } });
	assert.equal(hook.status, 201, hook.text);
	const made = await send(service, "POST", paths.create,
		{ key, body: actionBody(w) });
	assert.equal(made.status, 201, made.text);
	worker();
	const all = await metrics();
	const place = { workspace: "acme", environment: "sandbox" };
	assert.equal(value(all, "probity_webhook_deliveries_queued", place), 1);
	assert.equal(value(all, "probity_webhook_dead_letters", place), 0);
	const lag = value(all, "probity_webhook_delivery_lag_seconds", place);
	const age = (Date.now() - Date.parse(made.json.created_at)) / 1000;
	assert.ok(lag > 0 && lag <= age + 1, `${lag} of ${age}`);
});

test("both text formats are what the reference parsers read", async () => {
	const text = await metrics(), open = await metrics("openmetrics");
	assert.deepEqual(open.map((f) => f.name).sort(),
		text.map((f) => f.name).sort());
	for (const family of text) assert.notEqual(family.help, "");
	const types = Object.fromEntries(open.map((f) => [f.name, f.type]));
	assert.equal(types.probity_requests, "counter");
	assert.equal(types.probity_batch_events, "histogram");
	assert.equal(types.probity_ledger_events, "gauge");
});

test("metrics are for whom the configuration names", async () => {
	for (const name of ["X-Forwarded-For", "Forwarded", "Via"]) {
		const reply = await page("/metrics", { [name]: "192.0.2.7" });
		assert.equal(reply.status, 404, name);
	}
	const missing = await page("/metricz");
	configure(settings("metrics_allow = 192.0.2.0/24\n"));
	const refused = await until("the reload is in force", async () => {
		const reply = await page("/metrics");
		return reply.status !== 200 && reply;
	});
	assert.equal(refused.status, 404);
	const strip = ({ json: { instance, ...rest } }) => rest;
	assert.deepEqual(strip(refused), strip(missing));
	configure(settings("metrics_allow = 10.0.0.0/8, 127.0.0.0/8\n"));
	await until("the reload is in force", async () =>
		(await page("/metrics")).status === 200);
	configure(settings());
});

test("a request is one line of the access log", async () => {
	const reply = await send(service, "POST", `${paths.create}?a=b`, {
		key: w.key, body: actionBody(w), headers: {
			"X-Request-Id": "theirs-1", "User-Agent": 'a "quoted" \\ agent',
			traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		} });
	assert.equal(reply.status, 422, reply.text);
	const refused = await lineOf(reply);
	assert.equal(refused.query, "a");
	assert.equal(refused.first_seq, undefined);

	const made = await send(service, "POST", paths.create,
		{ key: w.key, body: actionBody(w, { purpose: "Nobody logs this" }),
			headers: { "User-Agent": 'a "quoted" \\ agent',
				"X-Request-Id": "theirs-1" } });
	assert.equal(made.status, 201, made.text);
	const line = await lineOf(made);
	assert.ok(Math.abs(Date.parse(line.at) - Date.now()) < 60000);
	assert.equal(line.method, "POST");
	assert.equal(line.route, paths.create);
	assert.equal(line.path, paths.create);
	assert.equal(line.status, 201);
	assert.ok(line.us > 0);
	assert.equal(line.bytes_in, JSON.stringify(actionBody(w,
		{ purpose: "Nobody logs this" })).length);
	assert.ok(line.bytes_out > made.bytes.length);
	assert.equal(line.workspace, "acme");
	assert.equal(line.environment, "sandbox");
	assert.equal(line.application, w.application.uid);
	assert.ok(w.key.startsWith(line.credential));
	assert.equal(line.last_seq, made.json.evidence.seq);
	assert.equal(line.first_seq, made.json.evidence.seq);
	assert.equal(line.remote, "127.0.0.1");
	assert.equal(line.theirs, "theirs-1");
	assert.equal(line.agent, 'a "quoted" \\ agent');
	assert.match(refused.traceparent, /^00-0af7/);
	assert.ok(!readFileSync(accessLog, "utf8").includes("Nobody logs this"));
});

test("what was sent to deceive or by mistake stays one line, without the key",
	async () => {
		const before = lines(accessLog).length;
		const replies = [
			await page(`/api/v2/${w.key}/x`),
			await page(`/api/v2/workspace?${w.key}=1&key=${w.key}`),
			await page("/x", { "User-Agent": `agent ${w.key}`,
				"X-Request-Id": w.key, traceparent: w.key }),
			await page("/x", { "User-Agent": "\x80\xff\tevil\" ,\"status\":200" }),
			await page(`/${"y".repeat(3000)}`),
		];
		const found = [];
		for (const reply of replies) found.push(await lineOf(reply));
		assert.equal(lines(accessLog).length, before + replies.length);
		assert.equal(found[0].path, "/api/v2/*/x");
		assert.equal(found[1].query, "*&key");
		assert.equal(found[2].agent, "agent *");
		assert.equal(found[3].status, 404);
		assert.ok(found[4].path.length <= 1024);
		const secret = w.key.slice(w.credential.public_id?.length ?? 24);
		assert.ok(!readFileSync(accessLog, "utf8").includes(secret));
	});

test("a log that was moved aside is opened again", async () => {
	const old = `${accessLog}.1`;
	renameSync(accessLog, old);
	const last = await page("/healthz");
	await lineOf(last, old);
	service.children.get("fcgi").kill("SIGHUP");
	// The file is made a moment before lines go there.
	const next = await until("lines are in the new file", async () => {
		const reply = await page("/healthz");
		const mine = (file) => lines(file).some((l) =>
			l.request === reply.headers["x-request-id"]);
		await until("it is in one of them", () => mine(accessLog) || mine(old));
		return mine(accessLog) && reply;
	});
	assert.equal(lines(old).filter((l) =>
		l.request === next.headers["x-request-id"]).length, 0);
});

test("a faulty configuration changes nothing", async () => {
	const good = settings("max_body = 2000\n");
	configure(good);
	const large = { key: w.key, body: actionBody(w, { purpose: "x".repeat(3000) }) };
	await until("the reload is in force", async () =>
		(await send(service, "POST", paths.create, large)).status === 413);
	configure(`${good}threads = 0\nlog_levle = info\n`);
	await until("the faults are in the log", () =>
		service.log("fcgi").includes("log_levle"));
	const log = service.log("fcgi");
	assert.ok(log.includes(`${service.confFile}:3:11: threads: must be`), log);
	assert.ok(log.includes(`${service.confFile}:4:1: log_levle: there is no ` +
		"such setting; the nearest is log_level"), log);
	assert.equal((await send(service, "POST", paths.create, large)).status, 413);
	// What waits for a start is told, and nothing else.
	configure(`${settings()}threads = 3\n`);
	await until("it is in the log", () =>
		service.log("fcgi").includes("threads was changed"));
	await until("the reload is in force", async () =>
		(await send(service, "POST", paths.create, large)).status === 422);
	configure(settings());
});

test("no request is lost over reloads", async () => {
	let stop = false, served = 0;
	const write = { key: w.key, body: actionBody(w, { amount: "0.01" }) };
	const clients = Array.from({ length: 8 }, async (_, i) => {
		for (let n = 0; !stop; n++) {
			const writes = i === 0 && n % 40 === 0;
			const reply = writes
				? await send(service, "POST", paths.create, write)
				: await send(service, "GET", paths.workspace, w);
			assert.equal(reply.status, writes ? 201 : 200, reply.text);
			served++;
		}
	});
	for (let i = 0; i < 20; i++) {
		configure(settings(`max_body = ${100000 + i}\n${i % 3 ? "" : "bad\n"}`));
		const enough = served + 8;
		await until("requests go on", () => served > enough);
	}
	stop = true;
	await Promise.all(clients);
	configure(settings());
});

// Nobody writes to the pipe: the job that reads what lies in the folder waits.
function blockedFolder() {
	const folder = join(service.dir, "checkpoints");
	const pipe = join(folder, "acme/sandbox", `${"1".padStart(20, "0")}.checkpoint`);
	const made = service.run("/bin/sh", ["-c", `mkdir -p "$(dirname "$0")" &&
		mkfifo -m 666 "$0"`, pipe]);
	assert.equal(made.code, 0, made.stderr);
	return { folder, pipe };
}

test("the worker takes a new configuration too, while a job is done", async () => {
	const { folder, pipe } = blockedFolder();
	service.launch("worker", [join(service.bin, "probity-worker")],
		{ PROBITY_LOG_LEVEL: "info", PROBITY_CHECKPOINT_FOLDER: folder });
	await until("the job is being done", () => service.alive("worker") &&
		service.ctl("acme", "job list", { kind: "ledger.export_checkpoint",
			status: "claimed" }).data.length === 1, 60);
	configure("verify_hours = never\n", "worker");
	await until("the fault is in the log", () => service.alive("worker") &&
		service.log("worker").includes("verify_hours"), 60);
	assert.ok(service.log("worker").includes(
		`${service.confFile}:1:16: verify_hours: must be an integer`));
	service.write(service.confFile, settings());
	writeFileSync(pipe, "x");
	await until("the job has ended", () => service.ctl("acme", "job list",
		{ kind: "ledger.export_checkpoint", status: "claimed" }).data.length === 0);
	const [job] = service.ctl("acme", "job list", { status: "completed" }).data;
	const shown = service.run(join(service.bin, "probityctl"),
		["job", "show", "--workspace", "acme", "--uid", job.uid]).stdout;
	assert.match(shown, /^attempts +attempt 1, worker .+ outcome completed/m);
	assert.deepEqual(await service.end("worker"), { code: 0, signal: null });
});

test("probityctl config says all that is wrong, and where settings come from",
	() => {
		const ctl = (...args) => service.run(join(service.bin, "probityctl"),
			["config", ...args]);
		service.write(service.confFile, "git = /usr/bin/git\nthreads = 5\n");
		assert.equal(ctl("check").code, 0);
		const all = JSON.parse(ctl("show", "--json").stdout);
		const of = (name) => all.find((s) => s.name === name);
		assert.deepEqual(of("git"), { name: "git", value: "/usr/bin/git",
			from: `${service.confFile}:1:7`, reload: "yes" });
		assert.deepEqual(of("threads"), { name: "threads", value: 5,
			from: `${service.confFile}:2:11`, reload: "restart" });
		assert.equal(of("log_level").from, "PROBITY_LOG_LEVEL");
		assert.equal(of("max_body").from, "default");
		assert.match(ctl("show").stdout, /^threads +5 +\S+:2:11, reload: restart$/m);
		assert.match(ctl("show").stdout, /^cors_origins +default, reload/m);

		const bad = join(service.dir, "bad.conf");
		service.write(bad, "thread = 5\nmax_body = 1\nmax_body = 2\n");
		const r = ctl("check", "--file", bad);
		assert.equal(r.code, 1);
		assert.deepEqual(r.stderr.split("\n").slice(0, 3).map((l) =>
			l.slice(bad.length)), [":3:1: max_body: is set on line 2 already",
			":1:1: thread: there is no such setting; the nearest is threads",
			":2:12: max_body: must be at least 1024"]);
		for (const program of ["probity.fcgi", "probity-worker", "probityctl"]) {
			const started = service.run(join(service.bin, program),
				program === "probityctl" ? ["workspace", "list"] : [],
				{ env: { PROBITY_CONFIG: bad } });
			assert.notEqual(started.code, 0);
			for (const place of [":3:1:", ":1:1:", ":2:12:"])
				assert.ok(started.stderr.includes(bad + place),
					`${program}: ${started.stderr}`);
		}
		service.write(service.confFile, settings());
	});

test("probityctl config check looks for what settings name, and counts faults",
	() => {
		const ctl = (args, env = {}) => service.run(
			join(service.bin, "probityctl"), args, { env });
		const bad = join(service.dir, "bad.conf");
		const faults = () => {
			const r = ctl(["config", "check", "--json", "--file", bad]);
			assert.equal(r.code, 1, r.stderr);
			return JSON.parse(r.stderr).errors;
		};
		service.write(bad, "listen = bogus\nwords\nwebhook_seconds = 10\n" +
			"webhook_lease_seconds = 1\nlimit_burst = 10 # x\n");
		assert.deepEqual(faults().map((f) => [f.line, f.column, f.name, f.code]),
			[[2, 1, undefined, "malformed"], [1, 10, "listen", "value"],
				[5, 15, "limit_burst", "value"],
				[4, 25, "webhook_lease_seconds", "value"]]);
		service.write(bad, "outbound_ca = /nowhere/ca.pem\n" +
			"access_log = /nowhere/log\ngit = /nowhere/git\nthreads = 0\n");
		assert.deepEqual(faults().map((f) => [f.from, f.line, f.column, f.name]),
			[[bad, 1, 15, "outbound_ca"], [bad, 2, 14, "access_log"],
				[bad, 3, 7, "git"], [bad, 4, 11, "threads"]]);
		const none = join(service.dir, "none");
		service.write(bad, "threads = 5\n");
		const env = { PROBITY_STATE: none };
		const checked = ctl(["config", "check", "--file", bad], env);
		assert.equal(checked.code, 0);
		assert.ok(checked.stderr.startsWith(`state: ${none} is not there`));
		const list = ctl(["workspace", "list", "--json"], env);
		assert.equal(list.code, 0);
		assert.deepEqual(JSON.parse(list.stdout).data, []);
		assert.ok(list.stderr.includes(`no workspace yet in ${none}`));
		const worker = service.run(join(service.bin, "probity-worker"),
			["--once"], { env });
		assert.equal(worker.code, 0);
		assert.ok(worker.stderr.includes(`state: ${none} was not there`));
	});

test("what a command cannot do, it says as to who gave it", () => {
	const ctl = (args, env = {}) => service.run(join(service.bin, "probityctl"),
		args, { env });
	const key = join(service.dir, "open.key");
	service.write(key, "no key\n");
	chmodSync(key, 0o644);
	for (const [args, env] of [[["key", "check", "--file", key]],
		[["key", "check", "--file", join(service.dir, "no.key")]],
		[["workspace", "list"], { PROBITY_CONFIG: service.dir }],
		[["workspace", "list"], { PROBITY_CONFIG: "/nowhere/probity.conf" }],
		[["workspace", "list"], { PROBITY_THREADS: "none" }]]) {
		const r = ctl(args, env);
		assert.notEqual(r.code, 0);
		assert.doesNotMatch(r.stderr,
			/Retry-After|request id|other workspaces|member/);
		assert.match(r.stderr, /Mend|Check the path/);
	}
});

test("the ledger verifies", () => finish(service, { long: true }));
