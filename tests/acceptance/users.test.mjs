// Front, worker and operators as users of their own, whom a group holds together:
// each works with what the others made, and nobody else reads any of it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { auditorKey } from "./support/auditor.mjs";
import { close, paths, send } from "./support/client.mjs";
import { audit, dump } from "./support/evidence.mjs";
import { isRoot, user } from "./support/places.mjs";
import { Service, until } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

// Numbers that no machine's users have.
const group = 2026101;
const users = { fcgi: 2026102, worker: 2026103, operator: 2026104 };
const exports = "/api/v2/infrastructure/lineage-exports";
const skip = isRoot ? false : "only root can be several users";

let service, w, auditor;

// As conf/tmpfiles.d has them.
function prepare() {
	service = new Service({ env: { PROBITY_LINEAGE_EVENTS_AT_ONCE: "1",
		PROBITY_PACK_THRESHOLD: "1" } });
	service.users = Object.fromEntries(Object.entries(users)
		.map(([name, uid]) => [name, { uid, gid: group }]));
	for (const [name, mode] of [["state", 0o2770], ["keys", 0o2770],
		["run", 0o777], ["log", 0o777], ["home", 0o777], [".", 0o777]]) {
		const path = join(service.dir, name);
		if (mode === 0o2770) chownSync(path, users.operator, group);
		chmodSync(path, mode);
	}
	// The web server's user is not of the group; systemd gives it the socket.
	service.startFront = async () => {
		service.launch("fcgi", [join(service.bin, "probity.fcgi")],
			{ PROBITY_LISTEN: `unix:${service.socket},mode=0666` });
		await until("the socket is there", () => service.alive("fcgi") &&
			spawnSync("test", ["-S", service.socket]).status === 0);
	};
}

function* below(folder) {
	for (const name of readdirSync(folder)) {
		const path = join(folder, name);
		const st = lstatSync(path, { throwIfNoEntry: false });
		if (!st) continue;
		yield { path, st };
		if (st.isDirectory()) yield* below(path);
	}
}

const create = () => send(service, "POST", paths.create,
	{ key: w.key, body: actionBody(w, { amount: "0.01" }) });

before(async () => {
	if (skip) return;
	prepare();
	await service.start();
	w = provision(service, "acme");
	auditor = auditorKey(service, "acme",
		{ scopes: "infrastructure:lineage,trust:read" });
});
after(async () => {
	await close();
	if (skip) return;
	await service.stop();
	assert.equal(service.sanitizerReports(), "");
	service.remove();
});

test("the front writes into a ledger that an operator made", { skip }, async () => {
	for (let i = 0; i < 5; i++) {
		const r = await create();
		assert.equal(r.status, 201, r.text);
		const show = await send(service, "GET",
			paths.action(r.json.uid), { key: w.key });
		assert.equal(show.status, 200, show.text);
	}
});

test("the worker makes an export, and the front sends it", { skip }, async () => {
	const made = await send(service, "POST", exports,
		{ key: auditor, body: { scope_type: "workspace", scope_id: "acme" } });
	assert.equal(made.status, 202, made.text);
	const r = await until("the export is there", async () => {
		const at = await send(service, "GET", `${exports}/${made.json.uid}`,
			{ key: auditor });
		return at.status === 200 && at.text.includes("payload") && at;
	});
	assert.equal(r.status, 200, r.text);
});

// What comes up each minute, at once; a round does what it finds.
function rounds(what, done, env = {}) {
	return until(what, () => {
		const r = spawnSync(join(service.bin, "probity-worker"), ["--once"], {
			...service.as("worker"), env: { ...service.environment, ...env },
			cwd: service.dir, encoding: "utf8" });
		assert.equal(r.status, 0, r.stderr);
		return done();
	});
}

test("the worker packs what front and operator wrote", { skip }, async () => {
	await service.end("worker");
	await rounds("a pack is there", () =>
		readdirSync(join(service.ledger("acme"), "objects/pack"))
			.some((name) => name.endsWith(".pack")));
});

