// What front and worker give up when they start: they serve all the same, write
// nowhere else, and say clearly what is missing when somebody moves a place.
import assert from "node:assert/strict";
import { spawn, execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { auditorKey } from "./support/auditor.mjs";
import { close, paths, send } from "./support/client.mjs";
import { assertProblem } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { buildFolder } from "./support/places.mjs";
import { Service, until } from "./support/service.mjs";
import { Token } from "./support/token.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

// Everything of a test is below /tmp, where the front may write. Not so here.
const elsewhere = ["/var/lib", homedir(), buildFolder].filter((at) =>
	!/^\/(tmp|var\/tmp|dev)(\/|$)/.test(at));
function makeOutside() {
	for (const at of [...elsewhere, tmpdir()])
		try {
			return mkdtempSync(join(at, "probity-confine-"));
		} catch { /* not ours to write to */ }
}

let service, w, home, outside;
const create = () => send(service, "POST", paths.create,
	{ key: w.key, body: actionBody(w, { amount: "0.01" }) });
const statusOf = (pid) => Object.fromEntries(
	readFileSync(`/proc/${pid}/status`, "utf8").split("\n")
		.filter((line) => /^(NoNewPrivs|Seccomp):/.test(line))
		.map((line) => line.split(/:\s*/)));
const statusOfProgram = (name) => statusOf(service.children.get(name).pid);
// What a program says it has given up since it started.
const told = (name) => until(`${name} has told what it gave up`, () => {
	const text = readFileSync(join(service.dir, "log", `${name}.log`), "utf8")
		.split("stopping on signal").at(-1);
	const found = /given up for good: (.*?); not to be given up/.exec(text);
	return found && { has: found[1].split(", ") };
});

const mayNotWriteOutside = async () => !outside.startsWith(tmpdir()) &&
	(await told("fcgi")).has.includes("writing elsewhere");

async function restart(settings = {}) {
	await service.end("fcgi");
	Object.assign(service.settings, settings);
	await service.startFront();
}

// probity.fcgi as a web server runs it for one request.
const cgi = (env = {}) => ({ ...service.environment, GATEWAY_INTERFACE: "CGI/1.1",
	REMOTE_ADDR: "127.0.0.1", REQUEST_METHOD: "POST", REQUEST_URI: paths.create,
	CONTENT_TYPE: "application/json", HTTP_AUTHORIZATION: `Bearer ${w.key}`, ...env });
function createByCgi(env = {}) {
	const input = JSON.stringify(actionBody(w, { amount: "0.01" }));
	const r = service.run(join(service.bin, "probity.fcgi"), [],
		{ input, env: cgi({ CONTENT_LENGTH: String(input.length), ...env }) });
	return { ...r, status: Number(/^Status: (\d+)/.exec(r.stdout)?.[1]) };
}

before(async () => {
	service = new Service({ env: { PROBITY_LOG_LEVEL: "info" } });
	for (const folder of [home = makeOutside(), outside = makeOutside()])
		service.own(folder);
	// Made by the first command, when the front runs already.
	service.state = join(home, "new/state");
	service.keys = join(home, "new/keys");
	await service.start();
	w = provision(service, "acme");
});
after(async () => {
	await close();
	for (const folder of [home, outside])
		rmSync(folder, { recursive: true, force: true });
});

test("front and worker have given up what they do not need", async () => {
	for (const name of ["fcgi", "worker"]) {
		const { has } = await told(name);
		const { NoNewPrivs, Seccomp } = statusOfProgram(name);
		assert.equal(NoNewPrivs, "1");
		if (has.includes("system calls that rule a machine"))
			assert.equal(Seccomp, "2");
		assert.ok(has.includes("new privileges"));
	}
	assert.ok(!(await told("worker")).has.includes("TCP"));
});

test("requests are served, and git clones", async () => {
	const r = await create();
	assert.equal(r.status, 201, r.text);
	const from = service.baseUrl.replace("//", `//a:${auditorKey(service, "acme")}@`);
	const clone = service.run("git", ["clone", "-q", "--mirror",
		`${from}/ledger/acme/sandbox/ledger.git`,
		join(service.dir, "home/clone.git")], { env: { GIT_TERMINAL_PROMPT: "0" } });
	assert.equal(clone.code, 0, clone.stderr + service.log("fcgi"));
});

test("a log that moves to where the front may not write", async (t) => {
	if (!await mayNotWriteOutside())
		return t.skip("no Landlock here, or no folder outside /tmp");
	const near = join(service.dir, "log/access.log");
	const far = join(outside, "access.log");
	const configure = (path) => {
		service.write(service.confFile, `access_log = ${path}\n`);
		service.children.get("fcgi").kill("SIGHUP");
	};

	configure(near);
	await until("the log is opened", async () => {
		await create();
		return existsSync(near) && readFileSync(near, "utf8").includes('"POST"');
	});
	configure(far);
	await until("the fault is in the log", () => service.log("fcgi")
		.includes(`access_log: cannot open ${far}`));
	assert.match(service.log("fcgi"), /name this one in writable, and restart/);
	assert.ok(!existsSync(far));
	const r = await create();
	assert.equal(r.status, 201, r.text);
	await until("lines go where they went before", () =>
		readFileSync(near, "utf8").includes(r.headers["x-request-id"]));

	// As said.
	await restart({ PROBITY_WRITABLE: `${service.dir}/log,${outside}` });
	const next = await create();
	await until("the new log is written", () => existsSync(far) &&
		readFileSync(far, "utf8").includes(next.headers["x-request-id"]));
	await restart({ PROBITY_WRITABLE: join(service.dir, "log") });
	// It is opened before anything is given up, and its folder is known.
	assert.equal((await create()).status, 201);
	service.write(service.confFile, "");
});

test("a ledger on another disk has to be named", async (t) => {
	if (!await mayNotWriteOutside())
		return t.skip("no Landlock here, or no folder outside /tmp");
	const here = join(service.state, "ledgers/acme");
	const there = join(outside, "acme");
	const named = { PROBITY_WRITABLE: `${service.dir}/log,${outside}` };

	await service.stop();
	// It writes events of its own.
	service.wantsWorker = false;
	execFileSync("cp", ["-a", here, there]);
	rmSync(here, { recursive: true });
	symlinkSync(there, here);
	await service.start();
	const size = service.ctl("acme", "ledger status").size;
	assertProblem(await create(), 503, "unavailable");
	assert.match(service.log("fcgi"), /Permission denied/);
	assert.equal((await send(service, "GET", "/healthz")).status, 200);
	const byCgi = createByCgi();
	assert.equal(byCgi.status, 503, byCgi.stdout);
	assert.equal(service.ctl("acme", "ledger status").size, size);

	const good = createByCgi(named);
	assert.equal(good.status, 201, good.stdout + good.stderr);
	assert.equal(createByCgi({ PROBITY_CONFINE: "no" }).status, 201);
	await restart(named);
	assert.equal((await create()).status, 201);
	assert.equal(service.ctl("acme", "ledger status").size, size + 3);
});

test("plain CGI gives up all but system calls", async () => {
	const child = spawn(join(service.bin, "probity.fcgi"), [], {
		...service.as("operator"), cwd: service.dir,
		env: cgi({ CONTENT_LENGTH: "10" }), stdio: ["pipe", "pipe", "inherit"] });
	// It waits for a body, and has begun by then.
	await until("it has given up", () =>
		statusOf(child.pid).NoNewPrivs === "1");
	assert.equal(statusOf(child.pid).Seccomp, statusOf("self").Seccomp);
	child.stdin.end("{}        ");
	let text = "";
	for await (const part of child.stdout) text += part;
	assert.match(text, /^Status: 422 /);
});

test("confine = no leaves them as they were started", async () => {
	await service.stop();
	service.settings.PROBITY_CONFINE = "no";
	service.wantsWorker = true;
	await service.start();
	assert.equal((await create()).status, 201);
	for (const name of ["fcgi", "worker"])
		assert.deepEqual(statusOfProgram(name), statusOf("self"));
	delete service.settings.PROBITY_CONFINE;
});

test("a front with a key on a token gives up less", async () => {
	await service.stop();
	service.wantsWorker = false;
	const token = new Token(service);
	await service.start();
	const { has } = await told("fcgi");
	token.makeKey("ledger", "01");
	token.keyFile("moved", "signing.key", "ledger");
	const moved = provision(service, "moved");
	const append = () => send(service, "POST", paths.create,
		{ key: moved.key, body: actionBody(moved, { amount: "0.01" }) });
	// SoftHSM2 writes nothing to sign.
	const r = await append();
	assert.equal(r.status, 201, r.text + service.log("fcgi"));

	// For modules that do, the log says what helps.
	token.takeAway();
	assertProblem(await append(), 503, "unavailable");
	if (has.includes("writing elsewhere"))
		assert.match(service.log("fcgi"),
			/no token is there[^]*restart this process once/);
	const other = await create();
	assert.equal(other.status, 201, other.text);
	token.putBack();

	const file = join(service.dir, "log/fcgi.log");
	const { length } = readFileSync(file);
	const since = () => readFileSync(file).subarray(length).toString();
	await restart();
	assert.deepEqual((await told("fcgi")).has, has.filter((part) =>
		part !== "writing elsewhere" && part !== "TCP"));
	const next = await append();
	assert.equal(next.status, 201, next.text + service.log("fcgi"));
	token.takeAway();
	assertProblem(await append(), 503, "unavailable");
	assert.doesNotMatch(since(), /restart this/);
	// pkcs11.test.mjs verifies such ledgers.
	await service.stop();
	rmSync(join(service.state, "ledgers/moved"), { recursive: true });
});

test("all is verified, and rebuilt the same", () => finish(service));
