// What leaves the service in files, and what keeps its repository whole, when the
// ledger's key has changed: manifests, packs, complete lists, scrub and heal, the
// ledger that continues it. What was void is shown as void, or not at all.
import assert from "node:assert/strict";
import { createPrivateKey, sign } from "node:crypto";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync }
	from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { auditorKey } from "./support/auditor.mjs";
import { close, paths, send } from "./support/client.mjs";
import { checkComplete } from "./support/complete.mjs";
import { assertProblem } from "./support/contract.mjs";
import { audit, finish, publicKey, verifyOffline } from "./support/evidence.mjs";
import { assertManifest, canonical, eventOf, fingerprint, pae, payloadType }
	from "./support/lineage.mjs";
import { script } from "./support/manifest.mjs";
import { leafOf, pathOf } from "./support/rfc9162.mjs";
import { Service } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const place = { workspace: "acme", environment: "sandbox" };
const exportsPath = "/api/v2/infrastructure/lineage-exports";
const scopes = "infrastructure:lineage,trust:read";
let service, w, auditor, first, second, rotation, action, files = 0;
const earlier = [];
// A key that the ledger never had.
const stranger = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" +
	"Hm1Vi6P5lT5QHixEuipi6eQH4U65pW+1+DjkQutBJZk";

const keyOf = (text) => text.trim().split(" ").slice(0, 2).join(" ");
const status = () => service.ctl("acme", "ledger status");
const create = () => send(service, "POST", paths.create, { key: w.key,
	body: actionBody(w, { amount: "0.01" }) });
const read = (path) => send(service, "GET", path, { key: auditor });
const program = (...args) => service.run(join(service.bin, "probity-audit"), args);
const given = (...keys) => keys.flatMap((key) => ["--key", key]);
const save = (content) => {
	const path = join(service.dir, "home", `file-${files++}`);
	writeFileSync(path, content);
	return path;
};

async function created() {
	const reply = await create();
	assert.equal(reply.status, 201, reply.text);
	return reply.json;
}

// A manifest, as its GET gives it.
async function exported(type, id) {
	const reply = await send(service, "POST", exportsPath,
		{ key: auditor, body: { scope_type: type, scope_id: id } });
	assert.equal(reply.status, 201, reply.text);
	const { status: code, text } = await read(`${exportsPath}/${reply.json.uid}`);
	assert.equal(code, 200, text);
	return { uid: reply.json.uid, text, json: JSON.parse(text), made: reply.text };
}

function assertGood(text, ...keys) {
	const file = save(text);
	let shown;
	for (const key of keys) {
		const ours = program("check-manifest", file, "--key", key, "--json");
		assert.equal(ours.code, 0, ours.stdout + ours.stderr);
		const theirs = script(file, key);
		assert.equal(theirs.status, 0, theirs.stdout + theirs.stderr);
		shown = { ...JSON.parse(ours.stdout).shown, said: theirs.stdout };
	}
	return shown;
}

function assertBad(text, key, check, reason) {
	const file = save(text);
	const ours = program("check-manifest", file, "--key", key, "--json");
	assert.equal(ours.code, 1, ours.stdout + ours.stderr);
	const { failed } = JSON.parse(ours.stdout);
	assert.equal(failed.check, check, failed.reason);
	assert.match(failed.reason, reason);
	const theirs = script(file, key);
	assert.equal(theirs.status, 1, theirs.stdout + theirs.stderr);
	assert.match(theirs.stdout, new RegExp(`^BAD: ${check}: .*${reason.source}`));
}

before(async () => {
	service = await new Service({ build: "debug", worker: false }).start();
	w = provision(service, "acme");
	auditor = auditorKey(service, "acme", { scopes });
	first = keyOf(publicKey(service, place));
	action = (await created()).uid;
	earlier.push(await exported("action", action));
	earlier.push(await exported("workspace", "acme"));
	rotation = service.ctl("acme", "ledger rotate-key");
	second = rotation.public_key;
});

after(close);
// The checks take longer than the server keeps an idle connection open.
beforeEach(close);

test("manifests of before the rotation stay what they are", async () => {
	for (const { uid, text, json, made } of earlier) {
		assert.equal((await read(`${exportsPath}/${uid}`)).text, text);
		assertManifest(json, first);
		assert.deepEqual(assertGood(text, first).not_checked,
			["proof.path", "uid"]);
		assert.deepEqual(assertGood(made, first).not_checked,
			["proof.path", "evidence.event_hash", "evidence.signature",
				"evidence.commit", "uid"]);
		assertBad(text, second, "key", /not the one given/);
	}
});

