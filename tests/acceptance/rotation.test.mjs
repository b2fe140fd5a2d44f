// Another key for a ledger, through a real server: rotated while clients write,
// and revoked after its private key was lost. What was given out before holds
// after it, by our tool, by the scripts and by stock git.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { auditorKey } from "./support/auditor.mjs";
import { close, paths, send } from "./support/client.mjs";
import { publicKey } from "./support/evidence.mjs";
import { script } from "./support/proof.mjs";
import { top, user } from "./support/places.mjs";
import { Service } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const place = { workspace: "acme", environment: "sandbox" };
let service, w, auditor, first, receipt, oldEvidence, changed, voidEvents;

const keyOf = (text) => text.trim().split(" ").slice(0, 2).join(" ");
const create = (amount) => send(service, "POST", paths.create,
	{ key: w.key, body: actionBody(w, { amount }) });
const read = (path) => send(service, "GET", path, { key: auditor });
const status = () => service.ctl("acme", "ledger status");
const git = (...args) => service.run("git",
	["-C", service.ledger("acme"), "-c", "gpg.format=ssh", ...args]);
const program = () => join(service.bin, "probity-audit");
const verify = (...more) => service.run(program(),
	["verify", service.ledger("acme"), ...more]);

before(async () => {
	service = await new Service({ build: "debug", worker: false }).start();
	w = provision(service, "acme");
	auditor = auditorKey(service, "acme");
	first = keyOf(publicKey(service, place));
	const reply = await create("0.01");
	assert.equal(reply.status, 201);
	receipt = reply.json.evidence;
	oldEvidence = (await read(`/api/v2/ledger/evidence/${receipt.seq}`)).text;
});

after(close);
// The checks take longer than the server keeps an idle connection open.
beforeEach(close);

const file = (name, text) => {
	const path = join(service.dir, "home", name);
	writeFileSync(path, text);
	return path;
};

function assertBothAccept(name, text, key) {
	const path = file(name, text);
	const ours = service.run(program(), ["check-proof", path, "--key", key]);
	assert.equal(ours.code, 0, ours.stdout + ours.stderr);
	const theirs = script(path, key);
	assert.equal(theirs.status, 0, theirs.stdout + theirs.stderr);
	assert.equal(theirs.stdout, ours.stdout);
}

function assertBothRefuse(name, text, key, reason) {
	const path = file(name, text);
	const ours = service.run(program(), ["check-proof", path, "--key", key]);
	assert.equal(ours.code, 1, ours.stdout + ours.stderr);
	assert.match(ours.stdout, reason);
	const theirs = script(path, key);
	assert.equal(theirs.status, 1, theirs.stdout + theirs.stderr);
	assert.match(theirs.stdout, reason);
}

// Beside the clients, whose replies this process has to read.
const rotateMeanwhile = () => new Promise((done, fail) => execFile(
	join(service.bin, "probityctl"), ["ledger", "rotate-key", "--workspace",
		"acme", "--environment", "sandbox", "--json"],
	{ ...user, cwd: service.dir, env: service.environment },
	(error, stdout, stderr) => error ? fail(new Error(stderr))
		: done(JSON.parse(stdout))));

// The whole ledger, with each of the keys.
function assertVerifies(...keys) {
	for (const key of keys) {
		const r = verify("--key", key);
		assert.equal(r.code, 0, r.stdout + r.stderr);
	}
}

test("rotated while clients write: none sees an error", async () => {
	const statuses = new Set();
	let over = false;
	const client = async () => {
		while (!over) {
			statuses.add((await create("0.01")).status);
			await sleep(100);
		}
	};
	const writing = [client(), client(), client()];
	await sleep(300);
	changed = await rotateMeanwhile();
	await sleep(1500);
	over = true;
	await Promise.all(writing);
	assert.deepEqual([...statuses], [201]);
	assert.equal(changed.old_key, first);
	assert.equal(changed.void_from, null);
	assert.equal(keyOf(status().public_key), changed.public_key);
	const reply = await create("0.02");
	assert.notEqual(reply.json.evidence.key_id, receipt.key_id);
	const { json: body } = await read("/api/v2/ledger/keys");
	assert.deepEqual(body.keys.map((k) => [k.public_key, k.from_seq, k.until_seq]),
		[[first, 0, changed.seq], [changed.public_key, changed.seq + 1, null]]);
	assertVerifies(first, changed.public_key);
});

