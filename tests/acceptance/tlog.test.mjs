// An auditor with tools of others: Go's sumdb/note and sumdb/tlog accept what
// the ledger serves, and refuse it when anything in it was altered.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { auditorKey } from "./support/auditor.mjs";
import { close, paths, send } from "./support/client.mjs";
import { finish } from "./support/evidence.mjs";
import { load } from "./support/load.mjs";
import { Service } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";
import { base64, flip, otherKey, refuseCheckpoints, refuseConsistencies,
	refuseEvidence, refuseInclusions } from "./tlog/altered.mjs";
import { accepted, build, refused, verifierKey } from "./tlog/verifier.mjs";

// Two full tiles and a part of a third.
const isEnough = (size) => size > 530 && size % 256 > 1;
const bytes = (hex) => Buffer.from(hex, "hex");
let service, w, auditor, origin, key, anotherKey, foreignKey;
let events, batchEnds, sizes, roots;

const git = (...args) => {
	const r = service.run("git", ["-C", service.ledger("acme"), ...args]);
	assert.equal(r.code, 0, r.stderr);
	return r.stdout;
};

async function get(path) {
	const reply = await send(service, "GET", path, { key: auditor });
	assert.equal(reply.status, 200, reply.text);
	return reply;
}
const read = async (path) => (await get(`/api/v2/ledger/${path}`)).json;

async function write() {
	const size = () => service.ctl("acme", "ledger status").size;
	while (!isEnough(size())) {
		let n = 0;
		const make = () => ({ n: n++, method: "POST", path: paths.create,
			key: w.key, body: actionBody(w, { amount: "0.01" }) });
		const { statuses } = await load(service, { clients: 32, seconds: 60,
			more: () => n < 150, make });
		assert.deepEqual(Object.keys(statuses), ["201"]);
	}
}

// Each commit's events, as bytes, from the repository.
function readRepository() {
	const commits = git("rev-list", "--reverse", "main").trim().split("\n");
	events = [];
	batchEnds = [];
	for (const commit of commits) {
		for (const line of git("show", `${commit}:events`).trimEnd().split("\n"))
			events.push(Buffer.from(line.slice(line.indexOf(" ") + 1)));
		batchEnds.push(events.length);
	}
}

const rootQuestion = (size) => ({ check: "root",
	events: base64(events.slice(0, size)) });
const rootsOf = async (list) => (await accepted(list.map(rootQuestion)))
	.map((shown) => bytes(shown.split(" ")[1]));

before(async () => {
	build();
	service = await new Service({ build: "debug", worker: false }).start();
	w = provision(service, "acme");
	auditor = auditorKey(service, "acme");
	await write();
	readRepository();
	const status = service.ctl("acme", "ledger status");
	origin = status.origin;
	key = verifierKey(origin, status.public_key);
	anotherKey = verifierKey(origin, otherKey(status.public_key));
	foreignKey = verifierKey(`${origin}x`, status.public_key);
	// Sizes that have a checkpoint: the first ones, and around each tile's end.
	const near = (n) => batchEnds.find((end) => end >= n);
	sizes = [...new Set([1, 3, 4, near(100), near(256), near(257), near(512),
		events.length])];
	roots = new Map((await rootsOf(sizes)).map((root, i) => [sizes[i], root]));
});
after(close);

test("the repository's checkpoint is that of its events", async () => {
	const note = git("show", "main:checkpoint");
	const [shown, root] = await accepted([{ check: "checkpoint", key,
		checkpoint: note }, rootQuestion(events.length)]);
	assert.equal(shown, root);
	await refuseCheckpoints(note, key, [anotherKey, foreignKey]);
	const altered = (i) => ({ check: "root", events: base64(
		events.with(i, flip(events[i], 20))) });
	const others = await accepted([0, 255, 256, events.length - 1].map(altered));
	for (const other of others) assert.notEqual(other, shown);
});

test("the checkpoints that are served", async () => {
	const newest = await read("checkpoint");
	const page = await get("/ledger/acme/sandbox/checkpoint");
	assert.equal(newest.checkpoint, git("show", "main:checkpoint"));
	assert.equal(page.text, newest.checkpoint);
	assert.equal(newest.origin, origin);
	for (const size of sizes) {
		const it = await read(`checkpoint?size=${size}`);
		const [shown] = await accepted([{ check: "checkpoint", key,
			checkpoint: it.checkpoint }]);
		assert.equal(shown, `${size} ${roots.get(size).toString("hex")}`);
		assert.equal(shown, `${it.size} ${it.root}`);
	}
	await refuseCheckpoints(page.text, key, [anotherKey, foreignKey]);
});

const root64 = (size) => roots.get(size).toString("base64");
const seqsBelow = (size) => [...new Set([0, 1, 255, 256, size >> 1, size - 1])]
	.filter((seq) => seq < size);