test("manifests of after it hold with either key", async () => {
	const next = (await created()).uid;
	for (const [type, id] of [["action", action], ["action", next],
		["workspace", "acme"]]) {
		const { text, json } = await exported(type, id);
		assertManifest(json, first, { keys: 2 });
		assert.equal(assertGood(text, first, second).void, 0);
		assert.equal(program("check-manifest", save(text),
			...given(stranger, first)).code, 0);
		assertBad(text, stranger, "key", /not the one given/);
	}
});

const pack = async (seq) => {
	const { status: code, bytes } = await read(`/api/v2/ledger/packs/${seq}`);
	assert.equal(code, 200);
	return save(bytes);
};
const checkPack = (file, ...keys) => {
	const r = program("check-proof", file, "--json", ...given(...keys));
	return { code: r.code, ...JSON.parse(r.stdout) };
};

test("packs of before, of the rotation itself, and after", async () => {
	const last = (await created()).evidence.seq;
	for (const [seq, own, other, reason] of [
		[rotation.seq - 1, first, second, /by another key, /],
		[rotation.seq, first, second, /by another key of the ledger, /],
		[last, second, first, /by another key of the ledger, /]]) {
		const file = await pack(seq);
		const good = checkPack(file, own);
		assert.equal(good.code, 0, JSON.stringify(good.failed));
		assert.equal(checkPack(file).shown.public_key, own);
		assert.equal(checkPack(file, stranger, other, own).code, 0);
		assert.match(checkPack(file, stranger, other).failed.reason,
			/give that key with another --key/);
		const bad = checkPack(file, other);
		assert.equal(bad.code, 1);
		assert.equal(bad.failed.check, "commit");
		assert.match(bad.failed.reason, reason);
		assert.ok(bad.failed.reason.includes(fingerprint(own)), bad.failed.reason);
	}
});

test("a list is complete by the key in force", async () => {
	const { text, json } = await read(
		"/api/v2/ledger/records?kind=action&proof=complete");
	checkComplete(json, second);
	const file = save(text);
	const check = (...keys) => {
		const r = program("check-complete", file, "--json", ...given(...keys));
		return { code: r.code, ...JSON.parse(r.stdout) };
	};
	assert.equal(check(second).code, 0);
	assert.equal(check(first, second).code, 0);
	const { code, failed } = check(first);
	assert.deepEqual([code, failed.check], [1, "commit"]);
	assert.ok(failed.reason.includes(fingerprint(second)), failed.reason);
});

const scrub = () => service.ctl("acme", "ledger scrub", { rate: 1000 });
const folder = () => join(service.state, "ledgers/acme/sandbox");

async function assertWhole() {
	const mirror = join(service.dir, "home", `mirror-${files++}.git`);
	const made = service.run("git", ["init", "-q", "--bare",
		"--initial-branch=main", mirror]);
	assert.equal(made.code, 0, made.stderr);
	service.ctl("acme", "ledger mirror", { to: mirror });
	assert.deepEqual(scrub().damage, []);
	const commit = service.run("git", ["-C", service.ledger("acme"), "rev-parse",
		"main~1:events"]).stdout.trim();
	const loose = join(service.ledger("acme"), "objects", commit.slice(0, 2),
		commit.slice(2));
	rmSync(loose);
	assert.throws(scrub, /1 damage is there/);
	const healed = service.ctl("acme", "ledger heal", { from: mirror });
	assert.deepEqual([healed.mended.length, healed.left], [1, []]);
	await service.stop();
	for (const name of readdirSync(folder()).filter((n) => n.startsWith("state.db")))
		rmSync(join(folder(), name));
	assert.deepEqual(scrub().damage, []);
	assert.equal(audit(service, place).code, 0);
	await service.start();
}

test("scrub and heal know both keys", assertWhole);

test("another key in the key's place signs nothing", async () => {
	const path = join(service.keys, "acme/sandbox/signing.key");
	const away = join(service.dir, "home/signing.key");
	await created();
	const { size } = status();
	renameSync(path, away);
	const other = execFileSync("openssl", ["genpkey", "-algorithm", "ed25519"]);
	writeFileSync(path, other, { mode: 0o600 });
	service.own(path);
	// Whoever has opened the ledger with its key goes on with that.
	assert.equal((await created()).evidence.seq, size);
	await service.restart();
	const reply = await create();
	assertProblem(reply, 503, "unavailable");
	assert.equal(service.run("git", ["-C", service.ledger("acme"), "log", "-1",
		"--format=%(trailers:key=Ledger-Size,valueonly)", "main"]).stdout.trim(),
	String(size + 1));
	assert.throws(status, (e) => e.code === 3 && /put it there/.test(e.stderr));
	rmSync(path);
	renameSync(away, path);
	const { evidence } = await created();
	assert.equal(evidence.seq, size + 1);
	assert.equal(audit(service, place).code, 0);
});

