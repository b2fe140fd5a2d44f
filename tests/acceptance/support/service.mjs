// A whole service over a state of its own: web server, probity.fcgi, worker.
// The web server's configuration is the shipped one with other places in it.
import { spawn, spawnSync, execFileSync } from "node:child_process";
import { chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, openSync,
	readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { buildFolder, isRoot, top, user } from "./places.mjs";

const commands = {
	lighttpd: (conf) => ["/usr/sbin/lighttpd", "-D", "-f", conf],
	nginx: (conf) => ["/usr/sbin/nginx", "-c", conf, "-g", "daemon off;"],
	apache: (conf) => ["/usr/sbin/apache2", "-D", "FOREGROUND", "-f", conf],
};
commands["apache-fcgid"] = commands.apache;
commands["apache-cgi"] = commands.apache;
export const serverKinds = Object.keys(commands);

// Tests send floods; those of the limits set their own.
const limits = "limit_requests_per_second = 1000000\n" +
	"limit_burst = 1000000\nlimit_monthly = 1000000000000\n";

// The kinds of server that start probity.fcgi by themselves.
const startsProgram = (kind) => kind === "apache-fcgid" || kind === "apache-cgi";

// Below those that connections go out from, on this machine by the hundreds:
// one of these might take a port before the web server does.
const outgoing = Number(readFileSync("/proc/sys/net/ipv4/ip_local_port_range",
	"utf8").split(/\s+/)[0]);
const [firstPort, ports] = outgoing > 12000 ? [outgoing - 10000, 10000] : [0, 1];

async function freePort() {
	for (;;) {
		const server = createServer();
		const wanted = firstPort + Math.floor(Math.random() * ports);
		const port = await new Promise((done) => {
			server.once("error", () => done(0));
			server.listen(wanted, "127.0.0.1", () => done(server.address().port));
		});
		await new Promise((done) => server.close(done));
		if (port) return port;
	}
}

const accepts = (target) => new Promise((done) => {
	const socket = connect(target);
	socket.once("connect", () => { socket.destroy(); done(true); });
	socket.once("error", () => done(false));
});

export async function until(what, condition, seconds = 60) {
	const end = Date.now() + seconds * 1000;
	while (Date.now() < end) {
		const value = await condition();
		if (value) return value;
		await sleep(20);
	}
	throw new Error(`not in ${seconds} s: ${what}`);
}

// A test that fails half-way leaves nothing behind, and node need not wait.
const running = new Set();
process.on("exit", () => {
	for (const service of running) {
		for (const child of service.children.values()) child.kill("SIGKILL");
		service.remove();
	}
});

export class Service {
	// kind: a server of `serverKinds`. build: release, or debug with its
	// sanitizers. env: further PROBITY_* settings.
	constructor({ kind = "lighttpd", build = "release", env = {},
		worker = true } = {}) {
		Object.assign(this, { kind, build, wantsWorker: worker });
		this.dir = mkdtempSync(join(tmpdir(), "probity-test-"));
		this.state = join(this.dir, "state");
		this.keys = join(this.dir, "keys");
		this.bin = join(this.dir, "bin");
		for (const name of ["state", "keys", "run", "log", "bin", "home"]) {
			mkdirSync(join(this.dir, name));
			this.own(join(this.dir, name));
		}
		this.own(this.dir);
		this.copyPrograms();
		this.socket = join(this.dir, "run/fcgi.sock");
		this.children = new Map();
		running.add(this);
		this.settings = env;
		// A file in place of /etc/probity: settings reach a program that a
		// web server starts with an environment of its own.
		this.confFile = join(this.dir, "probity.conf");
	}

	// As whom a program runs; users.test.mjs gives each a user of its own.
	as(name) {
		return this.users?.[name] ?? user;
	}

	// The checkout may be closed to www-data.
	copyPrograms() {
		for (const name of ["probity.fcgi", "probityctl", "probity-worker",
			"probity-audit"])
			cpSync(join(buildFolder, this.build, name), join(this.bin, name));
	}

	own(path) {
		if (isRoot) chownSync(path, user.uid, user.gid);
	}

	get environment() {
		const sanitizer = "abort_on_error=0:detect_leaks=1:" +
			`log_path=${this.dir}/log/sanitizer`;
		return {
			PATH: process.env.PATH, HOME: join(this.dir, "home"), LANG: "C.UTF-8",
			PROBITY_STATE: this.state, PROBITY_KEYS: this.keys,
			PROBITY_BASE_URL: this.baseUrl, PROBITY_CONFIG: this.confFile,
			PROBITY_LOG_LEVEL: "warn",
			// The sanitizers' reports are there.
			PROBITY_WRITABLE: join(this.dir, "log"),
			ASAN_OPTIONS: sanitizer, UBSAN_OPTIONS: sanitizer + ":print_stacktrace=1",
			GIT_CONFIG_NOSYSTEM: "1", ...this.settings,
		};
	}

	async start() {
		this.port ??= await freePort();
		this.baseUrl = `http://127.0.0.1:${this.port}`;
		writeFileSync(this.confFile, limits);
		if (!startsProgram(this.kind)) await this.startFront();
		if (this.wantsWorker) this.startWorker();
		await this.startServer();
		return this;
	}

	async startFront() {
		this.launch("fcgi", [join(this.bin, "probity.fcgi")],
			{ PROBITY_LISTEN: `unix:${this.socket}` });
		await until("probity.fcgi listens", () => this.alive("fcgi") &&
			accepts({ path: this.socket }));
		if (this.children.has("server")) await this.settled();
	}

	// A web server that found nobody behind it looks again after a second.
	settled() {
		return until("the web server has found the program", async () => {
			// An error: the connection of the last time, closed while idle.
			const status = await fetch(`${this.baseUrl}/api/v2/workspace`)
				.then(async (r) => (await r.text(), r.status)).catch(() => null);
			return status === 401;
		});
	}

	startWorker() {
		this.launch("worker", [join(this.bin, "probity-worker")]);
	}

	async startServer() {
		const conf = join(this.dir, `${this.kind}.conf`);
		const places = { port: this.port, socket: this.socket,
			libexec: this.bin, state: this.state, keys: this.keys,
			run: join(this.dir, "run"), log: join(this.dir, "log") };
		writeFileSync(conf, execFileSync(join(top, "scripts/render-conf"),
			[join(top, "conf", `${this.kind}.conf`),
				...Object.entries(places).map(([k, v]) => `${k}=${v}`)],
			{ encoding: "utf8" })
			.replace(/^(SetEnv|FcgidInitialEnv) PROBITY_STATE .*$/m,
				`$&\n$1 PROBITY_CONFIG ${this.confFile}`));
		this.launch("server", commands[this.kind](conf));
		await until(`${this.kind} listens`, () => this.alive("server") &&
			accepts({ host: "127.0.0.1", port: this.port }));
	}

	launch(name, [program, ...args], env = {}) {
		const log = openSync(join(this.dir, "log", `${name}.log`), "a");
		const child = spawn(program, args, { ...this.as(name),
			env: { ...this.environment, ...env }, cwd: this.dir,
			stdio: ["ignore", log, log] });
		child.unref();
		child.ended = new Promise((done) =>
			child.once("exit", (code, signal) => done({ code, signal })));
		this.children.set(name, child);
		return child;
	}

	alive(name) {
		const child = this.children.get(name);
		if (child.exitCode === null && child.signalCode === null) return true;
		throw new Error(`${name} ended: ${this.log(name)}`);
	}

	log(name) {
		return ["log", "error.log"].map((end) =>
			join(this.dir, "log", end === "log" ? `${name}.log` : end))
			.filter(existsSync).map((f) => readFileSync(f, "utf8")).join("")
			.slice(-4000);
	}

	async end(name, signal = "SIGTERM") {
		const child = this.children.get(name);
		if (!child) return null;
		this.children.delete(name);
		child.kill(signal);
		const timer = setTimeout(() => child.kill("SIGKILL"), 30000);
		const result = await child.ended;
		clearTimeout(timer);
		return result;
	}

	async stop() {
		for (const name of ["server", "fcgi", "worker"]) await this.end(name);
	}

	async restart() {
		await this.stop();
		await this.start();
	}

	// What AddressSanitizer and UBSan wrote, from any process.
	sanitizerReports() {
		return readdirSync(join(this.dir, "log"))
			.filter((name) => name.startsWith("sanitizer"))
			.map((name) => readFileSync(join(this.dir, "log", name), "utf8"))
			.join("\n");
	}

	remove() {
		rmSync(this.dir, { recursive: true, force: true });
	}

	// Runs a program to its end, as the service's user.
	run(program, args = [], { input, env = {} } = {}) {
		const r = spawnSync(program, args, { ...this.as("operator"), input,
			env: { ...this.environment, ...env }, cwd: this.dir,
			encoding: "utf8", maxBuffer: 1 << 28 });
		if (r.error) throw r.error;
		return { code: r.status, stdout: r.stdout, stderr: r.stderr };
	}

	// probityctl in a workspace; its reply, or an error with what it said.
	ctl(workspace, words, options = {}, environment = "sandbox") {
		const args = [...words.split(" "), "--workspace", workspace,
			"--environment", environment, "--json"];
		for (const [name, value] of Object.entries(options))
			args.push(`--${name}`, String(value));
		const r = this.run(join(this.bin, "probityctl"), args);
		if (r.code !== 0)
			throw Object.assign(new Error(`probityctl ${words}: ${r.stderr}`), r);
		return r.stdout ? JSON.parse(r.stdout) : null;
	}

	// A file of the checkout, where the service's user can read it.
	copy(from, to) {
		cpSync(from, to);
		this.own(to);
	}

	write(path, text) {
		writeFileSync(path, text);
		this.own(path);
	}

	// The demo statement as another one of the same account.
	demoStatement(n) {
		return readFileSync(join(top, "conf/demo/statement.xml"), "utf8")
			.replaceAll("2026-07-01/EUR/128", `2026-07-01/EUR/${1000 + n}`)
			.replaceAll("DEMO-20260701-0001", `DEMO-${n}`)
			.replaceAll("<ElctrncSeqNb>128<", `<ElctrncSeqNb>${1000 + n}<`)
			.replaceAll("20260701000001", `${20260701000100 + n}`);
	}

	ledger(workspace, environment = "sandbox") {
		return join(this.state, "ledgers", workspace, environment, "ledger.git");
	}

	places() {
		const root = join(this.state, "ledgers");
		if (!existsSync(root)) return [];
		return readdirSync(root).flatMap((w) => readdirSync(join(root, w))
			// A closed ledger's folder has a dot in its name.
			.filter((name) => /^[a-z]+$/.test(name))
			.map((environment) => ({ workspace: w, environment })));
	}
}
