// probity-audit as an auditor runs it, on the one-batch ledger of
// docs/ledger-format.md, put together by stock git from the frozen bytes.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync }
	from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { buildFolder, top } from "./support/places.mjs";

const vectors = join(top, "tests/vectors/ledger");
const vector = (name) => readFileSync(join(vectors, name));
const dir = mkdtempSync(join(tmpdir(), "probity-audit-"));
const builds = ["release", "debug"].map((b) => join(buildFolder, b, "probity-audit"));
const program = builds.find(existsSync);
const key = vector("allowed_signers").toString().trim().replace(/.*(ssh-)/, "$1");
const hash = "258bd6e9985995f2c8e1827c21d0d64181c157d02bdf191327e67b7272a56b5f";
const root = "1c685baaa798398de1e5d7be79f309221c51db5a8ecbea503c8d7ffdecee25fb";

after(() => rmSync(dir, { recursive: true }));

function makeLedger(name, changed = {}) {
	const repo = join(dir, name);
	const git = (args, input) => execFileSync("git", ["-C", repo, ...args],
		{ input }).toString().trim();
	execFileSync("git", ["init", "-q", "--bare", "-b", "main", repo]);
	const tree = ["allowed_signers", "checkpoint", "events"].map((entry) =>
		`100644 blob ${git(["hash-object", "-w", "--stdin"],
			changed[entry] ?? vector(entry))}\t${entry}\n`).join("");
	const oid = git(["mktree"], tree);
	const commit = vector("commit").toString().replace(/^tree .*/, `tree ${oid}`);
	git(["update-ref", "refs/heads/main",
		git(["hash-object", "-w", "-t", "commit", "--stdin"], commit)]);
	return repo;
}

const run = (...args) => spawnSync(program, args, { encoding: "utf8" });
const good = makeLedger("good.git");

test("a good ledger", () => {
	const { status, stdout } = run("verify", good, "--key", key);
	assert.equal(status, 0);
	assert.match(stdout, /^Good: 1 events in 1 batches, 0 payloads/);
	assert.match(stdout, /cannot be told from/);
	assert.ok(stdout.includes(root) && stdout.includes(hash));
});

test("the verdict as JSON", () => {
	const reply = run("verify", good, "--key", key, "--json");
	const verdict = JSON.parse(reply.stdout);
	assert.deepEqual(Object.keys(verdict), ["good", "events", "batches",
		"payloads", "size", "root", "head", "commit", "origin", "checkpoint",
		"consistent_with", "failed", "void", "closed", "continues", "continued",
		"seconds"]);
	assert.equal(verdict.good, true);
	assert.equal(verdict.root, root);
	assert.equal(verdict.head, hash);
	assert.equal(verdict.checkpoint, vector("checkpoint").toString());
	assert.equal(verdict.failed, null);
	assert.equal(typeof verdict.seconds, "number");
});

test("a key in a file, and in its other forms", () => {
	const file = join(dir, "key.pub");
	writeFileSync(file, `${key} somebody@example.com\n`);
	assert.equal(run("verify", good, "--key", file).status, 0);
	const raw = Buffer.from(key.split(" ")[1], "base64").subarray(-32);
	const note = "ledger.example.com/acme/sandbox+45da4ab4+" +
		Buffer.concat([Buffer.from([1]), raw]).toString("base64");
	assert.equal(run("verify", good, "--key", note).status, 0);
	const spki = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), raw]);
	writeFileSync(file, "-----BEGIN PUBLIC KEY-----\n" +
		`${spki.toString("base64")}\n-----END PUBLIC KEY-----\n`);
	assert.equal(run("verify", good, "--key", file).status, 0);
});