// Whatever an operator did to them, the client's credential is right.
test("broken and lost key files are no client's fault", async () => {
	for (const [name, content] of [["signing.key", "junk\n"],
		["fingerprint.key", "junk\n"], ["fingerprint.key", null]]) {
		const path = join(service.keys, "acme/sandbox", name);
		const away = join(service.dir, "home", name);
		renameSync(path, away);
		if (content) {
			writeFileSync(path, content, { mode: 0o600 });
			service.own(path);
		}
		await service.restart();
		const reply = await create();
		assertProblem(reply, 503, "unavailable");
		assert.ok(!reply.text.includes(service.dir), reply.text);
		assert.ok(service.log("fcgi").includes(path), service.log("fcgi"));
		rmSync(path, { force: true });
		renameSync(away, path);
		assert.ok((await created()).evidence.seq > 0);
	}
});

// The service's own manifest with another predicate, signed by its key.
function resigned(json, change) {
	const { manifest } = structuredClone(json);
	change(manifest.predicate);
	const payload = Buffer.from(canonical(manifest));
	const key = createPrivateKey(readFileSync(
		join(service.keys, "acme/sandbox/manifest.key")));
	return JSON.stringify({ payload: payload.toString("base64"), payloadType,
		signatures: [{ keyid: json.envelope.signatures[0].keyid,
			sig: sign(null, pae(payloadType, payload), key).toString("base64") }] });
}

test("void events are counted in a complete manifest, and refused in another",
	async () => {
		const good = status().size, lost = await created();
		const { seq } = lost.evidence;
		rmSync(join(service.keys, "acme/sandbox/signing.key"));
		const { public_key: third } = service.ctl("acme", "ledger revoke-key",
			{ "last-good": good });
		await created();
		const keys = [first, second, third];
		const whole = await exported("workspace", "acme");
		assertManifest(whole.json, first, { keys: 4 });
		const shown = assertGood(whole.text, ...keys);
		assert.deepEqual([shown.complete, shown.void], [true, 1]);
		assert.match(shown.said, /^1 of the events are void/m);
		assertGood((await exported("action", action)).text, ...keys);
		const refused = await send(service, "POST", exportsPath, { key: auditor,
			body: { scope_type: "action", scope_id: lost.uid } });
		assert.equal(refused.status, 422, refused.text);
		const leaves = whole.json.manifest.predicate.evidence.map(({ line }) =>
			leafOf(Buffer.from(line.slice(line.indexOf(" ") + 1))));
		const only = (n) => resigned(whole.json, (p) => {
			p.log.complete = false;
			p.events = [p.events[n]];
			p.evidence = [{ ...p.evidence[n],
				path: pathOf(n, leaves).map((h) => h.toString("base64")) }];
		});
		assertGood(only(seq - 1), first, third);
		assertBad(only(seq), first, "event", /is void/);
		// A void event's numbers mean no record of today.
		const { events, evidence } = whole.json.manifest.predicate;
		assert.equal(eventOf(evidence[seq].line).type, "action.created");
		const kinds = (n) => events[n].inputs.map(({ name }) => name.split("/")[0]);
		assert.ok(kinds(seq + 2).includes("connector"));
		assert.ok(!kinds(seq).includes("connector"));
		const revoking = await pack(seq + 1);
		const recovery = checkPack(revoking);
		assert.equal(recovery.code, 0, JSON.stringify(recovery.failed));
		assert.ok(!keys.includes(recovery.shown.public_key));
		assert.equal(checkPack(await pack(seq + 2), third).code, 0);
	});

test("scrub and heal know the revocation", assertWhole);

test("closed after all that; the successor's key is rotated too", async () => {
	const origin = "ledger.example.com/acme/sandbox/2";
	const { closed } = service.ctl("acme", "ledger close --yes",
		{ successor: origin });
	assert.equal(closed.number, 1);
	const old = join(service.state, "ledgers/acme/sandbox.closed/1/ledger.git");
	assert.ok(existsSync(old));
	w = provision(service, "acme", { create: false });
	const opened = keyOf(publicKey(service, place));
	const changed = service.ctl("acme", "ledger rotate-key");
	assert.equal(changed.old_key, opened);
	await created();
	assert.equal(audit(service, place, null, ["--continues", old]).code, 0);
	const byOpened = program("verify", service.ledger("acme"), "--key", opened,
		"--continues", old);
	assert.equal(byOpened.code, 0, byOpened.stdout + byOpened.stderr);
	const r = verifyOffline(service, place, null, ["--continues", old]);
	assert.equal(r.code, 0, r.stdout.slice(-1000) + r.stderr);
	assert.equal(program("verify", old, "--key", first).code, 0);
});

test("the ledger verifies, and its read model rebuilds the same",
	{ timeout: 600000 }, () => finish(service));