test("stock git takes each key's commits in its own time only", () => {
	const signers = file("signers", git("cat-file", "blob",
		"main:allowed_signers").stdout);
	const commits = git("rev-list", "main").stdout.trim().split("\n");
	const verifyCommit = (...oids) => git("-c",
		`gpg.ssh.allowedSignersFile=${signers}`, "verify-commit", ...oids);
	const all = verifyCommit(...commits);
	assert.equal(all.code, 0, all.stderr.slice(-2000));
	// The same key with the other's window refuses every commit after it.
	const lines = git("cat-file", "blob", "main:allowed_signers").stdout
		.trim().split("\n");
	assert.equal(lines.length, 2);
	assert.match(lines[0], /valid-before="\d{14}Z"/);
	assert.match(lines[1], /valid-after="\d{14}Z"/);
	const swapped = file("signers", `${lines[0].replace(/ssh-ed25519 .*/,
		changed.public_key)}\n`);
	assert.notEqual(git("-c", `gpg.ssh.allowedSignersFile=${swapped}`,
		"verify-commit", commits[0]).code, 0);
});

test("what was given out before the rotation holds after it", async () => {
	assertBothAccept("old", oldEvidence, first);
	const { json: body } = await read(`/api/v2/ledger/events/${receipt.seq}`);
	assert.equal(body.signature, receipt.signature);
	assert.equal(body.key_id, receipt.key_id);
	assert.equal(body.void, false);
	const kept = file("kept", receipt.checkpoint);
	assertVerifies(first, changed.public_key);
	for (const key of [first, changed.public_key]) {
		const r = verify("--key", key, "--checkpoint", kept);
		assert.equal(r.code, 0, r.stdout + r.stderr);
	}
});

test("evidence shows how one key came after the other", async () => {
	const { text } = await read(`/api/v2/ledger/evidence/${receipt.seq}`);
	const before = await read(
		`/api/v2/ledger/evidence/0?size=${receipt.seq + 1}`);
	const evidence = JSON.parse(text);
	assert.equal(evidence.keys.length, 2);
	assertBothAccept("new", text, first);
	assertBothAccept("new", text, changed.public_key);
	const own = service.run(program(), ["prove", service.ledger("acme"),
		String(receipt.seq)]);
	assert.equal(own.stdout, text);
	assertBothRefuse("new", text, stranger, /not the one given/);
	const other = structuredClone(evidence);
	other.keys[1].line = evidence.line;
	assertBothRefuse("bad", canonical(other), first, /^BAD: key: key number 2/);
	const cut = structuredClone(evidence);
	cut.keys = [{ ...evidence.keys[0], until_seq: null }];
	assertBothRefuse("bad", canonical(cut), first, /^BAD: checkpoint: /);
	assert.equal(JSON.parse(before.text).keys.length, 1);
	assertBothAccept("before", before.text, first);
});

const audit = (...args) => service.run(program(), args);
// The key that the ledger never had.
const stranger = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" +
	"Hm1Vi6P5lT5QHixEuipi6eQH4U65pW+1+DjkQutBJZk";
// The options for these keys.
const given = (...keys) => keys.flatMap((key) => ["--key", key]);

function assertSays({ code, stdout, stderr }, wanted, words) {
	assert.equal(code, wanted, stdout + stderr);
	assert.match(stdout, words);
}

// Event line, as `show` has it.
function lineOf(seq) {
	const r = audit("show", service.ledger("acme"), String(seq), "--json");
	const { signatures, event } = JSON.parse(r.stdout);
	return `${signatures} ${event}\n`;
}

async function keyIds() {
	const { json } = await read("/api/v2/ledger/keys");
	return json.keys.map((k) => k.key_id);
}

