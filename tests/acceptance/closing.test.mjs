// A ledger is closed under its clients' hands, the one that continues it opens in
// its place, and auditors follow from one to the other.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { auditorKey, basic } from "./support/auditor.mjs";
import { close, paths, send } from "./support/client.mjs";
import { audit, finish, gitVerify, verifyOffline } from "./support/evidence.mjs";
import { load } from "./support/load.mjs";
import { user } from "./support/places.mjs";
import { Service, until } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const place = { workspace: "acme", environment: "sandbox" };
const second = "ledger.example.com/acme/sandbox/2";
let service, w, reader, closed, uid;

const write = (key = w.key, headers = {}) => send(service, "POST", paths.create,
	{ key, headers, body: actionBody(w, { amount: "0.01" }) });
const closing = (workspace, successor) => ["ledger", "close", "--workspace",
	workspace, "--successor", successor, "--reason", "a new key", "--yes", "--json"];

// Beside this process, whose clients go on.
const close_ = (workspace, successor) => new Promise((done) =>
	execFile(join(service.bin, "probityctl"), closing(workspace, successor),
		{ ...user, env: service.environment, cwd: service.dir },
		(error, stdout, stderr) => done({ code: error?.code ?? 0, stderr,
			json: stdout ? JSON.parse(stdout) : null })));

const closedDir = (workspace, n = 1) => join(service.state, "ledgers", workspace,
	`sandbox.closed/${n}`);
const closedRepo = (workspace, n) => join(closedDir(workspace, n), "ledger.git");

before(async () => {
	service = await new Service({ build: "debug" }).start();
	w = provision(service, "acme");
	reader = auditorKey(service, "acme");
	const r = await write(w.key, { "Idempotency-Key": "before-the-end" });
	assert.equal(r.status, 201, r.text);
	uid = r.json.uid;
});
after(close);

test("it asks whether that is meant", () => {
	assert.throws(() => service.ctl("acme", "ledger close", { successor: second }),
		(e) => e.code === 2 && /record alone/.test(e.stderr));
	for (const successor of ["nonsense", service.ctl("acme",
		"ledger status").origin]) {
		const r = service.run(join(service.bin, "probityctl"),
			closing("acme", successor));
		assert.equal(r.code, 1);
		assert.match(r.stderr, /validation-failed/);
	}
});

test("closed, and the successor cannot be made: reads go on, writes are refused",
	async () => {
		const inTheWay = join(service.state, "ledgers/acme/sandbox.successor");
		service.write(inTheWay, "");
		const failed = await close_("acme", second);
		assert.equal(failed.code, 3, failed.stderr);
		const r = await write();
		assert.equal(r.status, 409, r.text);
		assert.equal(r.json.code, "ledger_closed");
		assert.match(r.json.type, /\/problems\/ledger-closed$/);
		assert.match(r.json.detail, new RegExp(`${second} continues it`));
		const got = await send(service, "GET", paths.action(uid), { key: w.key });
		assert.equal(got.status, 200, got.text);
		// What was done before is still answered to who asks again.
		const again = await write(w.key, { "Idempotency-Key": "before-the-end" });
		assert.equal(again.status, 201, again.text);
		assert.equal(again.json.uid, uid);
		assert.throws(() => service.ctl("acme", "application create",
			{ name: "late", responsible: "x", scopes: "trust:read" }),
			(e) => e.code === 1 && /ledger-closed/.test(e.stderr));
		const other = await close_("acme", "ledger.example.com/acme/sandbox/3");
		assert.equal(other.code, 1);
		assert.match(other.stderr, /was closed for/);
		rmSync(inTheWay);
	});

test("the same command finishes it", async () => {
	const r = await close_("acme", second);
	assert.equal(r.code, 0, r.stderr);
	closed = r.json.closed;
	assert.equal(r.json.origin, second);
	assert.equal(closed.number, 1);
	assert.ok(!existsSync(join(service.state, "ledgers/acme/sandbox.successor")));
	const again = await close_("acme", second);
	assert.deepEqual(again.json, r.json);
});

