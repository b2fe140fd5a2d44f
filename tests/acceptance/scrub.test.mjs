// Damage on the disk: the worker's scrub raises the alarm, in the ledger itself,
// and a mirror mends it while the service goes on.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, readFileSync, readdirSync, unlinkSync, writeFileSync }
	from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { close, paths, send } from "./support/client.mjs";
import { audit, finish } from "./support/evidence.mjs";
import { load } from "./support/load.mjs";
import { user } from "./support/places.mjs";
import { Service, until } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const place = { workspace: "acme", environment: "sandbox" };
let service, w, auditor, mirror, since = 0;

const git = (repo, ...args) => {
	const r = service.run("git", ["-C", repo, ...args]);
	assert.equal(r.code, 0, r.stderr);
	return r.stdout.trim();
};
const own = (...args) => git(service.ledger("acme"), ...args);
const oid = (spec) => own("rev-parse", spec);
const file = (id) => join(service.ledger("acme"), "objects", id.slice(0, 2),
	id.slice(2));
const packs = () => readdirSync(join(service.ledger("acme"), "objects/pack"))
	.filter((name) => name.endsWith(".pack"))
	.map((name) => join(service.ledger("acme"), "objects/pack", name));

function flip(path, at) {
	const bytes = readFileSync(path);
	bytes[at < 0 ? bytes.length + at : at] ^= 1;
	chmodSync(path, 0o644);
	writeFileSync(path, bytes);
}

const scrub = (options = {}) => service.ctl("acme", "ledger scrub",
	{ rate: 1000, ...options });
const heal = (from = mirror) => service.ctl("acme", "ledger heal", { from });
const push = () => service.ctl("acme", "ledger mirror", { to: mirror });
const status = () => service.ctl("acme", "ledger status");

function fails(f, code, pattern) {
	try {
		f();
	} catch (e) {
		assert.equal(e.code, code, e.stderr);
		assert.match(e.stderr, pattern);
		return e.stdout ? JSON.parse(e.stdout) : null;
	}
	return assert.fail("it was done");
}

// Every event of these types since then, as the API shows them. What lies in a
// damaged batch cannot be shown.
async function alarms() {
	const found = [];
	for (let after = 0; ;) {
		const r = await send(service, "GET",
			`/api/v2/ledger/events?limit=200&from=${since}&after_id=${after}`, { key: auditor });
		assert.equal(r.status, 200, r.text);
		found.push(...r.json.data.filter((e) =>
			e.type.startsWith("ledger.damage_")));
		if (!r.json.has_more) break;
		after = r.json.next_after_id;
	}
	const full = [];
	for (const { seq, type } of found) {
		const r = await send(service, "GET", `/api/v2/ledger/events/${seq}`,
			{ key: auditor });
		assert.equal(r.status, 200, r.text);
		full.push({ type, data: JSON.parse(r.json.line
			.slice(r.json.line.indexOf(" ") + 1)).data });
	}
	return full;
}

before(async () => {
	service = await new Service({ worker: false,
		env: { PROBITY_SCRUB_DAYS: "0" } }).start();
	w = provision(service, "acme");
	const application = service.ctl("acme", "application create", {
		name: "auditor", responsible: "a@example.com", scopes: "trust:read",
		entitlements: "core-platform" });
	auditor = service.ctl("acme", "credential issue",
		{ application: application.uid }).key;
	mirror = join(service.dir, "home/mirror.git");
	git(service.dir, "init", "-q", "--bare", "--initial-branch=main", mirror);
	push();
});
after(close);

test("a whole repository: nothing to find, nothing to mend", () => {
	const r = scrub();
	assert.deepEqual(r.damage, []);
	assert.ok(r.events > 10 && r.objects > r.events && r.bytes > 10000);
	assert.deepEqual(heal().mended, []);
	assert.deepEqual(status().damage, []);
	assert.equal(status().last_scrub.events, r.events);
});

test("the worker raises an alarm, once, in the ledger", async () => {
	const events = oid("main~5:events"), payload = own("ls-tree", "-r",
		own("log", "--diff-filter=A", "--format=%H", "-n1", "main", "--",
			"payloads"), "payloads/")
		.split("\n")[0].split(/\s/)[2];
	since = status().size;
	flip(file(events), -5);
	unlinkSync(file(payload));
	service.startWorker();
	await until("the alarm is there", async () => (await alarms()).length > 0,
		90);
	const [{ type, data }] = await alarms();
	assert.equal(type, "ledger.damage_found");
	assert.deepEqual(data.objects.map((o) => [o.name, o.kind, o.what]).sort(),
		[[events, "events", "it is damaged"],
			[payload, "payload", "it is missing"]].sort());
	for (const o of data.objects)
		assert.ok(o.first_seq <= o.last_seq && o.last_seq < data.objects.length +
			status().size);
	assert.match(service.log("worker"), new RegExp(`"error".*${events}`));
	await service.end("worker");
	const before = status().damage.length;
	assert.equal(before, 2);
	const round = service.run(join(service.bin, "probity-worker"), ["--once"]);
	assert.equal(round.code, 0, round.stderr);
	const found = fails(scrub, 1, /2 damages are there/);
	assert.equal(found.damage.length, 2);
	assert.equal((await alarms()).length, 1);
	assert.notEqual(audit(service, place).code, 0);
});

