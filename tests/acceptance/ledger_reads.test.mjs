// The auditors' reads: what they say is held against the repository, and the
// proofs against RFC 9162 written down here once more.
import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { close, paths, send } from "./support/client.mjs";
import { assertProblem, Contract, named } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { extendsTree, includes, leafOf, rootOf, sha256 } from
	"./support/rfc9162.mjs";
import { Service } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const base = "/api/v2/ledger";
const unknown = "018f0000-0000-7000-8000-000000000000";
let service, contract, w, other, auditor, lines, batches;

const hex = (text) => Buffer.from(text, "hex");

const ask = async (path, options = {}) => {
	const reply = await send(service, "GET", base + path,
		{ key: auditor, ...options });
	contract.check("GET", base + path, reply);
	return reply;
};
const good = async (path) => {
	const reply = await ask(path);
	assert.equal(reply.status, 200, reply.text);
	return reply.json;
};
const git = (...args) => {
	const r = service.run("git", ["-C", service.ledger("acme"), ...args]);
	assert.equal(r.code, 0, r.stderr);
	return r.stdout;
};
const eventOf = (line) => line.slice(line.indexOf(" ") + 1);
const leaves = (size) => lines.slice(0, size).map((line) =>
	leafOf(Buffer.from(eventOf(line))));

// A credential of a new application; the scopes are all it has.
function issue(workspace, scopes) {
	const application = service.ctl(workspace, "application create", {
		name: `with ${scopes}`, responsible: "a@example.com", scopes,
		entitlements: "core-platform" });
	return service.ctl(workspace, "credential issue",
		{ application: application.uid }).key;
}

before(async () => {
	service = await new Service({ build: "debug", worker: false }).start();
	w = provision(service, "acme");
	other = provision(service, "other");
	auditor = issue("acme", "trust:read");
	contract = await Contract.of(service);
	await Promise.all([1, 2, 3, 4, 5, 6].map(() => send(service, "POST",
		paths.create, { key: w.key, body: actionBody(w) })));
	lines = [];
	batches = git("rev-list", "--reverse", "main").trim().split("\n")
		.map((commit) => {
			const own = git("cat-file", "blob", `${commit}:events`)
				.trimEnd().split("\n");
			lines.push(...own);
			return { commit, first: lines.length - own.length,
				count: own.length };
		});
	// Without a batch of several events half of the tests say little.
	assert.ok(batches.some((b) => b.count > 1));
});
after(close);

test("the newest checkpoint, and that of each size", async () => {
	const newest = await good("/checkpoint");
	assert.equal(newest.size, lines.length);
	assert.equal(newest.checkpoint, git("cat-file", "blob", "main:checkpoint"));
	for (let size = 1; size <= lines.length; size++) {
		const batch = batches.find((b) => b.first + b.count >= size);
		const at = await good(`/checkpoint?size=${size}`);
		assert.equal(at.size, batch.first + batch.count);
		assert.equal(at.root, rootOf(leaves(at.size)).toString("hex"));
		assert.equal(at.checkpoint,
			git("cat-file", "blob", `${batch.commit}:checkpoint`));
	}
	assertProblem(await ask(`/checkpoint?size=${lines.length + 1}`), 404);
});

test("each event, as it lies in the repository", async () => {
	for (const [seq, line] of lines.entries()) {
		const shown = await good(`/events/${seq}`);
		const batch = batches.find((b) => seq < b.first + b.count);
		assert.equal(shown.line, line);
		assert.deepEqual(shown.event, JSON.parse(eventOf(line)));
		assert.equal(shown.hash, sha256(eventOf(line)).toString("hex"));
		assert.equal(shown.commit, batch.commit);
		assert.deepEqual(shown.batch,
			{ first: batch.first, count: batch.count });
		const token = Buffer.concat([hex(shown.key_id),
			Buffer.from(shown.signature, "base64")]).toString("base64");
		assert.equal(line.split(" ")[0], token);
	}
});

test("events by range, page by page", async () => {
	const seen = [];
	let path = `${base}/events?limit=7&from=2`;
	while (path) {
		const reply = await send(service, "GET", path, { key: auditor });
		contract.check("GET", path, reply);
		seen.push(...reply.json.data);
		path = /<([^>]*)>; rel="next"/.exec(reply.headers.link ?? "")?.[1];
		assert.equal(Boolean(path), reply.json.has_more);
	}
	assert.deepEqual(seen.map(({ seq, uid, type, hash }) =>
		({ seq, uid, type, hash })), lines.slice(2).map((line) => {
		const { seq, uid, type } = JSON.parse(eventOf(line));
		return { seq, uid, type, hash: sha256(eventOf(line)).toString("hex") };
	}));
	assert.ok(seen.every(({ id, seq }) => id === seq + 1));
});