test("the running service serves the successor", async () => {
	const old = await write();
	assert.equal(old.status, 401, old.text);
	const sources = w.sources;
	w = provision(service, "acme", { create: false });
	assert.notEqual(w.sources["EUR-BIG"].uid, sources["EUR-BIG"].uid);
	const r = await write();
	assert.equal(r.status, 201, r.text);
	const show = await send(service, "GET", paths.workspace, { key: w.key });
	assert.equal(show.json.ledger.origin, second);
	assert.equal(show.json.name, "acme");
	const gone = await send(service, "GET", paths.action(uid), { key: w.key });
	assert.equal(gone.status, 404, gone.text);
	assert.equal(service.ctl("acme", "workspace list").data[0].origin, second);
	assert.equal(service.run(join(service.bin, "probity-worker"),
		["--once"]).code, 0);
	assert.ok(service.ctl("acme", "job list").data
		.some((j) => j.status === "completed"));
});

test("the successor has its index from the beginning", () => {
	const types = service.run(join(service.bin, "probity-audit"),
		["log", service.ledger("acme"), "--after", "0", "--limit", "2", "--json"])
		.stdout.trim().split("\n").map((line) => JSON.parse(line).type);
	assert.deepEqual(types, ["workspace.created", "ledger.indexed"]);
});

// What a program has open below the state.
const openFiles = (name) => {
	const fds = `/proc/${service.children.get(name).pid}/fd`;
	return readdirSync(fds).flatMap((fd) => {
		try {
			return readlinkSync(join(fds, fd));
		} catch {
			return []; // closed meanwhile
		}
	}).filter((file) => file.includes("/ledgers/acme/"));
};

test("programs that had the closed ledger open have let go of it", async () => {
	for (const name of ["fcgi", "worker"])
		await until(`${name} has the successor alone`, () => {
			const files = openFiles(name);
			return files.length > 0 &&
				files.every((file) => file.includes("/sandbox/"));
		});
});

test("the closed ledger is read where it lies", async () => {
	const status = service.ctl("acme", "ledger status", { closed: 1 });
	assert.equal(status.origin, closed.origin);
	assert.equal(status.successor, second);
	assert.equal(service.ctl("acme", "ledger status").successor, null);
	assert.equal(status.size, closed.size);
	assert.equal(status.root, closed.root);
	assert.equal(status.head, closed.head);
	const copy = join(service.dir, "home/closed.git");
	assert.equal(service.ctl("acme", "ledger backup",
		{ closed: 1, to: copy }).root, closed.root);
	assert.throws(() => service.ctl("acme", "application create", { closed: 1,
		name: "late", responsible: "x", scopes: "trust:read" }),
		(e) => e.code === 1 && /ledger-closed/.test(e.stderr));
	assert.throws(() => service.ctl("acme", "ledger status", { closed: 2 }),
		(e) => e.code === 1 && /not-found/.test(e.stderr));
	service.ctl("acme", "ledger rebuild", { closed: 1 });
});

test("auditors clone it and take its tiles, with a key of the successor",
	async () => {
		const base = "/ledger/acme/sandbox/closed/1";
		const get = (path, key) => send(service, "GET", path,
			{ headers: { Authorization: basic(key) } });
		assert.equal((await get(`${base}/checkpoint`, reader)).status, 401);
		reader = auditorKey(service, "acme");
		const note = await get(`${base}/checkpoint`, reader);
		assert.equal(note.status, 200, note.text);
		assert.equal(note.text.split("\n")[0], closed.origin);
		assert.equal(Number(note.text.split("\n")[1]), closed.size);
		const tile = await get(`${base}/tile/0/000.p/${closed.size % 256}`, reader);
		assert.equal(tile.status, 200, tile.text);
		assert.equal(tile.bytes.length, 32 * (closed.size % 256));
		for (const n of ["2", "0", "01", "x", "99999999999"])
			assert.equal((await get(`/ledger/acme/sandbox/closed/${n}/checkpoint`,
				reader)).status, 404);
		const clone = join(service.dir, "home/clone.git");
		const url = `http://auditor:${reader}@127.0.0.1:${service.port}${base}`;
		const r = service.run("git", ["clone", "--quiet", "--bare",
			`${url}/ledger.git`, clone]);
		assert.equal(r.code, 0, r.stderr);
		const { code, report } = audit(service, place, null,
			["--continues", clone]);
		assert.equal(code, 0, JSON.stringify(report));
	});