// probityctl beside the test, so that its clients go on.
function healBeside() {
	const child = spawn(join(service.bin, "probityctl"), ["ledger", "heal",
		"--workspace", "acme", "--json", "--from", mirror],
		{ ...user, env: service.environment, cwd: service.dir });
	let out = "", err = "";
	child.stdout.on("data", (part) => { out += part; });
	child.stderr.on("data", (part) => { err += part; });
	return new Promise((done) => child.once("close", (code) => {
		assert.equal(code, 0, err);
		assert.equal(err, "");
		done(JSON.parse(out));
	}));
}

test("a mirror mends it while clients write", async () => {
	let writing = true, sent = 0;
	const busy = load(service, { clients: 4, seconds: 60, make: () => (sent++, {
		method: "POST", path: paths.create, key: w.key,
		body: actionBody(w, { amount: "0.01" }) }), more: () => writing });
	await until("clients are answered", () => sent > 8);
	const r = await healBeside();
	writing = false;
	const { errors, statuses } = await busy;
	assert.deepEqual(errors, []);
	assert.deepEqual(Object.keys(statuses), ["201"]);
	assert.equal(r.mended.length, 2);
	assert.deepEqual(r.left, []);
	assert.deepEqual(status().damage, []);
	const last = (await alarms()).at(-1);
	assert.equal(last.type, "ledger.damage_mended");
	assert.equal(last.data.objects.length, 2);
	assert.equal(audit(service, place).code, 0);
	assert.deepEqual(scrub().damage, []);
});

test("a damaged pack is put aside once all of it is whole elsewhere", async () => {
	push();
	const pack = () => {
		const r = service.run(join(service.bin, "probity-worker"), ["--once"],
			{ env: { PROBITY_PACK_THRESHOLD: "1" } });
		assert.equal(r.code, 0, r.stderr);
	};
	pack();
	const [path] = packs();
	flip(path, Math.floor(readFileSync(path).length / 2));
	const { damage } = fails(scrub, 1, /damaged/);
	assert.equal(damage[0].kind, "pack");
	const r = heal();
	assert.ok(r.moved > 10, JSON.stringify(r));
	assert.deepEqual(r.left, []);
	assert.ok(!existsSync(path));
	assert.equal(readdirSync(join(service.ledger("acme"), "damaged")).length, 2);
	assert.equal(audit(service, place).code, 0);
	assert.deepEqual(status().damage, []);
	pack();
	assert.deepEqual(scrub().damage, []);
});

test("a torn branch is put back", async () => {
	service.run(join(service.bin, "probity-worker"), ["--once"]);
	await service.stop();
	const path = join(service.ledger("acme"), "refs/heads/main");
	const { size } = status();
	writeFileSync(path, "torn");
	fails(scrub, 1, /damage/);
	heal();
	assert.equal(status().size >= size, true);
	await service.start();
	const r = await send(service, "POST", paths.create, { key: w.key,
		body: actionBody(w, { amount: "0.01" }) });
	assert.equal(r.status, 201, r.text);
});

test("a mirror that is not fit changes nothing", () => {
	provision(service, "other");
	const victim = file(oid("main:events")), bytes = readFileSync(victim);
	flip(victim, -5);
	fails(() => heal(service.ledger("other")), 1, /another history than this/);
	const forged = join(service.dir, "home/forged.git");
	service.run("cp", ["-a", mirror, forged]);
	const commit = git(forged, "cat-file", "commit", "main")
		.replace(/^author .*$/m, (line) => `${line.slice(0, -1)}1`);
	writeFileSync(join(service.dir, "home/commit"), `${commit}\n`);
	git(forged, "update-ref", "refs/heads/main", git(forged, "hash-object",
		"-t", "commit", "-w", join(service.dir, "home/commit")));
	fails(() => heal(forged), 1, /does not verify/);
	fails(() => heal(join(service.dir, "none.git")), 1, /cannot be opened/);
	// The mirror ends before this batch: said, and nothing else touched.
	const { left, mended } = fails(heal, 1, /1 damage is there/);
	assert.deepEqual([left.length, mended.length], [1, 0]);
	chmodSync(victim, 0o644);
	writeFileSync(victim, bytes);
	assert.deepEqual(scrub().damage, []);
	assert.deepEqual(status().damage, []);
});