test("events about one record", async () => {
	const subjects = new Set(lines.map((l) => JSON.parse(eventOf(l)).subject.uid));
	for (const uid of subjects) {
		const { data } = await good(`/events?limit=200&subject=${uid}`);
		assert.deepEqual(data.map((v) => v.seq), lines
			.map((l) => JSON.parse(eventOf(l)))
			.filter((v) => v.subject.uid === uid).map((v) => v.seq));
		assert.ok(data.every((v) => v.subject.uid === uid));
	}
	assert.deepEqual((await good(`/events?subject=${unknown}`)).data, []);
	assert.deepEqual((await good(`/events?subject=${other.counterparty.uid}`)).data,
		[]);
});

test("inclusion, at each size", async () => {
	for (const { first, count } of batches) {
		const size = first + count, root = rootOf(leaves(size));
		for (let seq = 0; seq < size; seq += 3) {
			const v = await good(`/proofs/inclusion?seq=${seq}&size=${size}`);
			const path = v.hashes.map(hex);
			assert.equal(v.size, size);
			assert.equal(v.root, root.toString("hex"));
			const hash = leafOf(Buffer.from(eventOf(lines[seq])));
			assert.equal(v.leaf_hash, hash.toString("hex"));
			assert.ok(includes(hash, seq, size, path, root));
			assert.ok(!includes(hash, seq, size, path.slice(1), root) ||
				path.length === 0);
			assert.equal(v.tlog_proof, ["c2sp.org/tlog-proof@v1", `index ${seq}`,
				...path.map((p) => p.toString("base64")), "", v.checkpoint]
				.join("\n"));
		}
	}
});

test("a size within a batch is rounded up", async () => {
	const { first, count } = batches.find((b) => b.count > 1);
	const v = await good(`/proofs/inclusion?seq=0&size=${first + 1}`);
	assert.equal(v.size, first + count);
	assert.equal(Number(v.checkpoint.split("\n")[1]), first + count);
});

test("consistency between all sizes that have a checkpoint", async () => {
	const ends = batches.map((b) => b.first + b.count);
	for (const old of ends)
		for (const size of ends.filter((end) => end >= old)) {
			const v = await good(`/proofs/consistency?old=${old}&size=${size}`);
			const was = rootOf(leaves(old)), is = rootOf(leaves(size));
			assert.equal(v.root, is.toString("hex"));
			assert.ok(extendsTree(old, was, size, is, v.hashes.map(hex)));
			assert.ok(!extendsTree(old, leafOf("x"), size, is, v.hashes.map(hex)));
		}
});

test("evidence shows one event, and stands on its own", async () => {
	const { first } = batches.find((b) => b.count > 2), seq = first + 1;
	const reply = await ask(`/evidence/${seq}`);
	assert.equal(reply.status, 200);
	assert.equal(reply.headers["content-type"],
		"application/vnd.probity.evidence+json");
	assert.equal(reply.headers["content-disposition"],
		`attachment; filename="event-${seq}.evidence.json"`);
	const file = reply.json;
	assert.equal(file.line, lines[seq]);
	// Canonical: members sorted, no white space.
	assert.deepEqual(Object.keys(file), Object.keys(file).sort());
	assert.equal(reply.text, JSON.stringify(file));
	for (const near of [seq - 1, seq + 1]) {
		const event = JSON.parse(eventOf(lines[near]));
		assert.ok(!reply.text.includes(event.uid));
		assert.ok(!reply.text.includes(lines[near].split(" ")[0]));
	}
	// The signature by the key in the file, which is the ledger's.
	const raw = Buffer.from(file.keys[0].public_key.split(" ")[1], "base64")
		.subarray(-32);
	const key = createPublicKey({ format: "der", type: "spki", key: Buffer.concat(
		[Buffer.from("302a300506032b6570032100", "hex"), raw]) });
	const token = Buffer.from(file.line.split(" ")[0], "base64");
	assert.equal(token.subarray(0, 4).toString("hex"), file.keys[0].key_id);
	assert.ok(verify(null, Buffer.from(eventOf(file.line)), key, token.subarray(4)));
	const [proof, checkpoint] = file.proof.split("\n\n");
	const [, index, ...path] = proof.split("\n");
	const [origin, size, root] = checkpoint.split("\n");
	assert.equal(index, `index ${seq}`);
	assert.equal(origin, file.ledger);
	assert.ok(includes(leafOf(Buffer.from(eventOf(file.line))), seq, Number(size),
		path.map((p) => Buffer.from(p, "base64")), Buffer.from(root, "base64")));
});

