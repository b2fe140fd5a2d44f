// Evidence files: made by probity-audit from a clone, and by hand; accepted by
// check-proof and by scripts/check-proof.sh, both without a network; and with
// any part of them changed refused by both.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { close, paths, send } from "./support/client.mjs";
import { finish, publicKey } from "./support/evidence.mjs";
import { makeEvents, makeEvidence, makeKey, offline, script }
	from "./support/proof.mjs";
import { top } from "./support/places.mjs";
import { Service } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const place = { workspace: "acme", environment: "sandbox" };
const dir = mkdtempSync(join(tmpdir(), "probity-proof-"));
const origin = "ledger.example.com/acme/sandbox";
const downloaded = [];
let service, program, clone, key, size, evidence, number = 0;

const audit = (...args) => offline([program, ...args], { env: service.environment });
const save = (content) => {
	const file = join(dir, `file-${number++}`);
	writeFileSync(file, typeof content === "string" || Buffer.isBuffer(content)
		? content : JSON.stringify(content));
	return file;
};
const lineOf = (seq) => audit("show", clone, String(seq)).stdout
	.split("\n").find((line) => /^\S+ \{"actor"/.test(line));

before(async () => {
	service = await new Service({ build: "debug", worker: false }).start();
	program = join(service.bin, "probity-audit");
	const w = provision(service, "acme");
	service.ctl("acme", "connector add", { kind: "sandbox", modes: "sandbox",
		name: 'Société "Quote" \\ back\\slash /é€😀' });
	for (let i = 0; i < 5; i++)
		assert.equal((await send(service, "POST", paths.create, { key: w.key,
			body: actionBody(w), headers: { "Idempotency-Key": `proof-${i}` } }))
			.status, 201);
	await download();
	await service.stop();
	clone = join(service.dir, "clone.git");
	assert.equal(service.run("git", ["clone", "-q", "--bare",
		service.ledger("acme"), clone]).code, 0);
	key = publicKey(service, place).split(" ").slice(0, 2).join(" ");
	evidence = prove(Math.floor(size / 2));
});
// As the service gives it out.
async function download() {
	const application = service.ctl("acme", "application create", { name: "auditor",
		responsible: "b@example.com", scopes: "trust:read",
		entitlements: "core-platform" });
	const { key: credential } = service.ctl("acme", "credential issue",
		{ application: application.uid });
	size = service.ctl("acme", "ledger status").size;
	for (const query of [`0?size=${size - 4}`, "5", String(size - 1)]) {
		const reply = await send(service, "GET",
			`/api/v2/ledger/evidence/${query}`, { key: credential });
		assert.equal(reply.status, 200, reply.text);
		downloaded.push(reply.text);
	}
}

after(() => {
	rmSync(dir, { recursive: true });
	close();
});

function prove(seq, ...options) {
	const { status, stdout, stderr } = audit("prove", clone, String(seq), ...options);
	assert.equal(status, 0, stderr);
	return JSON.parse(stdout);
}

function assertAccepted(file, pinned = key) {
	const ours = audit("check-proof", file, "--key", pinned);
	assert.equal(ours.status, 0, ours.stdout + ours.stderr);
	const theirs = script(file, pinned);
	assert.equal(theirs.status, 0, theirs.stdout + theirs.stderr);
	assert.equal(theirs.stdout, ours.stdout);
}

// wanted: the failing check and what its reason says.
function assertRefused(content, [check, reason], pinned = key) {
	const file = save(content);
	const ours = audit("check-proof", file, "--json",
		...(pinned ? ["--key", pinned] : []));
	assert.equal(ours.status, 1, ours.stdout + ours.stderr);
	const { good, shown, failed } = JSON.parse(ours.stdout);
	assert.deepEqual([good, shown, failed.check], [false, null, check], failed.reason);
	assert.match(failed.reason, reason);
	const theirs = script(file, ...(pinned ? [pinned] : []));
	assert.equal(theirs.status, 1, theirs.stdout + theirs.stderr);
	assert.match(theirs.stdout, /^BAD: \w+: /);
}

test("first, middle and last event, against several checkpoints", () => {
	for (const seq of [0, 1, Math.floor(size / 2), size - 1])
		for (const options of [[], ["--size", String(seq + 1)],
			["--size", String(Math.floor((seq + 1 + size) / 2))]]) {
			const file = save(prove(seq, ...options));
			assertAccepted(file);
			const { shown } = JSON.parse(audit("check-proof", file, "--json").stdout);
			assert.equal(shown.seq, seq);
			assert.ok(shown.size >= Number(options[1] ?? size));
		}
});

test("the service's file is the one made from a clone", () => {
	const options = [["0", "--size", String(size - 4)], ["5"], [String(size - 1)]];
	options.forEach((args, i) => {
		assert.equal(audit("prove", clone, ...args).stdout, downloaded[i]);
		assertAccepted(save(downloaded[i]));
	});
});

test("every event, by both, with the text as it is", () => {
	let quoted = 0;
	for (let seq = 0; seq < size; seq++) {
		const file = save(prove(seq));
		const { line } = JSON.parse(readFileSync(file, "utf8"));
		assert.equal(line, lineOf(seq));
		quoted += line.includes('"Quote\\" \\\\ back\\\\slash');
		if (line.includes("Quote") || seq % 7 === 0) assertAccepted(file);
	}
	assert.ok(quoted > 0);
});

test("what is shown", () => {
	const file = save(evidence);
	const event = JSON.parse(evidence.line.replace(/^\S+ /, ""));
	const { good, key_given, shown, failed } = JSON.parse(
		audit("check-proof", file, "--json", "--key", key).stdout);
	assert.deepEqual({ good, key_given, failed },
		{ good: true, key_given: true, failed: null });
	assert.deepEqual(shown.subject, event.subject);
	for (const name of ["ledger", "seq", "at", "type"])
		assert.equal(shown[name], event[name]);
	assert.equal(shown.size, size);
	assert.equal(shown.event_key.public_key, key);
	const alone = audit("check-proof", file);
	assert.equal(alone.status, 0);
	assert.match(alone.stdout, /The key was taken from the file itself/);
	const print = service.run("ssh-keygen", ["-l", "-f", "-"],
		{ input: `${key}\n` }).stdout.split(" ")[1];
	assert.ok(alone.stdout.includes(`  key      ${print}\n`));
	assert.match(script(file).stdout, /The key was taken from the file itself/);
	// Not a word of another event.
	assert.equal(readFileSync(file, "utf8").match(/\\"actor\\":/g).length, 1);
});

test("made by hand, in trees of every form, with every kind of escape", () => {
	const text = '\u0001\u001f\b\t\n\f\r"\\\\"\\u0041/\u007f\u0080é\u2028😀';
	const ours = makeKey(7, origin);
	for (const n of [1, 2, 3, 6, 7, 8]) {
		const events = makeEvents(n, origin, text);
		for (let i = 0; i < n; i++) {
			const file = save(makeEvidence(events, i, origin, ours));
			const r = audit("check-proof", file, "--key", ours.row.public_key);
			assert.equal(r.status, 0, r.stdout);
			const s = script(file, ours.row.public_key);
			assert.equal(s.stdout, r.stdout);
		}
	}
});

// One bit of a base64 text, counted in the decoded bytes.
function flip(text, byte) {
	const bytes = Buffer.from(text, "base64");
	bytes[byte < 0 ? bytes.length + byte : byte] ^= 4;
	return bytes.toString("base64");
}
const parts = () => {
	const [top, note] = [evidence.proof.slice(0, evidence.proof.indexOf("\n\n")),
		evidence.proof.slice(evidence.proof.indexOf("\n\n") + 2)];
	return { head: top.split("\n").slice(0, 2), path: top.split("\n").slice(2),
		note: note.split("\n") };
};
const withProof = (change) => {
	const p = parts();
	change(p);
	return { ...evidence, proof: [...p.head, ...p.path, "", ...p.note].join("\n") };
};
const withLine = (change) => {
	const sp = evidence.line.indexOf(" ");
	return { ...evidence, line: change(evidence.line.slice(0, sp),
		evidence.line.slice(sp + 1)) };
};

test("a changed line", () => {
	assertRefused(withLine((s, e) => `${flip(s, 10)} ${e}`), ["event", /signature is bad/]);
	assertRefused(withLine((s, e) => `${flip(s, 0)} ${e}`), ["event", /no signature by/]);
	assertRefused(withLine((s, e) => `${s},${s} ${e}`), ["event", /more than one/]);
	assertRefused(withLine((s, e) => `${s} ${e.replace(/"data":\{"(.)/,
		'"data":{"x$1')}`), ["event", /./]);
	assertRefused(withLine((s, e) => `${s} ${e.replace('"at":"2', '"at":"3')}`),
		["event", /signature is bad/]);
	assertRefused(withLine((s, e) => `${s} ${e} `), ["event", /./]);
	assertRefused(withLine((s, e) => `${s} ${e}\n`), ["event", /./]);
	assertRefused(withLine((s, e) => e), ["event", /./]);
	assertRefused(withLine(() => ""), ["event", /./]);
});

test("a changed path", () => {
	const { path } = parts();
	assert.ok(path.length > 3);
	path.forEach((_, i) => assertRefused(withProof((p) =>
		{ p.path[i] = flip(p.path[i], 31); }), ["proof", /not in the tree of/]));
	assertRefused(withProof((p) => p.path.pop()), ["proof", /not in the tree of/]);
	assertRefused(withProof((p) => p.path.push(p.path[0])), ["proof", /not in the tree/]);
	assertRefused(withProof((p) => p.path.reverse()), ["proof", /not in the tree of/]);
	assertRefused(withProof((p) => { p.path[0] = "AAAA"; }), ["format", /a hash/]);
});

test("a changed index or checkpoint", () => {
	const seq = JSON.parse(evidence.line.replace(/^\S+ /, "")).seq;
	assertRefused(withProof((p) => { p.head[1] = `index ${seq ^ 1}`; }),
		["event", /the event is number/]);
	assertRefused(withProof((p) => { p.head[1] = `index 0${seq}`; }),
		["format", /no index/]);
	assertRefused(withProof((p) => { p.note[0] += "x"; }),
		["checkpoint", /another ledger/]);
	assertRefused(withProof((p) => { p.note[1] = String(size ^ 1); }),
		["checkpoint", /signature is bad/]);
	assertRefused(withProof((p) => { p.note[1] = "0"; }),
		["checkpoint", /empty ledger/]);
	assertRefused(withProof((p) => { p.note[2] = flip(p.note[2], 0); }),
		["checkpoint", /signature is bad/]);
	assertRefused(withProof((p) => {
		p.note[4] = p.note[4].replace(/\S+$/, (s) => flip(s, -1));
	}), ["checkpoint", /signature is bad/]);
	assertRefused(withProof((p) => p.note.splice(4, 1)), ["checkpoint", /./]);
	const old = JSON.parse(JSON.stringify(prove(seq, "--size", String(seq + 1))));
	assertRefused(withProof((p) => {
		p.note = old.proof.slice(old.proof.indexOf("\n\n") + 2).split("\n");
	}), ["proof", /not in the tree of/]);
});

test("a swapped event", () => {
	const seq = JSON.parse(evidence.line.replace(/^\S+ /, "")).seq;
	const line = lineOf(seq + 1);
	assertRefused({ ...evidence, line }, ["event", /the event is number/]);
	assertRefused({ ...withProof((p) => { p.head[1] = `index ${seq + 1}`; }), line },
		["proof", /not in the tree of/]);
});

test("another key", () => {
	const other = makeKey(9, evidence.ledger);
	const keys = [other.row];
	assertRefused({ ...evidence, keys }, ["key", /not the one given/]);
	assertRefused({ ...evidence, keys }, ["event", /no signature by/], null);
	assertRefused(evidence, ["key", /not the one given/], other.row.public_key);
	const [row] = evidence.keys;
	for (const [changes, reason] of [
		[{ key_id: "00000000" }, /key_id is not that/],
		[{ public_key: other.row.public_key }, /key_id is not that/],
		[{ from_seq: 1 }, /do not follow/], [{ until_seq: -1 }, /until_seq/],
		[{ until_seq: "0" }, /until_seq/]])
		assertRefused({ ...evidence, keys: [{ ...row, ...changes }] },
			["format", reason]);
	assertRefused({ ...evidence, keys: [{ ...row, until_seq: 0 }] },
		["key", /no key was in force/]);
	assertRefused({ ...evidence, keys: [] }, ["format", /keys is not/]);
	assertRefused({ ...evidence, keys: [row, row] }, ["format", /do not follow/]);
	// A forger's own ledger agrees with itself; only the key tells.
	const seq = JSON.parse(evidence.line.replace(/^\S+ /, "")).seq;
	const forged = makeEvidence(makeEvents(size, evidence.ledger, "x"), seq,
		evidence.ledger, other);
	assertRefused(forged, ["key", /not the one given/]);
	assert.equal(audit("check-proof", save(forged)).status, 0);
});

test("another form", () => {
	const text = JSON.stringify(evidence);
	const { format, ...rest } = evidence;
	for (const bad of [`${text}\n`, ` ${text}`, text.replace(",", ", "), "", "{}",
		"[]", "null", JSON.stringify({ ...rest, format }), JSON.stringify(rest),
		JSON.stringify({ ...evidence, more: 1 }),
		text.replace("/v1", "/v2"), text.replace("index", "\\u0069ndex"),
		text.replaceAll("/", "\\/"), text.slice(0, -1), text + text,
		text.replace("\\n", "\\u000a"), text.replace("\\n", "\n"),
		text.replace("\\n", "\\u0000"), text.replace("\\n", "\\r\\n"),
		JSON.stringify({ ...evidence, ledger: "a b" }), "\0", "{".repeat(5000)])
		assertRefused(bad, ["format", /./]);
	assertRefused({ ...evidence, ledger: `${evidence.ledger}x`, keys:
		[makeKey(7, `${evidence.ledger}x`).row] }, ["event", /another ledger/], null);
	const big = save(Buffer.alloc(600000, 0x20));
	assert.equal(audit("check-proof", big).status, 3);
	assert.equal(script(big).status, 3);
});

test("any bit of the file", () => {
	const bytes = Buffer.from(JSON.stringify(evidence));
	const step = Math.floor(bytes.length / 53);
	for (let i = 0; i < bytes.length; i += step) {
		const changed = Buffer.from(bytes);
		changed[i] ^= 1 << (i % 8);
		const file = save(changed);
		assert.equal(audit("check-proof", file, "--key", key).status, 1, `byte ${i}`);
		assert.equal(script(file, key).status, 1, `byte ${i}`);
	}
});

test("a tlog-proof with the event beside it", () => {
	const file = join(service.dir, "event.tlog-proof");
	service.write(file, "");
	assert.equal(audit("prove", clone, "3", "--tlog-proof", "-o", file).status, 0);
	assert.match(readFileSync(file, "utf8"), /^c2sp\.org\/tlog-proof@v1\nindex 3\n/);
	const line = `${lineOf(3)}\n`;
	const given = audit("check-proof", file, "--key", key, "--event", save(line));
	assert.equal(given.status, 0, given.stdout + given.stderr);
	const piped = (input) => offline([program, "check-proof", file, "--key", key],
		{ input, env: service.environment });
	assert.equal(piped(line).stdout, given.stdout);
	assert.equal(piped(`${lineOf(4)}\n`).status, 1);
	assert.equal(piped(`${line}${line}`).status, 1);
	assert.equal(piped("").status, 1);
	const keyless = audit("check-proof", file, "--event", save(line));
	assert.equal(keyless.status, 2);
	assert.match(keyless.stderr, /give the ledger's with --key/);
	writeFileSync(file, readFileSync(file, "utf8").replace("index 3", "index x"));
	const bad = audit("check-proof", file, "--key", key, "--event", save(line));
	assert.equal(bad.status, 1);
	assert.match(bad.stdout, /^BAD: format: not a tlog-proof/);
	// Damaged at its very beginning it is a damaged file still.
	for (const damaged of [readFileSync(file, "utf8").replace("c2sp", "c3sp"), "",
		JSON.stringify(evidence).replace('"format":', '"formal":')]) {
		const r = audit("check-proof", save(damaged), "--key", key, "--event",
			save(line));
		assert.equal(r.status, 1, r.stderr);
		assert.match(r.stdout, /^BAD: format: neither .* nor a tlog-proof.*damaged/);
	}
});

test("the commands shown in docs/auditing.md", () => {
	const page = readFileSync(join(top, "docs/auditing.md"), "utf8");
	const commands = page.match(/\n {4}sed 's\/\.\*,"line"[^]*?\n(?=\S)/)[0]
		.replace(/^ {4}/gm, "");
	const folder = mkdtempSync(join(dir, "by-hand-"));
	writeFileSync(join(folder, "event.json"), JSON.stringify(evidence));
	writeFileSync(join(folder, "ledger.pub"), `${key}\n`);
	const { stdout, stderr } = offline(["sh", "-ec", `cd ${folder}\n${commands}`]);
	const lines = stdout.trim().split("\n");
	assert.equal(lines.length, 5, stdout + stderr);
	assert.match(lines[0], /^[0-9a-f]{64}  event$/);
	assert.deepEqual([lines[1], lines[2]],
		Array(2).fill("Signature Verified Successfully"));
	assert.equal(lines[3], lines[4]);
	assert.equal(lines[4], parts().note[2]);
});

test("the example of docs/ledger-format.md", () => {
	const page = readFileSync(join(top, "docs/ledger-format.md"), "utf8");
	assertAccepted(save(page.match(/\{"format".*\}/)[0]),
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHm1Vi6P5lT5QHixEuipi6eQH4U65pW+1+DjkQutBJZk");
});

test("usage, and what cannot be proved", () => {
	const prove = (...args) => audit("prove", clone, ...args);
	assert.equal(prove().status, 2);
	assert.equal(prove("x").status, 2);
	assert.equal(prove("0", "--size", String(size + 1)).status, 2);
	assert.match(prove(String(size - 1), "--size", "1").stderr, /give a larger --size/);
	assert.match(prove(String(size)).stderr, /there is no event/);
	assert.equal(prove(String(size)).status, 3);
	assert.equal(audit("prove", join(dir, "none"), "0").status, 3);
	assert.equal(audit("check-proof").status, 2);
	assert.equal(audit("check-proof", join(dir, "none")).status, 3);
	assert.equal(audit("check-proof", save(evidence), "--event", "x").status, 2);
	assert.equal(audit("check-proof", save(evidence), "--key", "x").status, 2);
	for (const name of ["prove", "check-proof"])
		assert.equal(audit(name, "--help").status, 0);
	assert.equal(script().status, 2);
	assert.equal(script(save(evidence), "x").status, 2);
	assert.equal(script("--help").status, 0);
});

test("finish", () => finish(service));
