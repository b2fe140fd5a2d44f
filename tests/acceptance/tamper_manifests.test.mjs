// Who notices what in a manifest and in a pack: each kind of change, held before
// each verifier, and against the tables of docs/auditing.md.
// PROBITY_WRITE_TABLES=1 writes the tables instead of comparing.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { makeEnvelope, makeLedger as makeManifestLedger, makeManifestKey,
	makeReply, makeStatement, canonical } from "./support/manifest.mjs";
import { buildFolder } from "./support/places.mjs";
import { makeKey } from "./support/proof.mjs";
import { Service } from "./support/service.mjs";
import { changes } from "./tamper/changes.mjs";
import { makeLedger } from "./tamper/made.mjs";
import { Key, git, readLedger, writeLedger } from "./tamper/ledger.mjs";
import { documented, words, write } from "./tamper/table.mjs";
import { manifestVerifiers, outcome, packVerifiers } from "./tamper/verifiers.mjs";

const dir = mkdtempSync(join(tmpdir(), "probity-tamper-"));
const at = (name) => join(dir, name);
const writing = Boolean(process.env.PROBITY_WRITE_TABLES);
const tables = { manifests: Object.keys(manifestVerifiers),
	packs: Object.keys(packVerifiers) };
const found = { manifests: new Map(), packs: new Map() };
const program = join(buildFolder, "debug/probity-audit");
const origin = "ledger.example.com/acme/sandbox";
let service, batches, keys, world, number = 0;

// Manifests: of the whole of a ledger, and of three of its events.

const ledger = makeManifestLedger(9, { origin });
const some = [2, 3, 6];
const flip = (text) => text.replace(/^./, (c) => c === "A" ? "B" : "A");
const statementChanges = {
	"an event's line": (p) => {
		p.evidence[3].line = p.evidence[3].line.replace("thing.done", "thing.gone");
	},
	"an event's signature": (p) => {
		p.evidence[3].line = p.evidence[3].line.replace(/^\S{40}/, (s) =>
			s.slice(0, 39) + flip(s[39]));
	},
	"an OpenLineage event's time": (p) => {
		p.events[3].eventTime = "2026-01-02T03:04:07.000000Z";
	},
	"an OpenLineage event's job": (p) => { p.events[3].job.name = "thing.gone"; },
	"an OpenLineage event's outputs": (p) => { p.events[3].outputs = []; },
	"an OpenLineage event's inputs": (p) => {
		p.events[3].inputs = [{ name: "action/x", namespace: origin }];
	},
	"an event left out of a complete one": (p) => {
		p.events.splice(3, 1);
		p.evidence.splice(3, 1);
	},
	"two events in the other order": (p) => {
		for (const list of [p.events, p.evidence])
			[list[3], list[4]] = [list[4], list[3]];
	},
	"an event's path": { seqs: some, change: (p) => {
		p.evidence[1].path[0] = flip(p.evidence[1].path[0]);
	} },
	"an event left out of one that is not complete": { seqs: some, change: (p) => {
		p.events.splice(1, 1);
		p.evidence.splice(1, 1);
	} },
	"a material": (p) => {
		p.materials = [{ digest: { sha256: "1".repeat(64) }, uri: "urn:x:y" }];
	},
	"the scope": (p) => { p.scope.id = "other"; },
	"the checkpoint's size": (p) => {
		p.log.checkpoint = p.log.checkpoint.replace("\n9\n", "\n8\n");
	},
	"the size beside it": (p) => { p.log.size = 8; },
	"the root beside it": (p) => { p.log.root_sha256 = "0".repeat(64); },
	"the certifying event": (p) => {
		p.log.key_event.line = p.log.key_event.line.replace("manifest_key.", "other.");
	},
	"its path": (p) => { p.log.key_event.path[0] = flip(p.log.key_event.path[0]); },
	"the ledger's key": (p) => { p.log.keys = [makeKey(8, origin).row]; },
};
const unseen = ["an OpenLineage event's inputs",
	"an event left out of one that is not complete", "a material"];

