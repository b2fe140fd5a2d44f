// C2SP tlog-tiles, held against a tree that is computed here from RFC 6962 alone.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { auditorKey, basic } from "./support/auditor.mjs";
import { close, paths, send } from "./support/client.mjs";
import { assertProblem } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { load } from "./support/load.mjs";
import { Service } from "./support/service.mjs";
import { flip } from "./tlog/altered.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const root = "/ledger/acme/sandbox";
let service, w, key, leaves;

const sha256 = (...parts) => {
	const hash = createHash("sha256");
	for (const part of parts) hash.update(part);
	return hash.digest();
};
const leafHash = (event) => sha256(Buffer.from([0]), event);

// MTH of RFC 6962, section 2.1.
function treeHash(list) {
	if (list.length === 1) return list[0];
	let k = 1;
	while (k * 2 < list.length) k *= 2;
	return sha256(Buffer.from([1]), treeHash(list.slice(0, k)),
		treeHash(list.slice(k)));
}

const number = (n) => n < 1000 ? String(n).padStart(3, "0")
	: number(Math.floor(n / 1000)).replace(/(\d{3})$/, "x$1") + "/" +
		String(n % 1000).padStart(3, "0");

async function get(path, headers = { Authorization: basic(key) }) {
	const r = await fetch(`${service.baseUrl}${root}/${path}`, { headers });
	return { status: r.status, headers: r.headers, body:
		Buffer.from(await r.arrayBuffer()) };
}

async function checkpoint() {
	const r = await get("checkpoint");
	assert.equal(r.status, 200, r.body.toString());
	const [origin, size, hash] = r.body.toString().split("\n");
	return { origin, size: Number(size), root: Buffer.from(hash, "base64"), r };
}

function entriesOf(body) {
	const list = [];
	for (let at = 0; at < body.length;) {
		const n = body.readUInt16BE(at);
		assert.ok(at + 2 + n <= body.length, "an entry is cut off");
		list.push(body.subarray(at + 2, at + 2 + n));
		at += 2 + n;
	}
	return list;
}

const width = (size, n) => Math.min(256, size - n * 256);
const tilePath = (kind, n, size) => `tile/${kind}/${number(n)}` +
	(width(size, n) < 256 ? `.p/${width(size, n)}` : "");

async function allLeaves(size) {
	const list = [];
	for (let n = 0; n * 256 < size; n++) {
		const r = await get(tilePath("entries", n, size));
		assert.equal(r.status, 200, r.body.toString());
		const entries = entriesOf(r.body);
		assert.equal(entries.length, width(size, n));
		entries.forEach((entry, i) =>
			assert.equal(JSON.parse(entry).seq, n * 256 + i));
		list.push(...entries.map(leafHash));
	}
	return list;
}

// So many events more, at least.
async function grow(target) {
	for (let size = 0; size < target; size = (await checkpoint()).size) {
		const { statuses, errors } = await load(service, { clients: 16,
			seconds: 1, make: () => ({ method: "POST", path: paths.create,
				key: w.key, body: actionBody(w, { amount: "0.01" }) }) });
		assert.deepEqual(errors, []);
		assert.deepEqual(Object.keys(statuses), ["201"]);
	}
}

before(async () => {
	service = await new Service({ build: "debug", worker: false }).start();
	w = provision(service, "acme");
	key = auditorKey(service, "acme");
});
after(close);

test("a small tree: its entries hash to the leaves, those to the root",
	async () => {
		const c = await checkpoint();
		assert.match(c.origin, /\/acme\/sandbox$/);
		assert.ok(c.size > 3 && c.size < 256);
		leaves = await allLeaves(c.size);
		assert.deepEqual(treeHash(leaves), c.root);
		const tile = await get(tilePath(0, 0, c.size));
		assert.deepEqual(tile.body, Buffer.concat(leaves));
		assert.equal((await get("tile/0/000")).status, 404);
		assert.equal((await get(`tile/0/000.p/${c.size + 1}`)).status, 404);
		assert.equal((await get(`tile/entries/000.p/${c.size + 1}`)).status, 404);
	});

test("a tree of two levels", async () => {
	await grow(520);
	const c = await checkpoint();
	const before = leaves;
	leaves = await allLeaves(c.size);
	assert.deepEqual(leaves.slice(0, before.length), before);
	assert.deepEqual(treeHash(leaves), c.root);
	for (let n = 0; n * 256 < c.size; n++) {
		const tile = await get(tilePath(0, n, c.size));
		assert.deepEqual(tile.body,
			Buffer.concat(leaves.slice(n * 256, n * 256 + 256)), `${n}`);
	}
	const full = Math.floor(c.size / 256);
	const above = Array.from({ length: full }, (_, n) =>
		treeHash(leaves.slice(n * 256, n * 256 + 256)));
	const tile = await get(`tile/1/000.p/${full}`);
	assert.deepEqual(tile.body, Buffer.concat(above));
	assert.equal((await get(`tile/1/000.p/${full + 1}`)).status, 404);
	assert.equal((await get("tile/2/000.p/1")).status, 404);
});

// A copy as an auditor's mirror has it, which probity-audit looks through.
async function copy(folder) {
	const save = async (path) => {
		const r = await get(path);
		assert.equal(r.status, 200, path);
		mkdirSync(dirname(join(folder, path)), { recursive: true });
		service.write(join(folder, path), r.body);
	};
	const { size } = await checkpoint();
	await save("checkpoint");
	for (let n = 0; n * 256 < size; n++) {
		await save(tilePath("entries", n, size));
		await save(tilePath(0, n, size));
	}
	if (size >= 256) await save(tilePath(1, 0, Math.floor(size / 256)));
	return size;
}

