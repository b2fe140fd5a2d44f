// What was answered stays: over restarts, ends by signal, kills, and beside
// other people's git commands.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { close, paths, send } from "./support/client.mjs";
import { assertProblem } from "./support/contract.mjs";
import { assertSame, audit, dump, finish, gitVerify, verifyOffline } from
	"./support/evidence.mjs";
import { load } from "./support/load.mjs";
import { Service, until } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const place = { workspace: "acme", environment: "sandbox" };
let service, w;

const write = () => ({ method: "POST", path: paths.create, key: w.key,
	body: actionBody(w, { amount: "0.01" }) });
// Writes while the program ends: the web server answers what finds nobody.
async function writers(clients) {
	let sent = 0, stopped = false;
	const done = load(service, { clients, seconds: 60, more: () => !stopped,
		make: () => (sent++, { ...write(),
			unchecked: "the web server answers for a program that has ended" }) });
	await until("clients are answered", () => sent > 2 * clients);
	return { done, stop: () => { stopped = true; } };
}
const status = () => service.ctl("acme", "ledger status");

async function assertAllThere(replies) {
	for (const { json } of replies) {
		const r = await send(service, "GET", paths.action(json.uid),
			{ key: w.key });
		assert.equal(r.status, 200, `${json.uid} was answered and is gone`);
	}
}

before(async () => {
	service = await new Service().start();
	w = provision(service, "acme");
});
after(close);

test("a small ledger verifies by every way there is", () => {
	const { code, report } = audit(service, place);
	assert.equal(code, 0, JSON.stringify(report));
	assert.equal(report.events ?? report.size, status().size);
	const offline = verifyOffline(service, place);
	assert.equal(offline.code, 0, offline.stdout + offline.stderr);
	assert.match(offline.stdout, /^Good: /);
});

test("a clone holds everything and verifies", () => {
	const clone = join(service.dir, "home/clone.git");
	const r = service.run("git", ["clone", "-q", "--mirror",
		service.ledger("acme"), clone]);
	assert.equal(r.code, 0, r.stderr);
	assert.ok(gitVerify(service, place, clone) > 0);
	assert.equal(audit(service, place, clone).code, 0);
	assert.equal(verifyOffline(service, place, clone).code, 0);
});

test("a clone in which one byte was changed does not", () => {
	const clone = join(service.dir, "home/forged.git");
	const git = (args, input) => {
		const r = service.run("git", args, { input });
		assert.equal(r.code, 0, r.stderr);
		return r.stdout;
	};
	git(["clone", "-q", "--mirror", service.ledger("acme"), clone]);
	const inside = (args, input) => git(["-C", clone, ...args], input);
	const events = inside(["cat-file", "blob", "main:events"]);
	const blob = inside(["hash-object", "-w", "--stdin"],
		events.replace('"v":1', '"v":2')).trim();
	const tree = inside(["mktree"], inside(["ls-tree", "main"])
		.replace(/[0-9a-f]{40}\tevents/, `${blob}\tevents`)).trim();
	const commit = inside(["hash-object", "-w", "-t", "commit", "--stdin"],
		inside(["cat-file", "commit", "main"])
			.replace(/^tree .*/, `tree ${tree}`)).trim();
	inside(["update-ref", "refs/heads/main", commit]);
	assert.equal(audit(service, place, clone).code, 1);
	assert.equal(verifyOffline(service, place, clone).code, 1);
	assert.throws(() => gitVerify(service, place, clone));
});

test("everything is there after a restart", async () => {
	const one = await send(service, "POST", paths.create, write());
	await service.stop();
	const before = dump(service, place);
	service.wantsWorker = false; // it would add events of its own
	await service.start();
	await assertAllThere([one]);
	assertSame(dump(service, place), before);
	service.wantsWorker = true;
	service.startWorker();
});

test("SIGTERM under load ends what has begun, and loses nothing", async () => {
	const running = await writers(64);
	running.stop(); // no new ones; those in hand are answered
	const ended = await service.end("fcgi");
	assert.deepEqual(ended, { code: 0, signal: null });
	const { errors, replies } = await running.done;
	assert.deepEqual(errors, []);
	// What reached the program was answered by it. A request that the web
	// server still held finds nobody: that 503 is the web server's own.
	for (const r of replies.filter((reply) => reply.status !== 201)) {
		assert.equal(r.status, 503, r.text);
		assert.match(r.headers["content-type"], /^text\/html/);
	}
	await service.startFront();
	const answered = replies.filter((r) => r.status === 201);
	assert.ok(answered.length >= 64);
	await assertAllThere(answered.slice(-200));
});

test("the program is replaced again and again under load", async () => {
	const running = await writers(16);
	for (let i = 0; i < 3; i++) {
		await service.end("fcgi");
		await service.startFront();
		await sleep(500);
	}
	running.stop();
	const { statuses, replies } = await running.done;
	// While there is no program the web server says so, with 503.
	assert.ok(Object.keys(statuses).every((s) => ["201", "500", "503"].includes(s)),
		JSON.stringify(statuses));
	await assertAllThere(replies.filter((r) => r.status === 201).slice(-300));
});