function makeChanged(change, anew) {
	const { seqs = null, change: apply = change } = change;
	const statement = makeStatement(ledger, seqs);
	const before = makeEnvelope(Buffer.from(canonical(statement)),
		ledger.manifestKey);
	apply(statement.predicate);
	const changed = makeEnvelope(Buffer.from(canonical(statement)),
		ledger.manifestKey);
	assert.notEqual(changed.payload, before.payload);
	return anew ? changed : { ...changed, signatures: before.signatures };
}

// The service's reply, as whoever asked for the manifest keeps it.
const reply = JSON.parse(makeReply(makeEnvelope(
	Buffer.from(canonical(makeStatement(ledger))), ledger.manifestKey),
makeManifestLedger(10, { origin })));
reply.evidence = { ledger: origin, seq: 9, event_hash: "0".repeat(64),
	signature: "A".repeat(88), key_id: ledger.key.row.key_id,
	commit: "0".repeat(40), checkpoint: reply.proof.split("\n\n").slice(1)
		.join("\n\n") };
const replyChanges = {
	"its status": (r) => { r.status = "queued"; },
	"its scope's type": (r) => { r.scope.type = "action"; },
	"its scope's id": (r) => { r.scope.id = "other"; },
	"its size": (r) => { r.size = 8; },
	"its event_count": (r) => { r.event_count = 8; },
	"its generated_at": (r) => { r.generated_at = "2026-01-02T03:05:00.000001Z"; },
	"its manifest": (r) => { r.manifest.predicate.events[3].inputs = [{}]; },
	"its manifest_sha256": (r) => { r.manifest_sha256 = "0".repeat(64); },
	"its bytes": (r) => { r.bytes++; },
	"the number in its evidence": (r) => { r.evidence.seq = 8; },
	"the ledger in its evidence": (r) => { r.evidence.ledger = "example.com/a"; },
	"the checkpoint in its evidence": (r) => {
		r.evidence.checkpoint = ledger.checkpoint;
	},
	"its uid": (r) => { r.uid = r.uid.replace(/.$/, "e"); },
	"the hash in its evidence": (r) => { r.evidence.event_hash = "1".repeat(64); },
	"the signature in its evidence": (r) => {
		r.evidence.signature = "B".repeat(88);
	},
	"the commit in its evidence": (r) => { r.evidence.commit = "1".repeat(40); },
};
const unseenOfReply = ["its uid", "the hash in its evidence",
	"the signature in its evidence", "the commit in its evidence"];

function makeChangedReply(apply) {
	const copy = structuredClone(reply);
	apply(copy);
	return copy;
}

const manifestRows = [
	...Object.entries(statementChanges).flatMap(([name, change]) => [
		{ name, file: () => makeChanged(change, false) },
		{ name: `${name}; signed anew`, file: () => makeChanged(change, true),
			nobody: unseen.includes(name) }]),
	{ name: "signed by a key that no event certifies", file: () => makeEnvelope(
		Buffer.from(canonical(makeStatement(ledger))), makeManifestKey(10)) },
	{ name: "a ledger made anew with another key", file: () => {
		const other = makeManifestLedger(9, { origin, key: makeKey(8, origin) });
		return makeEnvelope(Buffer.from(canonical(makeStatement(other))),
			other.manifestKey);
	} },
	...Object.entries(replyChanges).map(([name, change]) => ({
		name: `a reply: ${name}`, file: () => makeChangedReply(change),
		nobody: unseenOfReply.includes(name) })),
	{ name: "a reply: its form, so that it is no JSON", file: () => reply,
		text: (text) => text.replace('"seq":9', '"seq"9') },
];

// Packs: of the first batch that a change to the ledger makes another.

// What a batch cannot show by itself.
const whole = ["an event changed and all after it signed anew by the ledger's key",
	"the same with an event that is newer than what was kept",
	"the root of the index; re-signed"];
const packRows = [
	...changes.filter((c) => c.batches && !c.name.startsWith("the branch"))
		.map((change) => ({ ...change, nobody: whole.includes(change.name) })),
	{ name: "a byte of the pack", pack: (bytes) => {
		bytes[bytes.length >> 1] ^= 1;
	} },
	{ name: "another object in the pack", extra: true },
];