test("inclusion proofs", async () => {
	for (const [i, size] of sizes.entries())
		for (const seq of seqsBelow(size)) {
			const it = await read(`proofs/inclusion?seq=${seq}&size=${size}`);
			assert.equal(it.root, roots.get(size).toString("hex"));
			const event = events[seq].toString("base64");
			const other = sizes[i === 0 ? 1 : i - 1];
			await refuseInclusions({ check: "inclusion", index: seq, size,
				root: root64(size), event, hashes: base64(it.hashes.map(bytes)) },
			other, root64(other));
			assert.deepEqual(await accepted([{ check: "proof", key,
				proof: it.tlog_proof, event }]), [`${seq} ${size}`]);
		}
});

test("consistency between all sizes, of old ones also within a batch", async () => {
	const within = [4, 255, 256, 257, 511, 512].filter((n) => !roots.has(n));
	(await rootsOf(within)).forEach((root, i) => roots.set(within[i], root));
	for (const size of sizes)
		for (const old of [...roots.keys()].filter((n) => n <= size)) {
			const it = await read(`proofs/consistency?old=${old}&size=${size}`);
			assert.equal(it.root, roots.get(size).toString("hex"));
			await refuseConsistencies({ check: "consistency", old,
				oldRoot: root64(old), size, root: root64(size),
				hashes: base64(it.hashes.map(bytes)) });
		}
});

// The service as somebody between us shows it: one file has one bit changed.
async function between(path, at, use) {
	const server = createServer(async (req, res) => {
		const reply = await fetch(service.baseUrl + req.url,
			{ headers: { authorization: req.headers.authorization } });
		const body = Buffer.from(await reply.arrayBuffer());
		res.writeHead(reply.status);
		res.end(req.url.endsWith(`/${path}`) ? flip(body, at) : body);
	});
	await new Promise((done) => server.listen(0, "127.0.0.1", done));
	try {
		await use(`http://127.0.0.1:${server.address().port}`);
	} finally {
		server.closeAllConnections();
		server.close();
	}
}

const tilesQuestion = (url) => ({ check: "tiles", key, user: "auditor",
	password: auditor, url: `${url}/ledger/acme/sandbox` });

test("tiles give the checkpoint's root, whole and level by level", async () => {
	const shown = `${events.length} ${roots.get(events.length).toString("hex")}`;
	assert.deepEqual(await accepted([tilesQuestion(service.baseUrl)]), [shown]);
	await between("nothing", 0, async (url) =>
		assert.deepEqual(await accepted([tilesQuestion(url)]), [shown]));
});

test("tiles with one bit changed", async () => {
	const last = `${events.length >> 8}`.padStart(3, "0") +
		`.p/${events.length & 255}`;
	const up = `000.p/${events.length >> 8}`;
	for (const [path, at, reason] of [
		["checkpoint", 0, /invalid signature/],
		["checkpoint", -10, /invalid signature|malformed note/],
		["tile/entries/000", 30, /the entries give another root/],
		["tile/entries/000", 0, /entry is cut short|few entries|the entries/],
		["tile/entries/001", -1, /the entries give another root/],
		[`tile/entries/${last}`, -2, /the entries give another root/],
		["tile/0/000", 0, /the leaves give another root/],
		["tile/0/001", 4000, /the leaves give another root/],
		[`tile/0/${last}`, -1, /the leaves give another root/],
		[`tile/1/${up}`, 0, /tile 0 of level 0: its hashes give another/],
		[`tile/1/${up}`, -1, /tile \d of level 0: its hashes give another/]])
		await between(path, at, (url) => refused([tilesQuestion(url)], reason));
});

test("evidence of events", async () => {
	const other = await read("evidence/7");
	for (const seq of [0, 1, 255, 256, events.length - 1]) {
		const { text, json } = await get(`/api/v2/ledger/evidence/${seq}`);
		assert.deepEqual(await accepted([{ check: "evidence", key,
			evidence: text }]), [`${seq} ${events.length}`]);
		await refuseEvidence(json, other, key, anotherKey);
	}
});

test("evidence made from the repository alone is what is served", async () => {
	for (const seq of [0, 256, events.length - 1]) {
		const made = service.run(join(service.bin, "probity-audit"),
			["prove", service.ledger("acme"), `${seq}`]);
		assert.equal(made.code, 0, made.stderr);
		assert.deepEqual(await accepted([{ check: "evidence", key,
			evidence: made.stdout }]), [`${seq} ${events.length}`]);
		assert.equal(made.stdout.trimEnd(),
			(await get(`/api/v2/ledger/evidence/${seq}`)).text);
	}
});

test("the ledger verifies, and the read model rebuilds the same", () =>
	finish(service, { long: true }));
