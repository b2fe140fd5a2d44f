// Lineage manifests, made by hand, and git packs, as the service gives them out
// and as probity-audit makes them: accepted by check-manifest, check-proof and
// scripts/check-manifest.sh without a network, refused with any part changed,
// and checked in memory that does not grow with the file.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync,
	writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { auditorKey } from "./support/auditor.mjs";
import { close, paths, send } from "./support/client.mjs";
import { finish, publicKey } from "./support/evidence.mjs";
import { canonical, makeEnvelope, makeLedger, makeManifest, makeManifestKey,
	makeReply, makeStatement, script } from "./support/manifest.mjs";
import { makeKey, offline } from "./support/proof.mjs";
import { buildFolder, top } from "./support/places.mjs";
import { Service } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const place = { workspace: "acme", environment: "sandbox" };
const origin = "ledger.example.com/acme/sandbox";
const dir = mkdtempSync(join(tmpdir(), "probity-manifest-"));
const ledger = makeLedger(11, { origin, text: 'é😀"\\\u0001\u2028' });
const pinned = ledger.key.row.public_key;
let service, program, clone, key, packs, number = 0;

const audit = (...args) => offline([program, ...args], { env: service.environment });
const save = (content) => {
	const file = join(dir, `file-${number++}`);
	writeFileSync(file, typeof content === "string" || Buffer.isBuffer(content)
		? content : JSON.stringify(content));
	return file;
};

before(async () => {
	service = await new Service({ build: "debug" }).start();
	program = join(service.bin, "probity-audit");
	const w = provision(service, "acme");
	for (let i = 0; i < 3; i++)
		assert.equal((await send(service, "POST", paths.create, { key: w.key,
			body: actionBody(w), headers: { "Idempotency-Key": `m-${i}` } }))
			.status, 201);
	const credential = auditorKey(service, "acme");
	const { size } = service.ctl("acme", "ledger status");
	packs = new Map();
	for (let seq = 0; seq < size;) {
		const { bytes, status, headers } = await send(service, "GET",
			`/api/v2/ledger/packs/${seq}`, { key: credential });
		assert.equal(status, 200);
		packs.set(seq, bytes);
		seq = Number(headers["content-disposition"].match(/-(\d+)\.pack/)[1]) + 1;
	}
	await service.stop();
	clone = join(service.dir, "clone.git");
	assert.equal(service.run("git", ["clone", "-q", "--bare",
		service.ledger("acme"), clone]).code, 0);
	key = publicKey(service, place).split(" ").slice(0, 2).join(" ");
});

after(() => {
	rmSync(dir, { recursive: true });
	close();
});

function assertAccepted(content, ...seqs) {
	const file = save(content);
	const ours = audit("check-manifest", file, "--key", pinned, "--json");
	assert.equal(ours.status, 0, ours.stdout + ours.stderr);
	const theirs = script(file, pinned, ...seqs.map(String));
	assert.equal(theirs.status, 0, theirs.stdout + theirs.stderr);
	const { good, events, shown, failed } = JSON.parse(ours.stdout);
	assert.deepEqual([good, failed], [true, null]);
	assert.ok(theirs.stdout.includes(`  sha256   ${shown.sha256}\n`));
	return { events, ...shown, said: theirs.stdout };
}

// wanted: the failing check, what its reason says, and the event.
function assertRefused(content, [check, reason, seq = null], { by = pinned,
	theirs = true } = {}) {
	const file = save(content);
	const ours = audit("check-manifest", file, "--json", "--key", by);
	assert.equal(ours.status, 1, ours.stdout + ours.stderr);
	const { good, shown, failed } = JSON.parse(ours.stdout);
	assert.deepEqual([good, shown, failed.check, failed.seq],
		[false, null, check, seq], failed.reason);
	assert.match(failed.reason, reason);
	if (!theirs) return;
	const s = script(file, by);
	assert.equal(s.status, 1, s.stdout + s.stderr);
	assert.match(s.stdout, /^BAD: \w+: /);
}

test("the whole of a ledger, and some of its events", () => {
	const whole = assertAccepted(makeManifest(ledger, makeStatement(ledger)));
	assert.deepEqual([whole.events, whole.complete, whole.size, whole.sealed_by],
		[11, true, 11, null]);
	assert.equal(whole.root, ledger.root.toString("hex"));
	assert.deepEqual(whole.scope, { type: "workspace", id: "acme" });
	assert.equal(whole.manifest_key.fingerprint, ledger.manifestKey.id);
	for (const seqs of [[0], [1], [10], [2, 3, 7], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]) {
		const last = seqs.at(-1);
		const some = assertAccepted(
			makeManifest(ledger, makeStatement(ledger, seqs)), last);
		assert.deepEqual([some.events, some.complete], [seqs.length, false]);
		assert.match(some.said, new RegExp(`Good: event ${last} is in`));
	}
	for (const n of [2, 3, 4, 8]) {
		const other = makeLedger(n, { origin, certified: n - 1 });
		assertAccepted(makeManifest(other, makeStatement(other)));
	}
});