function makePack(change) {
	const repo = at(`ledger-${number++}.git`), file = at(`pack-${number++}`);
	const copy = structuredClone(batches.map((b) => ({ ...b, payloads: [] })));
	copy.forEach((b, i) => { b.payloads = batches[i].payloads.map((p) => ({ ...p })); });
	change.batches?.(copy, keys);
	writeLedger(repo, copy);
	const good = new Set(batches.map((b) => b.oid));
	const commits = git(repo, ["rev-list", "--reverse", "main"]).toString().trim()
		.split("\n");
	const commit = commits.find((oid) => !good.has(oid)) ?? commits[3];
	const objects = git(repo, ["ls-tree", "-rt", commit]).toString().trim()
		.split("\n").map((row) => row.split(/\s/)[2]);
	const tree = git(repo, ["rev-parse", `${commit}^{tree}`]).toString().trim();
	const extra = change.extra ? [commits[0]] : [];
	const bytes = git(repo, ["pack-objects", "-q", "--stdout"],
		`${[commit, tree, ...objects, ...extra].join("\n")}\n`);
	change.pack?.(bytes);
	writeFileSync(file, bytes);
	return [file, commit];
}

before(() => {
	service = new Service({ build: "release", worker: false });
	const { origin: name } = makeLedger(service);
	const pem = (file) => readFileSync(join(service.keys, "acme/sandbox", file));
	keys = { key: new Key(pem("signing.key"), name),
		stranger: new Key(pem("recovery.key"), name) };
	cpSync(service.ledger("acme"), at("original.git"), { recursive: true });
	batches = readLedger(at("original.git"));
	writeFileSync(at("signers"), keys.key.signers);
	const env = service.environment;
	world = { manifests: { program, env, key: ledger.key.row.public_key,
		manifestKey: ledger.manifestKey.public },
	packs: { program, env, key: keys.key, signers: at("signers") } };
});
after(() => {
	rmSync(dir, { recursive: true });
	service.remove();
});

function compare(table, { name, nobody = false }, answers) {
	found[table].set(name, answers);
	assert.equal(answers[0] === null, nobody, String(answers));
	if (!writing) assert.deepEqual(words(answers), documented(table).of.get(name));
}

async function ask(table, ...args) {
	const verifiers = { manifests: manifestVerifiers, packs: packVerifiers }[table];
	return outcome(verifiers, world[table], ...args);
}

function save(content, change = (text) => text) {
	const file = at(`manifest-${number++}.json`);
	const text = JSON.stringify(content);
	writeFileSync(file, change(text));
	return [file, content.envelope ?? content];
}

test("unchanged, nobody finds fault", async () => {
	for (const seqs of [null, some])
		assert.deepEqual(await ask("manifests", ...save(makeEnvelope(
			Buffer.from(canonical(makeStatement(ledger, seqs))),
			ledger.manifestKey))), [null, null, null]);
	assert.deepEqual(await ask("manifests", ...save(reply)), [null, null, null]);
	assert.deepEqual(await ask("packs", ...makePack({})), [null, null, null]);
});

describe("a manifest with changed", { concurrency: 3 }, () => {
	for (const row of manifestRows)
		test(row.name, async () => compare("manifests", row,
			await ask("manifests", ...save(row.file(), row.text))));
});

describe("a pack with changed", { concurrency: 3 }, () => {
	for (const row of packRows)
		test(row.name, async () => compare("packs", row,
			await ask("packs", ...makePack(row))));
});

test("the tables say this and nothing else", () => {
	const order = { manifests: manifestRows, packs: packRows };
	for (const [name, head] of Object.entries(tables)) {
		const names = order[name].map((row) => row.name);
		if (writing) write(name, head, names.map((n) => [n, found[name].get(n)]));
		const page = documented(name);
		assert.deepEqual(page.head, head);
		assert.deepEqual([...page.of.keys()], names);
	}
	assert.equal(service.sanitizerReports(), "");
});