test("verifies across both: probity-audit, the script, git", () => {
	const oldKey = service.ctl("acme", "ledger status", { closed: 1 }).public_key;
	for (const key of [[], ["--old-key", oldKey]]) {
		const more = ["--continues", closedRepo("acme"), ...key];
		const { code, report } = audit(service, place, null, more);
		assert.equal(code, 0, JSON.stringify(report));
		const { number, ...named } = closed;
		assert.equal(number, 1);
		assert.deepEqual(report.continues, named);
		assert.equal(report.continued[0].root, closed.root);
		assert.equal(report.continued[0].key_given, key.length > 0);
		const script = verifyOffline(service, place, null, more);
		assert.equal(script.code, 0, script.stdout + script.stderr);
		assert.match(script.stdout, /^Good: it continues .*, which is closed/m);
	}
	gitVerify(service, place, service.ledger("acme"));
	const signers = join(service.dir, "home/old-signers");
	writeFileSync(signers, `${closed.origin} namespaces="git" ${oldKey}\n`);
	const git = (...args) => service.run("git", ["-C", closedRepo("acme"),
		"-c", "gpg.format=ssh", "-c", `gpg.ssh.allowedSignersFile=${signers}`,
		...args]);
	const commits = git("rev-list", "main").stdout.trim().split("\n");
	assert.equal(git("verify-commit", ...commits).code, 0);
	const last = git("cat-file", "blob", "main:events").stdout.trim().split("\n");
	assert.equal(last.length, 1);
	assert.match(last[0], /"type":"ledger\.closed"/);
});

// Both verifiers, in the same words.
function bothRefuse(repo, old, pattern, key = []) {
	const more = ["--continues", old, ...key];
	const { code, report } = audit(service, place, repo, more);
	const script = verifyOffline(service, place, repo, more);
	assert.equal(code, 1, JSON.stringify(report));
	assert.equal(script.code, 1, script.stdout + script.stderr);
	const failed = report.failed ?? report.continued.at(-1).failed;
	assert.match(`${failed.check}: ${failed.reason}`, pattern);
	assert.match(script.stdout, pattern);
}

function copyOf(repo, name) {
	const copy = join(service.dir, "home", name);
	assert.equal(service.run("cp", ["-a", repo, copy]).code, 0);
	return [copy, (args, input) => {
		const r = service.run("git", ["-C", copy, ...args], { input });
		assert.equal(r.code, 0, r.stderr);
		return r.stdout.trim();
	}];
}

test("a ledger that ends before ledger.closed is not the one", () => {
	const [cut, git] = copyOf(closedRepo("acme"), "cut.git");
	git(["update-ref", "refs/heads/main", "main~1"]);
	bothRefuse(null, cut, /succession: .* continues it at \d+ events, but it has/);
	bothRefuse(null, service.ledger("acme"), /succession: .* continues .*, not /);
	bothRefuse(closedRepo("acme"), service.ledger("acme"), /signers: /);
	bothRefuse(null, closedRepo("acme"), /signers: /, ["--old-key",
		service.ctl("acme", "ledger status").public_key]);
});

// Every commit made anew above another tree, as who has no key would do it.
function rewriteFirst(git, change) {
	let parent = null;
	for (const commit of git(["rev-list", "--reverse", "main"]).split("\n")) {
		let text = git(["cat-file", "commit", commit]);
		if (parent === null) {
			const events = change(git(["cat-file", "blob", `${commit}:events`]));
			const blob = git(["hash-object", "-w", "--stdin"], `${events}\n`);
			const tree = git(["mktree"], `${git(["ls-tree", commit])
				.replace(/blob \S+\tevents/, `blob ${blob}\tevents`)}\n`);
			text = text.replace(/^tree .*$/m, `tree ${tree}`);
		} else {
			text = text.replace(/^parent .*$/m, `parent ${parent}`);
		}
		parent = git(["hash-object", "-t", "commit", "-w", "--stdin"],
			`${text}\n`);
	}
	git(["update-ref", "refs/heads/main", parent]);
}