test("the worker pushes it to a mirror", { skip }, async () => {
	const mirror = join(service.dir, "home/mirror.git");
	const list = join(service.dir, "mirrors");
	const r = spawnSync("git", ["init", "-q", "--bare", mirror],
		{ ...service.as("worker"), env: service.environment, encoding: "utf8" });
	assert.equal(r.status, 0, r.stderr);
	service.write(list, `acme/sandbox ${mirror}\n`);
	await rounds("the mirror has it", () =>
		existsSync(join(mirror, "refs/heads/main")),
	{ PROBITY_MIRROR_FILE: list, PROBITY_MIRROR_MINUTES: "0" });
});

test("git clones it", { skip }, () => {
	const from = service.baseUrl.replace("//", `//a:${auditor}@`);
	const r = service.run("git", ["clone", "--mirror",
		`${from}/ledger/acme/sandbox/ledger.git`,
		join(service.dir, "home/clone.git")], { env: { GIT_TERMINAL_PROMPT: "0" } });
	assert.equal(r.code, 0, r.stderr + service.log("fcgi"));
});

test("an erasure ends keys, whoever made them", { skip }, async () => {
	service.ctl("acme", "subject erase", { subject: w.other.uid,
		reason: "asked for", "requested-by": "ticket 1" });
	const r = await create();
	assert.equal(r.status, 201, r.text);
});

test("nobody else reads it, and each of the three wrote", { skip }, () => {
	const owners = new Set();
	for (const folder of [service.state, service.keys])
		for (const { path, st } of below(folder)) {
			owners.add(st.uid);
			assert.equal(st.gid, group, path);
			// Below a directory that is closed, but not by that alone.
			if (st.isDirectory() || folder === service.keys)
				assert.equal(st.mode & 7, 0, `${path}: ${st.mode.toString(8)}`);
		}
	assert.deepEqual([...owners].sort(), Object.values(users).sort());
	const key = join(service.keys, "acme/sandbox/signing.key");
	const r = spawnSync("cat", [key], { ...user, encoding: "utf8" });
	assert.match(r.stderr, /Permission denied/);
	assert.equal(r.stdout, "");
});

// As somebody, not of the group, who gives an operator's command.
function asStranger(...words) {
	return spawnSync(join(service.bin, "probityctl"), words, {
		uid: 2026199, gid: 2026199, cwd: service.dir, encoding: "utf8",
		env: service.environment });
}

test("who may not look is told that, not that there is no ledger", { skip }, () => {
	const r = asStranger("application", "list", "--workspace", "acme");
	assert.equal(r.status, 3, r.stderr);
	assert.match(r.stderr, /run as the user that the services run as.*denied/);
});

test("of keys that others may write everybody is warned", { skip }, () => {
	const run = (...args) => service.run(join(service.bin, "probityctl"), args);
	const check = () => run("config", "check");
	for (const [gid, mode, words] of [[group, 0o2777, /chmod 0700/],
		[2026198, 0o2770, /chgrp/]]) {
		chownSync(service.keys, users.operator, gid);
		chmodSync(service.keys, mode);
		const listed = run("application", "list", "--workspace", "acme");
		assert.equal(listed.code, 0, listed.stderr);
		assert.match(listed.stderr, words);
		assert.equal(check().code, 1);
		assert.match(check().stderr, words);
	}
	chownSync(service.keys, users.operator, group);
	chmodSync(service.keys, 0o2770);
	assert.equal(check().code, 0, check().stderr);
});

test("one user's read model is another's", { skip }, async () => {
	await service.stop();
	const place = { workspace: "acme", environment: "sandbox" };
	const before = dump(service, place);
	service.ctl("acme", "ledger rebuild");
	assert.equal(dump(service, place), before);
	assert.equal(audit(service, place).code, 0);
	await service.start();
	const r = await create();
	assert.equal(r.status, 201, r.text);
});
