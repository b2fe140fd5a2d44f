// Who notices what: each kind of change to a ledger and to what is handed out of
// it, held before each verifier, and against the tables of docs/auditing.md.
// PROBITY_WRITE_TABLES=1 writes the tables instead of comparing.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { buildFolder } from "./support/places.mjs";
import { Authority } from "./support/authority.mjs";
import { offline } from "./support/proof.mjs";
import { Service } from "./support/service.mjs";
import { Witness } from "./support/witness.mjs";
import { besideChanges, besideGood, saveTiles } from "./tamper/beside.mjs";
import { changes, keptBatches } from "./tamper/changes.mjs";
import { fileChanges, serveTiles, tileChanges, tilesOf }
	from "./tamper/files.mjs";
import { makeLedger } from "./tamper/made.mjs";
import { Key, git, readLedger, rehash, resign, writeLedger }
	from "./tamper/ledger.mjs";
import { documented, words, write } from "./tamper/table.mjs";
import { besideVerifiers, fileVerifiers, ledgerVerifiers, outcome, saveEvidence }
	from "./tamper/verifiers.mjs";
import { ask, build, verifierKey } from "./tlog/verifier.mjs";

const dir = mkdtempSync(join(tmpdir(), "probity-tamper-"));
const named = (name) => changes.find((change) => change.name === name);
const at = (name) => join(dir, name);
const writing = Boolean(process.env.PROBITY_WRITE_TABLES);
const tables = { ledger: Object.keys(ledgerVerifiers),
	files: Object.keys(fileVerifiers), beside: Object.keys(besideVerifiers) };
const found = { ledger: new Map(), files: new Map(), beside: new Map() };
let service, batches, world, keys, evidence, receipt, number = 0;

// What an auditor has who looks at this change.
function worldOf({ kept }) {
	if (!kept) return world;
	const file = at(`kept-${number++}`);
	writeFileSync(file, kept(readFileSync(world.kept, "utf8"), keys));
	return { ...world, kept: file };
}

function prove(repo, seq) {
	const { status, stdout, stderr } = offline([world.program, "prove", repo,
		String(seq)], { env: world.env });
	assert.equal(status, 0, stderr);
	return JSON.parse(stdout);
}

function writeCopy(change) {
	const repo = at(`ledger-${number++}.git`);
	const copy = structuredClone(batches.map((b) => ({ ...b, payloads: [] })));
	copy.forEach((b, i) => { b.payloads = batches[i].payloads.map((p) => ({ ...p })); });
	change.batches?.(copy, keys);
	writeLedger(repo, copy);
	change.files?.(repo);
	return repo;
}

function makeEvidence() {
	const [stranger, operator] = ["the whole history made anew with another key",
		"an event changed and all after it signed anew by the ledger's key"]
		.map((name) => prove(writeCopy(named(name)), 3));
	const good = at("good.git");
	evidence = { good: prove(good, 3), another: prove(good, 4), stranger, operator };
}

// Checkpoints with what others said of the last one.
function makeBeside({ origin, public_key: publicKey }) {
	const [older, note] = batches.slice(-2).map((b) => b.checkpoint);
	const authority = new Authority(mkdtempSync(at("tsa-")));
	const [witness, namesake] = [0, 1].map(() =>
		new Witness("witness.example", origin, publicKey));
	const text = note.slice(0, note.indexOf("\n\n") + 1);
	Object.assign(world, { note, older, authority, witness, namesake,
		line: witness.signatureLine(text), token: authority.stamp(note) });
}

before(() => {
	build();
	service = new Service({ build: "release", worker: false });
	const status = makeLedger(service);
	const { origin, public_key: publicKey } = status;
	receipt = status.receipt;
	const pem = (name) => readFileSync(join(service.keys, "acme/sandbox", name));
	// The recovery key is one that the ledger's readers do not take for its own.
	keys = { key: new Key(pem("signing.key"), origin),
		stranger: new Key(pem("recovery.key"), origin) };
	// A copy of its own, since git reads nothing that is another user's.
	cpSync(service.ledger("acme"), at("original.git"), { recursive: true });
	batches = readLedger(at("original.git"));
	// With its sanitizers: what it reads here is hostile.
	world = { dir, key: keys.key, program: join(buildFolder, "debug/probity-audit"),
		env: service.environment, goKey: verifierKey(origin, publicKey),
		kept: at("kept.checkpoint"), keptClone: at("kept.git"), signers: at("signers") };
	writeLedger(at("good.git"), batches);
	writeLedger(world.keptClone, batches.slice(0, keptBatches));
	writeFileSync(world.kept, batches[keptBatches - 1].checkpoint);
	writeFileSync(world.signers, keys.key.signers);
	makeEvidence();
	makeBeside(status);
});
after(() => {
	rmSync(dir, { recursive: true });
	service.remove();
});