test("a checkpoint is kept and compared", () => {
	const kept = join(dir, "kept");
	const first = run("verify", good, "--key", key, "--checkpoint", kept,
		"--save-checkpoint", kept);
	assert.equal(first.status, 3);
	assert.match(first.stderr, /the first time .*leave out --checkpoint/);
	assert.equal(run("verify", good, "--key", key, "--save-checkpoint", kept)
		.status, 0);
	assert.deepEqual(readFileSync(kept), vector("checkpoint"));
	const again = run("verify", good, "--key", key, "--checkpoint", kept);
	assert.equal(again.status, 0);
	assert.match(again.stdout, /Consistent with the kept checkpoint of 1 events/);
	// jq -r ends what it prints with a line end of its own.
	writeFileSync(kept, `${vector("checkpoint")}\n`);
	for (const command of [["verify", good, "--checkpoint", kept],
		["check-checkpoint", kept]])
		assert.equal(run(...command, "--key", key).status, 0);
	assert.equal(spawnSync(join(top, "scripts/verify.sh"), [good, key, kept])
		.status, 0);
	writeFileSync(kept, `${vector("checkpoint")}\n\n`);
	assert.equal(run("verify", good, "--key", key, "--checkpoint", kept).status, 3);
	writeFileSync(kept, vector("checkpoint").toString().replace("\n1\n", "\n2\n"));
	const forged = run("verify", good, "--key", key, "--checkpoint", kept);
	assert.equal(forged.status, 3);
	assert.match(forged.stderr, /not signed by this key/);
});

test("a changed event", () => {
	const events = vector("events").toString().replace("root", "toor");
	const bad = makeLedger("bad.git", { events });
	const { status, stdout } = run("verify", bad, "--key", key);
	assert.equal(status, 1);
	assert.match(stdout, /^BAD: event 0: commit: the commit's signature is bad/);
	const verdict = JSON.parse(run("verify", bad, "--key", key, "--json").stdout);
	assert.equal(verdict.good, false);
	assert.deepEqual(verdict.failed, { seq: 0, check: "commit",
		reason: "the commit's signature is bad" });
	assert.equal(run("show", bad, "0", "--key", key).status, 1);
});

test("events are listed and shown", () => {
	const [line] = run("log", good, "--json").stdout.trim().split("\n").map(JSON.parse);
	assert.equal(line.seq, 0);
	assert.equal(line.type, "ledger.opened");
	assert.equal(line.hash, hash);
	assert.equal(run("log", good, "--type", "other.type").stdout, "");
	assert.equal(run("log", good, "--after", "0").stdout, "");
	assert.equal(run("log", good, "--limit", "0").stdout, "");
	assert.match(run("log", good).stdout, /ledger\.opened/);
	const shown = run("show", good, "0", "--key", key);
	assert.equal(shown.status, 0);
	assert.match(shown.stdout, /signature  good/);
	assert.ok(shown.stdout.includes(vector("events").toString().trim()));
	const json = JSON.parse(run("show", good, "0", "--json").stdout);
	assert.equal(json.event, vector("event").toString());
	assert.equal(json.signature, null);
	assert.equal(run("show", good, "1").status, 3);
});

test("an event is proved, but not in a ledger whose tree is another", () => {
	const made = run("prove", good, "0");
	assert.equal(made.status, 0);
	const evidence = JSON.parse(made.stdout);
	assert.equal(`${evidence.line}\n`, vector("events").toString());
	assert.equal(evidence.keys[0].public_key, key);
	assert.ok(evidence.proof.endsWith(`\n\n${vector("checkpoint")}`));
	const file = join(dir, "evidence");
	writeFileSync(file, made.stdout);
	assert.equal(run("check-proof", file, "--key", key).status, 0);
	const events = vector("events").toString().replace("root", "toor");
	const bad = makeLedger("other-tree.git", { events });
	const refused = run("prove", bad, "0", "-o", join(dir, "none"));
	assert.equal(refused.status, 1);
	assert.match(refused.stderr, /is not that of the ledger's events/);
	assert.ok(!existsSync(join(dir, "none")));
});

test("usage", () => {
	for (const args of [[], ["nothing"], ["verify"], ["verify", good],
		["verify", good, "--key"], ["verify", good, "--key", "not a key"],
		["verify", good, "--key", key, "--threads", "two"],
		["verify", good, "--key", key, "--unknown"],
		["log"], ["log", good, "more"], ["show", good], ["show", good, "x"]]) {
		const { status, stderr } = run(...args);
		assert.equal(status, 2, args.join(" "));
		assert.notEqual(stderr, "");
	}
	for (const args of [["--help"], ["verify", "--help"], ["log", "--help"],
		["show", "--help"], ["--version"]])
		assert.equal(run(...args).status, 0);
	assert.equal(run("verify", join(dir, "none"), "--key", key).status, 3);
});