test("probity-audit goes through a copy, and finds a changed tile", async () => {
	const folder = join(service.dir, "home/tiles");
	const size = await copy(folder);
	const key = service.ctl("acme", "ledger status").public_key;
	const check = (...args) => service.run(join(service.bin, "probity-audit"),
		["check-tiles", folder, "--key", key, ...args]);
	const good = check("--json");
	assert.equal(good.code, 0, good.stdout + good.stderr);
	assert.equal(JSON.parse(good.stdout).size, size);
	for (const path of ["checkpoint", "tile/0/000", "tile/entries/001",
		tilePath(1, 0, Math.floor(size / 256)),
		tilePath("entries", Math.floor(size / 256), size)]) {
		const file = join(folder, path), bytes = readFileSync(file);
		for (const changed of [flip(bytes, -12), bytes.subarray(0, -1),
			Buffer.concat([bytes, Buffer.from("x")])]) {
			service.write(file, changed);
			const bad = check();
			assert.equal(bad.code, 1, `${path}: ${bad.stdout}${bad.stderr}`);
			assert.match(bad.stdout, /^BAD: (checkpoint|tile): /);
		}
		service.write(file, bytes);
	}
	rmSync(join(folder, "tile/0/000"));
	assert.match(check().stdout, /^BAD: tile: tile\/0\/000: /);
	assert.equal(check("--what").code, 2);
});

test("a partial tile that has become full is still there", async () => {
	for (const w of [1, 7, 255]) {
		const tile = await get(`tile/0/000.p/${w}`);
		assert.deepEqual(tile.body, Buffer.concat(leaves.slice(0, w)));
		const entries = await get(`tile/entries/000.p/${w}`);
		assert.deepEqual(entriesOf(entries.body).map(leafHash),
			leaves.slice(0, w));
	}
});

test("what may be kept, and what not", async () => {
	for (const path of ["tile/0/000", "tile/0/000.p/9", "tile/entries/000",
		"tile/entries/001.p/3"]) {
		const { status, headers } = await get(path);
		assert.equal(status, 200, path);
		assert.equal(headers.get("cache-control"),
			"max-age=31536000, immutable, private");
		assert.equal(headers.get("content-type"), "application/octet-stream");
	}
	const { r } = await checkpoint();
	assert.equal(r.headers.get("cache-control"), "no-cache");
	assert.equal(r.headers.get("content-type"), "text/plain; charset=utf-8");
	const same = await get("checkpoint", { Authorization: basic(key),
		"If-None-Match": r.headers.get("etag") });
	assert.equal(same.status, 304);
});

test("one spelling, and no other", async () => {
	for (const path of ["tile/0/0", "tile/0/00", "tile/0/0000", "tile/00/000",
		"tile/0/x000/000", "tile/0/x000", "tile/0/000/000", "tile/0/000.p",
		"tile/0/000.p/0", "tile/0/000.p/256", "tile/0/000.p/01", "tile/0/000.p/1/1",
		"tile/0/000.P/1", "tile/0/-01", "tile/0/+01", "tile/64/000", "tile/x/000",
		"tile/0/X001/000", "tile/-1/000", "tile/0/%30%30%30", "tile/0/000.p/%31",
		"tile/0/x001/x001/x001/x001/000", "tile/data/000", "tile/entries/0",
		"tile/0/000/", "tile/0", "tile", "tile/0/999", "tile/entries/999",
		"tile/0/x999/x999/x999/999.p/1", "tile/entries/x999/x999/x999/999.p/1",
		"tile/63/000.p/1"])
		assert.equal((await get(path)).status, 404, path);
});

test("who may read", async () => {
	const path = `${root}/checkpoint`;
	const none = await send(service, "GET", path);
	assertProblem(none, 401, "unauthorized");
	assert.equal(none.headers["www-authenticate"], 'Basic realm="probity"');
	assert.equal((await send(service, "GET", path, { key })).status, 200);
	assertProblem(await send(service, "GET", path, { key: w.key }), 403,
		"forbidden");
	for (const Authorization of ["Basic", "Basic !", basic("x"), basic(""),
		`Basic ${Buffer.from(key).toString("base64")}`, basic(key + "x")])
		assertProblem(await send(service, "GET", path,
			{ headers: { Authorization } }), 401, "unauthorized");
	assertProblem(await send(service, "POST", path, { key }), 405,
		"method_not_allowed");
	assert.equal((await send(service, "HEAD", path, { key })).status, 200);
});

test("another ledger is like a path that is nowhere", async () => {
	provision(service, "other");
	const bare = ({ status, json }) => ({ status,
		body: { ...json, instance: null } });
	const nowhere = bare(await send(service, "GET", "/nowhere", { key }));
	assert.equal(nowhere.status, 404);
	for (const place of ["other/sandbox", "nobody/sandbox", "acme/production",
		"acme/nothing"])
		for (const page of ["checkpoint", "tile/0/000.p/1",
			"ledger.git/info/refs?service=git-upload-pack"])
			assert.deepEqual(bare(await send(service, "GET",
				`/ledger/${place}/${page}`, { key })), nowhere);
});

test("the ledgers verify, and the read models rebuild the same", () =>
	finish(service, { long: true }));
