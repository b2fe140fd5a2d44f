// Checkpoints leave the host: to a folder where nothing is ever changed, and to
// repositories elsewhere, which refuse whatever does not continue them.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { close } from "./support/client.mjs";
import { audit, finish, publicKey } from "./support/evidence.mjs";
import { Service, until } from "./support/service.mjs";
import { provision } from "./support/workspace.mjs";

const place = { workspace: "acme", environment: "sandbox" };
let service, folder, list, mirror;

const newest = () => readdirSync(folder).sort().at(-1);
const verify = (checkpoint) => service.run(join(service.bin, "probity-audit"),
	["verify", service.ledger("acme"), "--key", publicKey(service, place),
		"--checkpoint", checkpoint]);

// One round of the worker, and the newest jobs of two kinds that it did.
function round() {
	const r = service.run(join(service.bin, "probity-worker"), ["--once"]);
	assert.equal(r.code, 0, r.stderr);
	const jobs = service.ctl("acme", "job list", { limit: 200 }).data;
	const last = (kind) => jobs.filter((j) => j.kind === kind).at(-1);
	return { stderr: r.stderr, jobs,
		exported: last("ledger.export_checkpoint"),
		mirrored: last("ledger.mirror") };
}

function git(repo, ...args) {
	const r = service.run("git", ["-C", repo, ...args]);
	assert.equal(r.code, 0, r.stderr);
	return r.stdout.trim();
}

function bare(name) {
	const path = join(service.dir, "home", name);
	git(service.dir, "init", "-q", "--bare", "--initial-branch=main", path);
	git(path, "config", "receive.denyNonFastForwards", "true");
	return path;
}

// Somebody else's commit on the remote's branch.
function moveAhead(repo) {
	const id = ["-c", "user.name=other", "-c", "user.email=other@example.com"];
	const commit = git(repo, ...id, "commit-tree", "-m", "other", "-p", "main",
		"main^{tree}");
	git(repo, "update-ref", "refs/heads/main", commit);
	return commit;
}

const mirrors = (...to) => service.write(list,
	to.map((path) => `acme/sandbox ${path}\n`).join(""));

// Takes connections and says nothing.
async function listen() {
	const sockets = [], server = createServer((s) => sockets.push(s));
	await new Promise((done) => server.listen(0, "127.0.0.1", done));
	return { url: `https://127.0.0.1:${server.address().port}/x.git`,
		end: () => { sockets.forEach((s) => s.destroy()); server.close(); } };
}

before(async () => {
	service = new Service({ worker: false });
	folder = join(service.dir, "home/out/acme/sandbox");
	list = join(service.dir, "home/mirrors");
	Object.assign(service.settings, {
		PROBITY_CHECKPOINT_FOLDER: join(service.dir, "home/out"),
		PROBITY_CHECKPOINT_MINUTES: "0", PROBITY_MIRROR_FILE: list,
		PROBITY_MIRROR_MINUTES: "0", PROBITY_MIRROR_SECONDS: "3" });
	service.write(list, "# none yet\n");
	await service.start();
	provision(service, "acme");
	mirror = bare("mirror.git");
});
after(close);

test("checkpoints appear in the folder, and the ledger is held to them", () => {
	const first = round();
	assert.equal(first.exported.status, "completed", first.exported.fault);
	assert.equal(first.mirrored, undefined);
	assert.match(newest(), /^\d{20}\.checkpoint$/);
	assert.equal(Number(newest().slice(0, 20)), first.exported.result.size);
	round();
	assert.equal(readdirSync(folder).length, 2);
	for (const name of readdirSync(folder)) {
		const r = verify(join(folder, name));
		assert.equal(r.code, 0, r.stdout + r.stderr);
	}
});

test("a file of the same size with other bytes is an alarm", () => {
	const path = join(folder, newest()), count = readdirSync(folder).length;
	const note = readFileSync(path, "utf8");
	const [origin, size, root, ...rest] = note.split("\n");
	const other = (root[0] === "A" ? "B" : "A") + root.slice(1);
	const forged = [origin, size, other, ...rest].join("\n");
	writeFileSync(path, forged);
	assert.equal(verify(path).code === 0, false);
	const { exported, stderr } = round();
	assert.equal(exported.status, "failed");
	assert.match(exported.fault, /not what the ledger has at that size/);
	assert.match(stderr, /"error".*not what the ledger has/);
	assert.equal(readFileSync(path, "utf8"), forged);
	assert.equal(readdirSync(folder).length, count);
	writeFileSync(path, note);
	assert.equal(round().exported.status, "completed");
});