test("any of the keys given may have signed a tlog-proof", async () => {
	const second = changed.public_key, [oldId, newId] = await keyIds();
	const proof = file("tlog", audit("prove", service.ledger("acme"),
		String(receipt.seq), "--tlog-proof").stdout);
	const check = (...keys) => audit("check-proof", proof, "--event",
		file("line", lineOf(receipt.seq)), ...given(...keys));
	assertSays(check(first), 1, new RegExp("^BAD: checkpoint: the checkpoint is " +
		`signed by key id ${newId}, which was not given: give that key with ` +
		"another --key\\n"));
	assertSays(check(stranger, second), 1, new RegExp("^BAD: event: the event is " +
		`signed by key id ${oldId}, which was not given`));
	assertSays(check(first, second), 0, /signed by the keys given/);
	assertSays(check(second, stranger, first), 0, /^Good: /);
	const all = file("all", git("cat-file", "blob", "main:allowed_signers").stdout);
	assertSays(check(all), 0, /^Good: /);
	const lines = file("lines", `# both\n${second} new\n\n${first}\n`);
	assertSays(check(lines), 0, /^Good: /);
	assert.equal(check(file("wrong", `${second}\n${first}\nnone\n`)).code, 2);
	// The scripts take such a file, and several keys are pinned as one is.
	assertBothAccept("several", oldEvidence, lines);
	assertBothRefuse("several", oldEvidence, file("two",
		`${stranger}\n${second}\n`), new RegExp(`one of those given: key id ${oldId}`));
	assertSays(verify(...given(stranger, second, first)), 0, /^Good: /);
	assertSays(verify("--key", lines, "--from", String(changed.seq)), 0, /^Good: /);
});