test("the service's reply", () => {
	const sealing = makeLedger(13, { origin });
	const text = makeReply(makeManifest(ledger, makeStatement(ledger)), sealing);
	assert.equal(assertAccepted(text).sealed_by, 12);
	const said = audit("check-manifest", save(text), "--key", pinned).stdout;
	assert.match(said, /names event 12 as the one that sealed it/);
	assert.match(said, /Not checked, .*: proof\.path, uid, created_at\./);
	assert.match(script(save(text), pinned).stdout,
		/\nNot checked: created_at, proof, uid\.\n$/);
	assertRefused(text.replace("05:00", "05:01"), ["reply", /generated_at/]);
	assertRefused(text.replace('"COMPLETE"', '"FAIL"'),
		["reply", /manifest is not what the envelope/]);
	assertRefused(text.replace('"manifest_sha256":"', '"manifest_sha256":"0'),
		["reply", /manifest_sha256/]);
	assertRefused(text.replace("index 12", "index 10"), ["reply", /cannot have/],
		{ theirs: false });
	assertRefused(text.replace("index 12", "index x"), ["reply", /no index/],
		{ theirs: false });
	assertRefused(text.replace("sandbox\\n13\\n", "sandbox\\n14\\n"),
		["reply", /signature of the checkpoint/], { theirs: false });
	// A later key, of which the file cannot know, says nothing against it.
	const later = makeLedger(13, { origin, key: makeKey(8, origin) });
	assert.equal(assertAccepted(makeReply(
		makeManifest(ledger, makeStatement(ledger)), later)).sealed_by, null);
});

// What a reader gets from these members must not differ from what is proved.
test("a reply whose members contradict each other", () => {
	const text = makeReply(makeManifest(ledger, makeStatement(ledger)),
		makeLedger(13, { origin }));
	const reply = JSON.parse(text);
	const evidence = { ledger: origin, seq: 12, event_hash: "0".repeat(64),
		signature: "", key_id: ledger.key.row.key_id, commit: "0".repeat(40),
		checkpoint: reply.proof.split("\n\n").slice(1).join("\n\n") };
	const whole = assertAccepted({ ...reply, evidence });
	assert.deepEqual(whole.not_checked, ["proof.path", "evidence.event_hash",
		"evidence.signature", "evidence.commit", "uid", "created_at"]);
	// tamper_manifests.test.mjs has the others.
	for (const other of [{ status: undefined }, { fault: "none" },
		{ scope: { ...reply.scope, more: 1 } }])
		assertRefused({ ...reply, ...other },
			["reply", new RegExp(`\\b${Object.keys(other)[0]}\\b`)]);
	assertRefused({ ...reply, evidence: { ...evidence, key_id: "00000000" } },
		["reply", /key_id/], { theirs: false });
	// Another program wrote it anew.
	assertAccepted(execFileSync("jq", ["-a", "."], { input: text }));
});

// The Statement changed, and signed anew by the manifest key itself.
const changed = (change, seqs) => {
	const statement = makeStatement(ledger, seqs);
	change(statement.predicate, statement);
	return makeManifest(ledger, statement);
};
const flip = (text, byte) => {
	const bytes = Buffer.from(text, "base64");
	bytes[byte] ^= 4;
	return bytes.toString("base64");
};