test("the ledger, signed anew by its key, is the same to the last byte", () => {
	assert.deepEqual(batches.map((b) => b.events.length), [1, 2, 1, 2, 1, 1]);
	assert.equal(batches[3].payloads.length, 1);
	assert.match(batches.at(-1).message, /^Ledger-Index: /m);
	const copy = batches.map((b) => ({ ...b, events: b.events.map((it) => ({ ...it })) }));
	rehash(copy);
	resign(copy, keys.key);
	assert.equal(writeLedger(at("anew.git"), copy), batches.at(-1).oid);
});

test("unchanged, nobody finds fault", async () => {
	const none = (names) => names.map(() => null);
	for (const change of [{}, { files: (repo) => git(repo, ["repack", "-qad"]) }])
		assert.deepEqual(await outcome(ledgerVerifiers, world, writeCopy(change)),
			none(tables.ledger));
	saveEvidence(at("good.json"), evidence.good);
	assert.deepEqual(await outcome(fileVerifiers, world, at("good.json"),
		evidence.good), none(tables.files));
	assert.deepEqual(await askTiles(null), [null, null]);
	for (const thing of besideGood)
		assert.deepEqual(await outcome(besideVerifiers, world,
			thing({ ...world, folder: at("beside-good") })), [null, null]);
});

// What Go's program and ours say of the tiles, served and as a folder.
async function askTiles(change) {
	const served = tilesOf({ checkpoint: batches.at(-1).checkpoint,
		events: batches.flatMap((b) => b.events.map((it) => it.event)) }, change);
	const [answer] = await serveTiles(served, (url) =>
		ask([{ check: "tiles", key: world.goKey, url }]));
	const folder = saveTiles(at(`tiles-${number++}`), served);
	const [ours] = await outcome(besideVerifiers, world,
		{ ours: ["check-tiles", folder] });
	return [ours, answer.startsWith("good") ? null : "refused"];
}

// The first columns are our own programs'.
function compare(table, { name, nobody = false }, answers) {
	found[table].set(name, answers);
	const unnoticed = (list) => list.every((it) => it == null);
	const ours = answers.slice(0, table === "ledger" ? 2 : 1);
	assert.equal(unnoticed(answers), nobody, String(answers));
	assert.equal(unnoticed(ours), nobody, `probity-audit: ${ours}`);
	if (!writing) assert.deepEqual(words(answers), documented(table).of.get(name));
}

describe("a ledger with changed", { concurrency: 3 }, () => {
	for (const change of changes)
		test(change.name, async () => compare("ledger", change,
			await outcome(ledgerVerifiers, worldOf(change), writeCopy(change))));
});

describe("evidence with changed", { concurrency: 3 }, () => {
	for (const change of fileChanges)
		test(change.name, async () => {
			const file = at(`evidence-${number++}.json`);
			const changed = change.file(evidence);
			assert.notDeepEqual(changed, evidence.good);
			saveEvidence(file, changed);
			compare("files", change,
				await outcome(fileVerifiers, world, file, changed));
		});
});

describe("tiles with changed", () => {
	for (const change of tileChanges)
		test(change.name, async () => compare("beside", change,
			await askTiles(change)));
});

describe("beside the ledger, changed", () => {
	for (const change of besideChanges)
		test(change.name, async () => {
			const folder = at(`beside-${number++}`);
			compare("beside", change, await outcome(besideVerifiers, world,
				change.thing({ ...world, folder })));
		});
});

test("a reply, evidence, or another's checkpoint shows what was signed anew",
	async () => {
		const repo = writeCopy(
			named("the same with an event that is newer than what was kept"));
		const compareWith = (note, ledger) => {
			const kept = at(`checkpoint-${number++}`);
			writeFileSync(kept, note);
			return ledgerVerifiers["… with `--checkpoint`"]({ ...world, kept }, ledger);
		};
		const { proof } = evidence.good;
		for (const note of [receipt.checkpoint, batches.at(-1).checkpoint,
			proof.slice(proof.indexOf("\n\n") + 2)]) {
			assert.equal(await compareWith(note, at("good.git")), null);
			assert.equal(await compareWith(note, repo), "`consistency`");
		}
		const theirs = readLedger(repo).at(-1).checkpoint;
		assert.equal(await compareWith(theirs, repo), null);
		assert.equal(await compareWith(theirs, at("good.git")), "`consistency`");
	});

test("the tables say this and nothing else", () => {
	const order = { ledger: changes, files: fileChanges,
		beside: [...tileChanges, ...besideChanges] };
	for (const [name, head] of Object.entries(tables)) {
		const names = order[name].map((change) => change.name);
		if (writing) write(name, head, names.map((n) => [n, found[name].get(n)]));
		const page = documented(name);
		assert.deepEqual(page.head, head);
		assert.deepEqual([...page.of.keys()], names);
	}
	assert.equal(service.sanitizerReports(), "");
});