test("a mirror elsewhere is fetched by git", async () => {
	push();
	const bin = join(service.dir, "home/bin");
	service.run("mkdir", [bin]);
	service.write(join(bin, "ssh"),
		"#!/bin/sh\nfor last; do :; done\nexec sh -c \"$last\"\n");
	chmodSync(join(bin, "ssh"), 0o755);
	const path = service.settings.PATH;
	service.settings.PATH = `${bin}:${process.env.PATH}`;
	const lost = oid("main~2:checkpoint");
	if (existsSync(file(lost))) unlinkSync(file(lost));
	const r = heal(`ssh://git@mirror.example${mirror}`);
	assert.deepEqual(r.left, []);
	if (path === undefined) delete service.settings.PATH;
	const sockets = [], silent = createServer((socket) => sockets.push(socket));
	await new Promise((done) => silent.listen(0, "127.0.0.1", done));
	service.settings.PROBITY_CLONE_SECONDS = "1";
	fails(() => heal(`https://127.0.0.1:${silent.address().port}/x.git`), 3,
		/did not end|could not/);
	delete service.settings.PROBITY_CLONE_SECONDS;
	sockets.forEach((socket) => socket.destroy());
	silent.close();
	assert.ok(!readdirSync(join(service.ledger("acme"), "..")).includes(
		"mirror.fetched"));
});

test("the rate is kept", () => {
	const rows = Array.from({ length: 8000 }, (_, i) =>
		`RATE-${i},Alpine Components GmbH,1.00,EUR`);
	const csv = join(service.dir, "rate.csv");
	writeFileSync(csv, ["reference,counterparty,amount,currency", ...rows]
		.join("\n") + "\n", { mode: 0o644 });
	service.ctl("acme", "source-record import", { format: "csv",
		kind: "invoice", file: csv });
	const fast = scrub(), begin = process.hrtime.bigint();
	const slow = scrub({ rate: 1 });
	const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
	assert.ok(slow.bytes > 1 << 20, `${slow.bytes} bytes`);
	assert.ok(seconds >= slow.bytes / (1 << 20) * 0.98, `${seconds} s`);
	assert.ok(seconds < slow.bytes / (1 << 20) * 1.5 + 5, `${seconds} s`);
	assert.ok(slow.bytes >= fast.bytes);
});

test("a worker that is to end leaves a scrub where it stands", async () => {
	const last = () => service.ctl("acme", "job list",
		{ kind: "ledger.scrub", limit: 200 }).data.at(-1);
	const place = join(service.ledger("acme"), "../scrub");
	const ends = async (f) => {
		const begin = Date.now();
		await f();
		assert.ok(Date.now() - begin < 5000);
		assert.equal(last().result.scrubbed, null);
		assert.equal(JSON.parse(readFileSync(place)).finished, false);
	};
	await service.end("worker");
	service.settings.PROBITY_SCRUB_MIB_PER_SECOND = "1";
	service.startWorker();
	await until("a scrub is under way", () => last()?.status === "claimed");
	await ends(async () => assert.equal((await service.end("worker")).code, 0));
	service.launch("once", [join(service.bin, "probity-worker"), "--once"]);
	await until("it goes on", () => last().status === "claimed");
	await ends(() => service.end("once"));
	delete service.settings.PROBITY_SCRUB_MIB_PER_SECOND;
	service.run(join(service.bin, "probity-worker"), ["--once"]);
	assert.ok(last().result.scrubbed.events >= status().size - 20);
});

test("below the free-space floor nothing is written, and 507 says so", async () => {
	await service.stop();
	const lost = file(oid("main:events")), bytes = readFileSync(lost);
	service.settings.PROBITY_FREE_FLOOR = String(2 ** 40);
	await service.start();
	const write = () => send(service, "POST", paths.create, { key: w.key,
		body: actionBody(w, { amount: "0.01" }) });
	const { size } = status(), refused = await write();
	assert.equal(refused.status, 507, refused.text);
	assert.match(refused.json.type, /no-space$/);
	assert.equal((await send(service, "GET", paths.workspace,
		{ key: w.key })).status, 200);
	assert.equal(status().size, size);
	push();
	unlinkSync(lost);
	fails(heal, 3, /reserve/);
	assert.ok(!existsSync(lost));
	delete service.settings.PROBITY_FREE_FLOOR;
	await service.restart();
	assert.equal(heal().mended.length, 1);
	assert.deepEqual(readFileSync(lost), bytes);
	assert.equal((await write()).status, 201);
});

test("verifies and rebuilds", () => finish(service, { long: true }));