test("a checkpoint of another key is named, and taken with its key", async () => {
	const [, newId] = await keyIds();
	const note = (await read("/api/v2/ledger/checkpoint")).json.checkpoint;
	const path = file("newest", note);
	const missing = new RegExp("^BAD: checkpoint: the checkpoint is signed by key " +
		`id ${newId}, which was not given`);
	const check = (...keys) => audit("check-checkpoint", path, ...given(...keys));
	assertSays(check(first), 1, missing);
	assertSays(check(first, changed.public_key), 0, /^Good: /);
	const forged = file("forged", note.replace(/\n\d+\n/, "\n9\n"));
	assertSays(audit("check-checkpoint", forged, ...given(first, changed.public_key)),
		1, /^BAD: checkpoint: the checkpoint's signature is bad/);
	const tiles = join(service.dir, "home/tiles");
	mkdirSync(tiles);
	file("tiles/checkpoint", note);
	assertSays(audit("check-tiles", tiles, ...given(first)), 1, missing);
	// Its checkpoint is good then, and the first of its tiles is not there.
	assertSays(audit("check-tiles", tiles, ...given(first, changed.public_key)), 1,
		/^BAD: tile: /);
});

test("an event is shown by the key of its time", async () => {
	const repo = service.ledger("acme"), [oldId, newId] = await keyIds();
	const show = (seq, ...more) => audit("show", repo, String(seq), ...more);
	const later = changed.seq + 1, second = changed.public_key;
	assertSays(show(later, "--key", second), 0, /^signature {2}good$/m);
	assertSays(show(later, "--key", first), 0,
		new RegExp(`^signature {2}good, by key id ${newId}, to which`, "m"));
	assertSays(show(receipt.seq, "--key", second), 0,
		new RegExp(`^signature {2}good, by key id ${oldId}, to which`, "m"));
	assertSays(show(later, "--key", stranger), 1,
		new RegExp(`^signature {2}missing: .*key id ${newId}.*not the key given`, "m"));
	const shown = JSON.parse(show(later, "--json", "--key", first).stdout);
	assert.deepEqual([shown.signature, shown.key_id, shown.reason, shown.void],
		["good", newId, null, false]);
});

// A copy of the ledger that ends before the rotation.
function rewound() {
	const copy = join(service.dir, "home/rewound.git");
	assert.equal(service.run("git", ["clone", "-q", "--bare",
		service.ledger("acme"), copy]).code, 0);
	const at = git("rev-list", "--reverse", "main").stdout.split("\n")[2];
	assert.equal(service.run("git", ["-C", copy, "update-ref", "refs/heads/main",
		at]).code, 0);
	return { repo: copy, size: Number(git("log", "-1",
		"--format=%(trailers:key=Ledger-Size,valueonly)", at).stdout) };
}

test("a ledger rewound to before the rotation is cut short", async () => {
	const { repo, size } = rewound(), [, newId] = await keyIds();
	const kept = file("now", (await read("/api/v2/ledger/checkpoint"))
		.json.checkpoint);
	const unknown = new RegExp(`^BAD: event ${size}: consistency: the kept ` +
		`checkpoint of \\d+ events is signed by key id ${newId}, unknown to this ` +
		`history of ${size}: that was cut short before the key came in force`);
	const short = new RegExp(`^BAD: event ${size}: consistency: the history was cut ` +
		`short: it has ${size} events, the kept checkpoint \\d+`);
	const both = file("both", `${first}\n${changed.public_key}\n`);
	for (const [key, words] of [[first, unknown], [both, short]]) {
		assertSays(audit("verify", repo, "--key", key, "--checkpoint", kept), 1, words);
		assertSays(service.run(join(top, "scripts/verify.sh"), [repo, key, kept]), 1,
			words);
	}
	assertSays(audit("verify", repo, ...given(first, changed.public_key),
		"--checkpoint", kept), 1, short);
});

// Members are in order already: they were read from canonical JSON.
const canonical = (v) => JSON.stringify(v);

test("a lost key is revoked; what came after the last good size is void",
	async () => {
		const good = status();
		const lost = await create("0.03");
		assert.equal(lost.status, 201);
		const { seq } = lost.json.evidence;
		const lostEvidence = (await read(`/api/v2/ledger/evidence/${seq}`)).text;
		rmSync(join(service.keys, "acme/sandbox/signing.key"));
		const revoked = service.ctl("acme", "ledger revoke-key",
			{ "last-good": good.size });
		assert.equal(revoked.old_key, changed.public_key);
		assert.equal(revoked.void_from, good.size);
		const next = await create("0.04");
		assert.equal(next.status, 201, next.text);
		assert.equal((await read(`/api/v2/ledger/events/${seq}`)).json.void, true);
		assert.equal((await read(`/api/v2/ledger/events/${receipt.seq}`))
			.json.void, false);
		const { data } = (await read(
			`/api/v2/ledger/events?from=${good.size - 1}&limit=200`)).json;
		assert.deepEqual(data.filter((e) => e.void).map((e) => e.seq),
			data.map((e) => e.seq).filter((n) => n >= good.size && n < revoked.seq));
		const voided = (await read(`/api/v2/ledger/evidence/${seq}`)).text;
		const after = (await read(
			`/api/v2/ledger/evidence/${next.json.evidence.seq}`)).text;
		assertVerifies(first, changed.public_key, revoked.public_key);
		assertBothAccept("earlier", lostEvidence, first);
		assertBothRefuse("void", voided, first, /is void/);
		assertBothAccept("after", after, first);
		assertBothAccept("after", after, revoked.public_key);
		voidEvents = { from: good.size, seq, revocation: revoked.seq };
	});

test("the auditor is told what is void", () => {
	const { from, seq, revocation } = voidEvents, repo = service.ledger("acme");
	assert.ok(seq >= from && seq < revocation);
	assertSays(verify("--key", first), 0, voidLine());
	const verdict = JSON.parse(verify("--key", first, "--json").stdout);
	assert.deepEqual([verdict.good, verdict.void], [true,
		[{ from_seq: from, until_seq: revocation - 1, revoked_by: revocation }]]);
	for (const order of [[], ["--after", String(from - 2)]]) {
		const log = audit("log", repo, "--json", ...order).stdout.trim().split("\n")
			.map(JSON.parse);
		const voids = log.filter((it) => it.void).map((it) => it.seq);
		assert.deepEqual(voids.sort((a, b) => a - b), Array.from(
			{ length: revocation - from }, (_, i) => from + i));
		assert.ok(log.some((it) => it.void === false));
	}
	assert.match(audit("log", repo, "--after", String(seq - 1), "--limit", "1").stdout,
		/^ +\d+ .*action\.created \(void\) /);
	const shown = audit("show", repo, String(seq), "--key", changed.public_key);
	assertSays(shown, 0, new RegExp(`^signature {2}good$\\nvoid {7}event ${revocation
	} revokes the key from event ${from} on$`, "m"));
	const known = audit("show", repo, String(receipt.seq), "--key", first);
	assert.doesNotMatch(known.stdout, /^void/m);
});

const voidLine = () => new RegExp(`^${voidEvents.revocation - voidEvents.from
} events from seq ${voidEvents.from} are void: event ${voidEvents.revocation
} revokes the key`, "m");

test("verify.sh agrees", { timeout: 600000 }, () => {
	const r = service.run(join(top, "scripts/verify.sh"),
		[service.ledger("acme"), first]);
	assertSays(r, 0, voidLine());
});