test("a continues that was changed afterwards is refused", () => {
	const [forged, git] = copyOf(service.ledger("acme"), "forged.git");
	rewriteFirst(git, (events) => events.replace(closed.root,
		closed.root.replace(/^./, (c) => c === "0" ? "1" : "0")));
	assert.notEqual(git(["cat-file", "blob",
		`${git(["rev-list", "--max-parents=0", "main"])}:events`])
		.includes(closed.root), true);
	const more = ["--continues", closedRepo("acme")];
	const { code, report } = audit(service, place, forged, more);
	assert.equal(code, 1);
	assert.equal(report.failed.check, "commit");
	assert.equal(report.failed.seq, 0);
	assert.deepEqual(report.continued, []);
	assert.equal(verifyOffline(service, place, forged, more).code, 1);
});

test("closed while clients write: every reply says what became of it", async () => {
	const b = provision(service, "beta");
	// Connections that the web server gave up while this process waited.
	close();
	await new Promise((later) => setTimeout(later, 100));
	let writing = true;
	const busy = load(service, { clients: 8, seconds: 60, make: () => ({
		method: "POST", path: paths.create, key: b.key,
		body: actionBody(b, { amount: "0.01" }) }), more: () => writing });
	await until("clients write", () =>
		service.ctl("beta", "ledger status").size > 100, 60);
	const done = await close_("beta", "ledger.example.com/beta/sandbox/2");
	await until("the key is the closed ledger's", async () =>
		(await send(service, "GET", paths.workspace, { key: b.key })).status === 401);
	writing = false;
	const { statuses, errors, replies } = await busy;
	assert.equal(done.code, 0, done.stderr);
	assert.deepEqual(errors, []);
	assert.ok(service.alive("fcgi"));
	const codes = { 409: ["ledger_closed"], 503: ["unavailable"],
		401: ["unauthorized"] };
	for (const r of replies.filter(({ status }) => status !== 201))
		assert.ok(codes[r.status]?.includes(r.json.code), r.text);
	assert.ok(statuses[201] > 0, JSON.stringify(statuses));
	const recorded = new Set(service.run("sqlite3", [join(closedDir("beta"),
		"state.db"), "SELECT uid FROM action"]).stdout.trim().split("\n"));
	for (const r of replies.filter(({ status }) => status === 201))
		assert.ok(recorded.has(r.json.uid));
	assert.equal(recorded.size, statuses[201]);
	const { code, report } = audit(service, { ...place, workspace: "beta" }, null,
		["--continues", closedRepo("beta")]);
	assert.equal(code, 0, JSON.stringify(report));
});

test("generations", async () => {
	const third = "ledger.example.com/acme/sandbox/3";
	const r = await close_("acme", third);
	assert.equal(r.json.closed.number, 2);
	assert.equal(r.json.closed.origin, second);
	const all = ["--continues", closedRepo("acme", 2),
		"--continues", closedRepo("acme", 1)];
	const { code, report } = audit(service, place, null, all);
	assert.equal(code, 0, JSON.stringify(report));
	assert.deepEqual(report.continued.map((c) => c.origin),
		[second, closed.origin]);
	assert.equal(verifyOffline(service, place, null, all).code, 0);
	const swapped = ["--continues", closedRepo("acme", 1),
		"--continues", closedRepo("acme", 2)];
	assert.equal(audit(service, place, null, swapped).code, 1);
	assert.equal(verifyOffline(service, place, null, swapped).code, 1);
	assert.equal(service.ctl("acme", "ledger status", { closed: 1 }).origin,
		closed.origin);
});

test("verifies and rebuilds", () => finish(service));