test("a checkpoint beyond the ledger's end is an alarm", () => {
	const path = join(folder, "00000000000099999999.checkpoint");
	service.copy(join(folder, newest()), path);
	assert.match(round().exported.fault, /not what the ledger has/);
	rmSync(path);
	assert.equal(round().exported.status, "completed");
});

test("a file that is no checkpoint's is left alone", () => {
	service.write(join(folder, "99999999999999999999.txt"), "");
	assert.equal(round().exported.status, "completed");
});

test("a push arrives and verifies there; a second one continues it", () => {
	mirrors(mirror);
	const first = round().mirrored;
	assert.equal(first.status, "completed", first.fault);
	assert.equal(first.result.mirrors, 1);
	assert.equal(git(mirror, "rev-parse", "main"), first.result.commit);
	const { code, report } = audit(service, place, mirror);
	assert.equal(code, 0, JSON.stringify(report));
	assert.equal(report.size, first.result.size);
	const second = round().mirrored;
	assert.ok(second.result.size > first.result.size);
	assert.equal(git(mirror, "rev-parse", "main"), second.result.commit);
});

test("one push now", () => {
	const to = bare("now.git");
	const r = service.ctl("acme", "ledger mirror", { to });
	assert.equal(git(to, "rev-parse", "main"), r.commit);
	assert.equal(r.size, service.ctl("acme", "ledger status").size);
	assert.equal(audit(service, place, to).code, 0);
});

test("a remote that was moved ahead is not overwritten", () => {
	const other = moveAhead(mirror);
	const { mirrored, exported } = round();
	assert.equal(mirrored.status, "failed");
	assert.match(mirrored.fault, /mirror-differs.*commits that the ledger does/);
	assert.equal(exported.status, "completed");
	assert.equal(git(mirror, "rev-parse", "main"), other);
	assert.throws(() => service.ctl("acme", "ledger mirror", { to: mirror }),
		(e) => e.code === 1 && /left as it is/.test(e.stderr));
	assert.equal(git(mirror, "rev-parse", "main"), other);
});

test("a missing remote fails that job alone, the other mirror is served", () => {
	const good = bare("good.git");
	mirrors(join(service.dir, "home/none.git"), good);
	const { mirrored, exported } = round();
	assert.equal(mirrored.status, "failed");
	assert.match(mirrored.fault, /mirror 1 of 2: .*the log says/);
	assert.equal(exported.status, "completed");
	assert.equal(audit(service, place, good).code, 0);
});

test("a remote that never answers is given up in time", async () => {
	const silent = await listen();
	mirrors(silent.url);
	const began = Date.now();
	const { mirrored, exported } = round();
	silent.end();
	assert.ok(Date.now() - began < 15000);
	assert.match(mirrored.fault, /did not end within 3 seconds/);
	assert.equal(exported.status, "completed");
});

test("while it is silent, the same worker goes on with other jobs", async () => {
	const silent = await listen();
	mirrors(silent.url);
	const all = () => service.ctl("acme", "job list", { limit: 200 }).data;
	const before = all().length;
	service.settings.PROBITY_MIRROR_SECONDS = "20";
	// Two ledgers: the one that is looked at last is not kept waiting.
	service.ctl("zeta", "workspace create", { name: "Zeta" });
	service.startWorker();
	await until("the push has begun", () => all().slice(before)
		.some((j) => j.kind === "ledger.mirror" && j.status === "claimed"));
	await until("the other ledger is verified", () =>
		service.ctl("zeta", "ledger status").last_verification);
	assert.equal(all().filter((j) => j.kind === "ledger.mirror").at(-1).status,
		"claimed");
	silent.end();
	await service.end("worker");
	service.settings.PROBITY_MIRROR_SECONDS = "3";
});

test("what may not be pushed to is refused, and a bad list is told of", () => {
	for (const to of ["relative.git", "ext::sh -c true", "http://example.com/x",
		"https://user:word@example.com/x", "-o/x", "file:///x"])
		assert.throws(() => service.ctl("acme", "ledger mirror", { to }),
			(e) => e.code === 2 || /mirror/.test(e.stderr), to);
	mirrors("relative.git");
	assert.match(round().mirrored.fault, /line 1 of mirror_file/);
	rmSync(list);
	assert.match(round().mirrored.fault, /mirrors/);
});

test("verifies and rebuilds", () => finish(service));