test("kill -9 under load: what was answered is there", async () => {
	for (let i = 0; i < 3; i++) {
		const running = await writers(64);
		running.stop();
		await service.end("fcgi", "SIGKILL");
		const { replies } = await running.done;
		await service.startFront();
		const answered = replies.filter((r) => r.status === 201);
		assert.ok(answered.length > 0);
		await assertAllThere(answered.slice(-100));
	}
	const { code, report } = audit(service, place);
	assert.equal(code, 0, JSON.stringify(report));
});

test("kill -9 of the worker", async () => {
	await service.end("worker", "SIGKILL");
	assert.equal((await send(service, "POST", paths.create, write())).status, 201);
	service.startWorker();
});

test("git gc, repack, pack-refs and prune beside 64 writers", async () => {
	const repo = service.ledger("acme");
	const enough = Date.now() + 6000;
	let rounds = 0;
	const going = () => rounds < 6 || Date.now() < enough;
	const running = load(service, { clients: 64, seconds: 60, make: write,
		more: going });
	const commands = [["gc", "--quiet"], ["pack-refs", "--all"],
		["repack", "-q", "-d"], ["gc", "--quiet", "--prune=now"],
		["repack", "-q", "-a", "-d"], ["prune"]];
	const { spawn } = await import("node:child_process");
	const { user } = await import("./support/places.mjs");
	while (going()) {
		const args = ["-C", repo, ...commands[rounds++ % commands.length]];
		await new Promise((end) => spawn("git", args, { ...user, stdio: "ignore",
			env: service.environment }).on("exit", end));
	}
	const { statuses, errors, replies } = await running;
	assert.deepEqual(errors, []);
	assert.deepEqual(Object.keys(statuses), ["201"], JSON.stringify(statuses));
	await assertAllThere(replies.slice(-200));
	const { code, report } = audit(service, place);
	assert.equal(code, 0, JSON.stringify(report));
});

test("two programs share a ledger", async () => {
	// The second front of another web server over the same state.
	const second = new Service({ worker: false });
	second.remove();
	Object.assign(second, { dir: second.dir, state: service.state,
		keys: service.keys });
	const { mkdirSync } = await import("node:fs");
	for (const name of ["", "/run", "/log", "/bin", "/home"]) {
		mkdirSync(second.dir + name);
		second.own(second.dir + name);
	}
	second.copyPrograms();
	await second.start();
	try {
		const [one, two] = await Promise.all([service, second].map((s) =>
			load(s, { clients: 16, seconds: 2, make: write })));
		for (const { statuses, errors } of [one, two]) {
			assert.deepEqual(errors, []);
			assert.deepEqual(Object.keys(statuses), ["201"],
				JSON.stringify(statuses));
		}
		const all = [...one.replies, ...two.replies];
		assert.equal(new Set(all.map((r) => r.json.evidence.seq)).size, all.length);
		assert.equal(new Set(all.map((r) => r.json.id)).size, all.length);
		await assertAllThere(two.replies.slice(-50));
	} finally {
		await second.stop();
		second.remove();
	}
});

test("the read model may be deleted outright", async () => {
	await service.stop();
	const before = dump(service, place);
	const dir = join(service.state, "ledgers/acme/sandbox");
	const { rmSync } = await import("node:fs");
	for (const end of ["", "-wal", "-shm"])
		rmSync(join(dir, `state.db${end}`), { force: true });
	service.wantsWorker = false;
	await service.start();
	const r = await send(service, "GET", paths.workspace, { key: w.key });
	assert.equal(r.status, 200, r.text);
	await service.stop();
	assertSame(dump(service, place), before);
});

test("a damaged read model is told as one, and is made anew", async () => {
	const before = dump(service, place);
	const file = join(service.state, "ledgers/acme/sandbox/state.db");
	for (const at of [8192, 0]) {
		const fd = openSync(file, "r+");
		writeSync(fd, randomBytes(20000), 0, 20000, at);
		closeSync(fd);
		if (at > 0) {
			service.ctl("acme", "ledger rebuild");
			assertSame(dump(service, place), before);
		}
	}
	service.wantsWorker = false;
	await service.start();
	const r = await send(service, "GET", paths.workspace, { key: w.key });
	assertProblem(r, 503, "read_model_damaged");
	assert.match(readFileSync(join(service.dir, "log/fcgi.log"), "utf8"),
		/read model: .*not a database/);
	await service.stop();
	assert.throws(status, (e) => e.code === 3 && /ledger rebuild/.test(e.stderr));
	service.ctl("acme", "ledger rebuild");
	assertSame(dump(service, place), before);
});

test("the ledger verifies, and the read model rebuilds the same", () =>
	finish(service, { long: true }));