test("stock git takes each pack, and verifies its commit", async () => {
	const { keys, origin } = await good("/keys");
	const signers = join(service.dir, "home/signers");
	service.write(signers,
		`${origin} namespaces="git" ${keys[0].public_key}\n`);
	for (const { commit, first, count } of batches) {
		const reply = await ask(`/packs/${first + count - 1}`);
		assert.equal(reply.status, 200);
		assert.equal(reply.headers["content-type"],
			"application/x-git-packed-objects");
		assert.equal(reply.headers["content-disposition"],
			`attachment; filename="batch-${first}-${first + count - 1}.pack"`);
		assert.ok((await ask(`/packs/${first}`)).bytes.equals(reply.bytes));
		const repo = join(service.dir, "home", `pack-${first}.git`);
		const run = (args, input) => {
			const r = service.run("git", ["-C", repo, "-c", "gpg.format=ssh", "-c",
				`gpg.ssh.allowedSignersFile=${signers}`, ...args], { input });
			assert.equal(r.code, 0, r.stderr);
			return r.stdout;
		};
		mkdirSync(repo);
		service.own(repo);
		run(["init", "-q", "--bare"]);
		run(["unpack-objects", "-q"], reply.bytes);
		run(["verify-commit", commit]);
		for (const name of git("ls-tree", "-r", "--name-only", commit).trim()
			.split("\n"))
			assert.equal(run(["rev-parse", `${commit}:${name}`]),
				git("rev-parse", `${commit}:${name}`));
		assert.equal(run(["cat-file", "blob", `${commit}:events`]),
			lines.slice(first, first + count).join("\n") + "\n");
		// Nothing but this batch.
		const n = git("rev-list", "--objects", "--no-walk", commit).trim()
			.split("\n").length;
		assert.match(run(["count-objects"]), new RegExp(`^${n} objects`));
	}
});

test("the keys are those of the ledger's first event", async () => {
	const v = await good("/keys");
	const { data, ledger } = JSON.parse(eventOf(lines[0]));
	assert.equal(v.origin, ledger);
	assert.equal(v.keys.length, 1);
	assert.equal(v.keys[0].public_key, data.public_key);
	assert.equal(v.keys[0].from_seq, 0);
	assert.equal(v.keys[0].until_seq, null);
	assert.equal(v.recovery_key.public_key, data.recovery_key);
	for (const key of [v.keys[0], v.recovery_key]) {
		const r = service.run("ssh-keygen", ["-l", "-f", "-"],
			{ input: `${key.public_key}\n` });
		assert.equal(r.stdout.split(" ")[1], key.fingerprint, r.stderr);
	}
});

test("a reply that did not change is not sent again", async () => {
	for (const path of ["/checkpoint", "/evidence/1", "/packs/1"]) {
		const { headers } = await ask(path);
		assert.equal(Number(headers["ledger-size"]), lines.length);
		const again = await ask(path,
			{ headers: { "If-None-Match": headers.etag } });
		assert.equal(again.status, 304);
		assert.equal(again.text, "");
	}
});

const reads = ["/checkpoint", "/events", "/events/0", "/proofs/inclusion?seq=0",
	"/proofs/consistency?old=1", "/evidence/0", "/packs/0", "/keys"];

test("what is not there is 404, what is no number 422", async () => {
	for (const path of ["/events/", "/evidence/", "/packs/"]) {
		assertProblem(await ask(`${path}${lines.length}`), 404, "not_found");
		assertProblem(await ask(`${path}9007199254740991`), 404, "not_found");
		for (const seq of ["-1", "x", "1.5", "1e3", "01", "9007199254740992",
			"18446744073709551616"])
			assertProblem(await ask(path + seq), 422, "validation_failed");
	}
	assertProblem(await ask(`/proofs/inclusion?seq=${lines.length}`), 404);
	assertProblem(await ask("/proofs/inclusion?seq=1&size=1"), 404);
	assertProblem(await ask("/proofs/consistency?old=1&size=99999"), 404);
	for (const [path, parameter] of [["/proofs/inclusion", "seq"],
		["/proofs/inclusion?seq=-1", "seq"], ["/checkpoint?size=0", "size"],
		["/proofs/consistency", "old"], ["/proofs/consistency?old=0", "old"],
		[`/proofs/consistency?old=${lines.length + 1}`, "old"],
		["/events?limit=201", "limit"], ["/events?from=-1", "from"],
		["/events?subject=me", "subject"], ["/events?to=5", "to"],
		["/keys?seq=1", "seq"]])
		assert.deepEqual(named(assertProblem(await ask(path), 422,
			"validation_failed")), [parameter], path);
});

test("only with the scope, and only one's own ledger", async () => {
	const foreign = issue("other", "trust:read");
	for (const path of reads) {
		assertProblem(await ask(path, { key: undefined }), 401, "unauthorized");
		assertProblem(await ask(path, { key: w.key }), 403, "forbidden");
		assert.equal((await ask(path)).status, 200, path);
		const theirs = await ask(path, { key: foreign });
		assert.equal(theirs.status, 200);
		assert.ok(!theirs.text.includes("/acme/"), path);
	}
	assertProblem(await ask("/events/x", { key: w.key }), 403, "forbidden");
});

test("the ledger verifies, and the read model rebuilds the same", () =>
	finish(service));