test("what its own key cannot make good", () => {
	const ours = { theirs: false };
	assertRefused(changed((p) => { p.evidence.pop(); p.events.pop(); }),
		["proof", /holds 10 events of 11/], ours);
	assertRefused(changed((p) => { p.evidence.splice(4, 1); p.events.splice(4, 1); }),
		["proof", /event 4 is left out/, 5], ours);
	assertRefused(changed((p) => p.events.pop()), ["format", /equally many/], ours);
	assertRefused(changed((p) => { p.evidence.reverse(); p.events.reverse(); },
		[3, 4]), ["event", /higher number/, 3], ours);
	assertRefused(changed((p) => { p.evidence[5].line =
		p.evidence[5].line.replace("thing.done", "thing.gone"); }),
	["event", /signature is bad/, 5], ours);
	assertRefused(changed((p) => { p.evidence[5].seq = 6; }),
		["event", /line is of event 5/, 6], ours);
	assertRefused(changed((p) => { p.evidence[1].path[0] =
		flip(p.evidence[1].path[0], 3); }, [3, 4]), ["proof", /not in the tree/, 4], ours);
	for (const [change, reason] of [
		[(e) => { e.run.runId = e.run.runId.replace("9", "8"); }, /runId/],
		[(e) => { e.eventTime = "2026-01-02T03:04:06.000001Z"; }, /eventTime/],
		[(e) => { e.job.name = "thing.gone"; }, /type/],
		[(e) => { e.job.namespace += "x"; }, /namespace/],
		[(e) => { e.outputs[0].name += "0"; }, /outputs/],
		[(e) => { delete e.run; }, /runId/]])
		assertRefused(changed((p) => change(p.events[6])), ["lineage", reason, 6],
			ours);
	assertRefused(changed((p) => { p.log.complete = false; }),
		["proof", /not in the tree/, 0], ours);
	assertRefused(changed((p) => { p.scope.id = "other"; }),
		["format", /subject/], ours);
	// These the script sees as well.
	assertRefused(changed((p) => { p.log.size = 10; }),
		["checkpoint", /not the checkpoint's/]);
	assertRefused(changed((p) => { p.log.root_sha256 = "0".repeat(64); }),
		["checkpoint", /not the checkpoint's/]);
	assertRefused(changed((p) => { p.log.checkpoint =
		p.log.checkpoint.replace("\n11\n", "\n12\n"); }),
	["checkpoint", /signature is bad/]);
	assertRefused(changed((p) => { p.log.key_event.path[1] =
		flip(p.log.key_event.path[1], 0); }), ["proof", /not in the tree/]);
	assertRefused(changed((p) => { p.log.key_event = { line: p.evidence[2].line,
		path: makeStatement(ledger, [2]).predicate.evidence[0].path, seq: 2 }; }),
	["key", /does not certify/]);
	assertRefused(changed((p) => { p.log.keys = [makeKey(8, origin).row]; }),
		["key", /not the one given/]);
	assertRefused(changed((p, s) => { s.predicateType += "x"; }),
		["format", /predicateType/]);
});

test("another key", () => {
	const statement = makeStatement(ledger);
	const other = makeManifestKey(10);
	assertRefused(makeEnvelope(Buffer.from(canonical(statement)), other),
		["signature", /not signed by the key/]);
	assertRefused(makeEnvelope(Buffer.from(canonical(statement)),
		{ ...other, id: ledger.manifestKey.id }), ["signature", /signature is bad/]);
	// One that certifies a key which did not sign that it is this ledger's.
	const lying = makeLedger(4, { origin, manifestKey: { ...makeManifestKey(9),
		sign: (b) => other.sign(b) } });
	assertRefused(makeManifest({ ...lying, manifestKey: makeManifestKey(9) },
		makeStatement(lying)), ["key", /possession/]);
	assertRefused(makeManifest(ledger, statement), ["key", /not the one given/],
		{ by: makeKey(8, origin).row.public_key });
});

test("another form", () => {
	const envelope = makeManifest(ledger, makeStatement(ledger));
	const payload = Buffer.from(envelope.payload, "base64").toString();
	const again = (text) => makeEnvelope(Buffer.from(text), ledger.manifestKey);
	const ours = { theirs: false };
	for (const bad of [` ${payload}`, `${payload}\n`, payload.replace(":", ": "),
		payload.replace('"complete":true', '"complete":true,"complete":true'),
		payload.replace("COMPLETE", "C\\u004fMPLETE"),
		payload.replace('"predicateType"', '"a":1,"predicateType"'),
		payload.slice(0, -1)])
		assertRefused(again(bad), ["format", /byte/], ours);
	for (const bad of ["", "{}", "[]", "null", '{"payload":1}',
		JSON.stringify({ ...envelope, payloadType: "text/plain" })])
		assertRefused(bad, ["format", /./]);
	for (const bad of [JSON.stringify({ ...envelope, more: 1 }),
		`${JSON.stringify(envelope)}x`, JSON.stringify({ ...envelope,
			payload: `${envelope.payload}====` })])
		assertRefused(bad, ["format", /./], ours);
	assertAccepted(again(payload.replace('"scope":', '"rules":[],"scope":')));
});

// 60 MB in less than 200 MB of address space, the program's own included.
test("a large file needs no more memory than a small one", () => {
	const release = join(buildFolder, "release/probity-audit");
	const big = makeLedger(1100, { origin, text: "y".repeat(20000) });
	const envelope = makeManifest(big, makeStatement(big));
	const file = save(makeReply(envelope, makeLedger(1101, { origin })));
	assert.ok(statSync(file).size > 50e6);
	const r = offline(["sh", "-c", 'ulimit -v 200000; exec "$@"', "sh", release,
		"check-manifest", file, "--key", pinned, "--json"],
	{ env: { TMPDIR: dir } });
	assert.equal(r.status, 0, r.stdout + r.stderr);
	assert.equal(JSON.parse(r.stdout).events, 1100);
	assert.ok(readdirSync(dir).every((name) => name.startsWith("file-")));
	rmSync(file);
});

test("packs, as the service gives them and as pack makes them", () => {
	let whole = 0, payloads = 0;
	for (const [seq, bytes] of packs) {
		const r = audit("check-proof", save(bytes), "--key", key, "--json");
		assert.equal(r.status, 0, r.stdout + r.stderr);
		const { shown } = JSON.parse(r.stdout);
		assert.equal(shown.first_seq, seq);
		assert.equal(shown.public_key, key);
		whole += shown.from_event_0;
		payloads += shown.payloads;
		const file = join(service.dir, "home", `made-${seq}.pack`);
		assert.equal(audit("pack", clone, String(seq + shown.events - 1), "-o",
			file).status, 0);
		assert.equal(audit("check-proof", file, "--key", key, "--json").stdout,
			r.stdout);
		const repo = join(service.dir, "home", `unpacked-${seq}.git`);
		mkdirSync(repo);
		execFileSync("git", ["-C", repo, "init", "-q", "--bare"]);
		execFileSync("git", ["-C", repo, "unpack-objects", "-q"],
			{ input: readFileSync(file) });
		assert.equal(execFileSync("git", ["-C", repo, "cat-file", "-t",
			shown.commit], { encoding: "utf8" }), "commit\n");
	}
	assert.equal(whole, 1);
	assert.ok(payloads > 0);
	const [first] = packs.values(), last = [...packs.values()].at(-1);
	const alone = audit("check-proof", save(last));
	assert.equal(alone.status, 0);
	assert.match(alone.stdout, /The key was taken from the pack itself/);
	assert.match(alone.stdout, /does not show the events before/);
	assert.match(audit("check-proof", save(first), "--key", key).stdout,
		/This is the ledger's first batch/);
});

test("a changed pack", () => {
	const bytes = [...packs.values()].at(-1);
	for (let i = 0; i < bytes.length; i += 131) {
		const other = Buffer.from(bytes);
		other[i] ^= 1;
		const r = audit("check-proof", save(other), "--key", key);
		assert.equal(r.status, 1, r.stdout + r.stderr);
	}
	const r = audit("check-proof", save(bytes), "--key", pinned, "--json");
	assert.equal(r.status, 1);
	const { good, shown, failed } = JSON.parse(r.stdout);
	assert.deepEqual([good, shown, failed.check], [false, null, "commit"]);
	assert.match(failed.reason, /signed by another key/);
});

test("the commands shown in docs/auditing.md", () => {
	const page = readFileSync(join(top, "docs/auditing.md"), "utf8");
	const commands = page.match(/\n {4}jq -r \.payload [^]*?\n(?=\S)/)[0]
		.replace(/^ {4}/gm, "");
	const folder = mkdtempSync(join(tmpdir(), "probity-by-hand-"));
	writeFileSync(join(folder, "manifest.json"), JSON.stringify(
		makeManifest(ledger, makeStatement(ledger))));
	const { stdout, stderr } = offline(["sh", "-ec", `cd ${folder}\n${commands}`]);
	assert.match(stdout, /^[0-9a-f]{64}  payload$/m, stderr);
	assert.match(stdout, /^Signature Verified Successfully$/m, stderr);
	rmSync(folder, { recursive: true });
});

test("usage", () => {
	const file = save(makeManifest(ledger, makeStatement(ledger)));
	const run = (...args) => audit("check-manifest", ...args);
	assert.equal(run().status, 2);
	assert.equal(run(file).status, 2);
	assert.equal(run(file, "--key").status, 2);
	assert.equal(run(file, "--key", "x").status, 2);
	assert.equal(run(file, file, "--key", pinned).status, 2);
	assert.equal(run(join(dir, "none"), "--key", pinned).status, 3);
	assert.equal(run(dir, "--key", pinned).status, 2);
	const piped = spawnSync("sh", ["-c", `cat ${file} | ${program} check-manifest ` +
		`/dev/stdin --key '${pinned}'`], { encoding: "utf8",
		env: { ...process.env, ...service.environment } });
	assert.equal(piped.status, 2);
	assert.match(piped.stderr, /in a file, not in a pipe/);
	assert.equal(audit("pack", clone).status, 2);
	assert.equal(audit("pack", clone, "999999").status, 3);
	for (const name of ["check-manifest", "pack"])
		assert.equal(audit(name, "--help").status, 0);
	assert.equal(script().status, 2);
	assert.equal(script(file, "x").status, 2);
	assert.equal(script(join(dir, "none"), pinned).status, 3);
	assert.equal(script("--help").status, 0);
});

test("finish", () => finish(service));
