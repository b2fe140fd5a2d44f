// Lineage exports: each manifest proves itself by Node's own crypto and by
// openssl; small ones at once, large ones by the worker; other renderings; what
// is refused; and the same bytes after a rebuild and after a lost file.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync }
	from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { auditorKey } from "./support/auditor.mjs";
import { close, paths, send } from "./support/client.mjs";
import { Contract, assertProblem, named } from "./support/contract.mjs";
import { finish, publicKey } from "./support/evidence.mjs";
import { assertManifest, assertSealing, canonical, eventOf, keyOf, pae,
	payloadType } from "./support/lineage.mjs";
import { Service, until } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const path = "/api/v2/infrastructure/lineage-exports";
const scopes = "infrastructure:lineage,trust:read";
const folder = mkdtempSync(join(tmpdir(), "probity-lineage-"));
const unknown = "018f0000-0000-7000-8000-000000000000";
let service, w, other, key, ledgerKey, contract, action;

const create = (scope_type, scope_id, options = {}) => send(service, "POST", path,
	{ key, body: { scope_type, scope_id }, ...options });
const show = (uid, query = "", headers = {}) =>
	send(service, "GET", `${path}/${uid}${query}`, { key, headers });
const lineOf = async (seq) => (await send(service, "GET",
	`/api/v2/ledger/events/${seq}`, { key })).json.line;
const round = () => assert.equal(service.run(join(service.bin, "probity-worker"),
	["--once"]).code, 0);

before(async () => {
	service = await new Service({ build: "debug", worker: false }).start();
	w = provision(service, "acme");
	other = provision(service, "other");
	key = auditorKey(service, "acme", { scopes });
	ledgerKey = publicKey(service, { workspace: "acme", environment: "sandbox" })
		.split(" ").slice(0, 2).join(" ");
	const created = await send(service, "POST", paths.create, { key: w.key,
		body: actionBody(w, { amount: "2.00" }) });
	assert.equal(created.status, 201, created.text);
	action = created.json;
	contract = await Contract.of(service);
});
after(() => {
	rmSync(folder, { recursive: true, force: true });
	close();
});

// A POST that answers 201, checked, and the GET that says the same.
async function exported(type, id) {
	const reply = await create(type, id);
	assert.equal(reply.status, 201, reply.text);
	contract.check("POST", path, reply);
	const predicate = assertManifest(reply.json, ledgerKey);
	const { evidence, ...rest } = reply.json;
	assert.equal(reply.headers.location, `${path}/${rest.uid}`);
	assertSealing(rest, await lineOf(evidence.seq), ledgerKey);
	assert.ok(evidence.seq >= predicate.log.size);
	const again = await show(rest.uid);
	contract.check("GET", `${path}/${rest.uid}`, again);
	assert.deepEqual(again.json, rest);
	return { reply: rest, predicate };
}

// An import's material is the payload of its event, by its hash.
function assertImports({ evidence, materials }) {
	const imports = evidence.map((item) => eventOf(item.line))
		.filter((event) => event.type === "source_import.received");
	assert.ok(imports.length > 0);
	for (const { subject, payloads } of imports)
		assert.deepEqual(materials.find(({ uri }) =>
			uri === `urn:uuid:${subject.uid}`).digest,
		{ sha256: payloads[0].sha256 });
}

describe("manifests", () => {
	test("of a refused request no key is made", async () => {
		assertProblem(await create("action", unknown), 422, "validation_failed");
		assert.deepEqual(readdirSync(join(service.keys, "acme/sandbox"))
			.filter((name) => name.startsWith("manifest")), []);
	});

	test("of a workspace: every event", async () => {
		const { reply, predicate } = await exported("workspace", w.created.uid);
		assert.equal(predicate.log.complete, true);
		assert.equal(reply.event_count, predicate.log.size);
		assert.equal(reply.size, predicate.log.size);
		assert.deepEqual(predicate.scope, { type: "workspace", id: w.created.uid });
		assert.equal(predicate.generated_at, reply.generated_at);
		assert.deepEqual(reply.manifest.subject, [{
			name: `workspace/${w.created.uid}`,
			digest: { sha256: predicate.log.root_sha256 } }]);
		const uris = predicate.materials.map((m) => m.uri);
		for (const source of Object.values(w.sources))
			assert.deepEqual(predicate.materials[
				uris.indexOf(`urn:uuid:${source.uid}`)].digest,
			{ sha256: source.sha256 });
		assertImports(predicate);
		assert.equal(statSync(join(service.keys, "acme/sandbox/manifest.key"))
			.mode & 0o777, 0o600);
	});

	test("of a workspace by its name, with the key of before", async () => {
		const { predicate } = await exported("workspace", "acme");
		const certified = predicate.evidence.map((item) => eventOf(item.line))
			.filter((event) => event.type === "manifest_key.certified");
		assert.equal(certified.length, 1);
	});

	test("of an action: what it came from, and nothing else", async () => {
		const { reply, predicate } = await exported("action", action.uid);
		const source = w.sources["EUR-BIG"];
		assert.equal(predicate.log.complete, false);
		assert.deepEqual(reply.manifest.subject, [{ name: `action/${action.uid}`,
			digest: { sha256: action.envelope_hash } }]);
		const events = predicate.evidence.map((item) => eventOf(item.line));
		assert.deepEqual([...new Set(events.map((e) => e.type))].sort(),
			["action.created", "connector.added", "counterparty.registered",
				"source_import.received", "source_records.sealed"]);
		assert.deepEqual(new Set(events.map((e) => e.subject.uid)),
			new Set([action.uid, source.import_uid, w.connector.uid,
				w.counterparty.uid]));
		assert.deepEqual(predicate.materials.map((m) => m.uri),
			[`urn:uuid:${source.import_uid}`, `urn:uuid:${source.uid}`]);
		assertImports(predicate);
		const created = predicate.events.at(-1);
		assert.deepEqual(created.inputs.map((d) => d.name).sort(), [
			`application/${w.application.uid}`, `connector/${w.connector.uid}`,
			`counterparty/${w.counterparty.uid}`, `source_record/${source.uid}`]);
		const sealed = predicate.events.find((e) =>
			e.job.name === "source_records.sealed");
		assert.ok(sealed.outputs.some((d) => d.name === `source_record/${source.uid}`));
	});

	test("of source records: their import, and a statement entry's statement",
		async () => {
			const of = async (source) => (await exported("source_record", source.uid))
				.predicate.evidence.map((item) => eventOf(item.line));
			const types = (events) => [...new Set(events.map((e) => e.type))].sort();
			assert.deepEqual(types(await of(w.sources["EUR-SMALL"])),
				["source_import.received", "source_records.sealed"]);
			const entry = Object.values(w.sources).find((s) =>
				s.kind === "statement_entry");
			assert.deepEqual(types(await of(entry)), ["bank_statement.imported",
				"source_import.received", "source_records.sealed"]);
		});

	test("openssl agrees with the signature, and with no altered byte", async () => {
		const { json } = await create("action", action.uid);
		const payload = Buffer.from(json.envelope.payload, "base64");
		const { log } = json.manifest.predicate;
		const manifestKey = eventOf(log.key_event.line).data.public_key;
		const file = (name, bytes) => {
			writeFileSync(join(folder, name), bytes);
			return join(folder, name);
		};
		const pem = file("key.pem", keyOf(manifestKey)
			.export({ type: "spki", format: "pem" }));
		const sig = file("sig", Buffer.from(json.envelope.signatures[0].sig, "base64"));
		const check = (body) => execFileSync("openssl", ["pkeyutl", "-verify",
			"-rawin", "-pubin", "-inkey", pem, "-sigfile", sig, "-in",
			file("pae", pae(payloadType, body))], { stdio: "pipe" });
		check(payload);
		payload[payload.length >> 1] ^= 1;
		assert.throws(() => check(payload));
	});
});

test("few events with many bytes are the worker's", async () => {
	service.ctl("bulky", "workspace create", { name: "Bulky" });
	service.ctl("bulky", "counterparty add", { name: "Alpine Components GmbH",
		account: "NL91ABNA0417164300" });
	for (const part of [1, 2, 3]) {
		const file = join(service.dir, `many-${part}.csv`);
		writeFileSync(file, "reference,counterparty,amount,currency\n" +
			[...Array(9000).keys()].map((n) => `MANY-${part}-${n},` +
				`Alpine Components GmbH,${n + 1}.00,EUR\n`).join(""));
		service.ctl("bulky", "source-record import", { format: "csv",
			kind: "invoice", file });
	}
	const theirs = auditorKey(service, "bulky", { scopes });
	close(); // the web server may be closing what was idle so long
	const reply = await create("workspace", "bulky", { key: theirs });
	assert.equal(reply.status, 202, reply.text.slice(0, 200));
	assert.ok(reply.json.event_count < 1000);
	round();
	close();
	const { json } = await send(service, "GET", `${path}/${reply.json.uid}`,
		{ key: theirs });
	assert.ok(json.bytes > 12 << 20);
	const { log, materials } = assertManifest(json, publicKey(service,
		{ workspace: "bulky", environment: "sandbox" }).split(" ").slice(0, 2).join(" "));
	assert.equal(log.complete, true);
	assert.equal(materials.length, 27003);
});

describe("refusals", () => {
	const cases = {
		"an unsupported scope": [{ scope_type: "portfolio", scope_id: unknown },
			"#/scope_type"],
		"a scope of later": [{ scope_type: "lqm_model", scope_id: unknown },
			"#/scope_type"],
		"no scope": [{ scope_id: unknown }, "#/scope_type"],
		"no record": [{ scope_type: "action" }, "#/scope_id"],
		"an unknown record": [{ scope_type: "source_record", scope_id: unknown },
			"#/scope_id"],
		"a record that is none": [{ scope_type: "action", scope_id: "x" },
			"#/scope_id"],
		"a record of another kind": [() => ({ scope_type: "action",
			scope_id: w.sources["EUR-BIG"].uid }), "#/scope_id"],
		"an unknown workspace": [{ scope_type: "workspace", scope_id: "nobody" },
			"#/scope_id"],
	};
	for (const [name, [body, pointer]] of Object.entries(cases))
		test(name, async () => {
			const reply = await send(service, "POST", path, { key,
				body: typeof body === "function" ? body() : body });
			const p = assertProblem(reply, 422, "validation_failed");
			contract.check("POST", path, reply);
			assert.deepEqual(named(p), [pointer]);
		});

	test("another workspace's record is like an unknown one", async () => {
		const bare = (reply) => JSON.stringify({ ...reply.json, instance: null });
		for (const [type, foreign, missing] of [
			["source_record", other.sources["EUR-BIG"].uid, unknown],
			["workspace", other.created.uid, unknown],
			["workspace", "other", "nobody"],
		]) {
			const [a, b] = [await create(type, foreign), await create(type, missing)];
			assertProblem(a, 422, "validation_failed");
			assert.equal(bare(a).replaceAll(foreign, ""), bare(b).replaceAll(missing, ""));
		}
		const { json } = await create("workspace", "acme");
		const theirs = auditorKey(service, "other", { scopes });
		const reply = await send(service, "GET", `${path}/${json.uid}`, { key: theirs });
		const none = await send(service, "GET", `${path}/${unknown}`, { key: theirs });
		assertProblem(reply, 404, "not_found");
		assert.equal(bare(reply), bare(none));
	});

	test("without the scope", async () => {
		assertProblem(await create("workspace", "acme", { key: w.key }), 403,
			"forbidden");
		assertProblem(await send(service, "GET", `${path}/${unknown}`,
			{ key: w.key }), 403, "forbidden");
	});
});

test("the same Idempotency-Key is the same export", async () => {
	const headers = { "Idempotency-Key": "lineage-1" };
	const first = await create("action", action.uid, { headers });
	const second = await create("action", action.uid, { headers });
	assert.equal(second.headers["idempotency-replayed"], "true");
	assert.equal(second.text, first.text);
	assertProblem(await create("workspace", "acme", { headers }), 422,
		"idempotency_mismatch");
});

describe("renderings", () => {
	let uid, predicate;
	before(async () => {
		const { reply, predicate: p } = await exported("action", action.uid);
		uid = reply.uid;
		predicate = p;
	});

	test("PROV-JSON: the same relations, which python3-prov reads and writes",
		async () => {
			const reply = await show(uid, "", { Accept: "application/json;profile=prov" });
			assert.equal(reply.status, 200, reply.text);
			assert.equal(reply.headers["content-type"], "application/json;profile=prov");
			const { content } = contract.document.paths[`${path}/{uid}`].get
				.responses[200];
			assert.deepEqual(Object.keys(content), ["application/json",
				"application/json;profile=prov", "text/html; charset=utf-8"]);
			assert.equal((await show(uid, "?rendering=prov")).text, reply.text);
			const doc = reply.json;
			assert.deepEqual(Object.keys(doc.activity),
				predicate.events.map((e) => `event:${e.run.runId}`));
			const pairs = (relation) => Object.values(doc[relation]).map((r) =>
				`${r["prov:activity"]} ${r["prov:entity"] ?? r["prov:agent"]}`).sort();
			const wanted = (side) => predicate.events.flatMap((e) => e[side].map((d) =>
				`event:${e.run.runId} record:${d.name}`)).sort();
			assert.deepEqual(pairs("wasGeneratedBy"), wanted("outputs"));
			assert.deepEqual(pairs("used"), wanted("inputs"));
			assert.equal(pairs("wasAssociatedWith").length, predicate.events.length);
			const out = execFileSync("/usr/bin/python3", ["-c",
				"import sys; from prov.model import ProvDocument\n" +
				"d = ProvDocument.deserialize(content=sys.stdin.read())\n" +
				"e = ProvDocument.deserialize(content=d.serialize())\n" +
				"assert d == e\nprint(len(list(d.get_records())))"],
			{ input: reply.text, encoding: "utf8" });
			assert.equal(Number(out), ["entity", "activity", "agent", "wasGeneratedBy",
				"used", "wasAssociatedWith"].reduce((n, part) =>
				n + Object.keys(doc[part]).length, 0));
		});

	test("a report for people that asks nothing of anybody", async () => {
		const reply = await show(uid, "", { Accept: "text/html,*/*;q=0.8" });
		assert.equal(reply.headers["content-type"], "text/html; charset=utf-8");
		assert.equal((await show(uid, "?rendering=html")).text, reply.text);
		for (const item of predicate.events) {
			assert.ok(reply.text.includes(item.run.facets.probity_event.hash));
			assert.ok(reply.text.includes(item.job.name));
		}
		assert.ok(reply.text.includes(predicate.log.root_sha256));
		assert.doesNotMatch(reply.text, /<script|<link|<img|src=|href=/);
	});

	test("whoever takes anything else gets the manifest", async () => {
		for (const accept of ["*/*", "application/json",
			"text/html;q=0.5, application/json", ""]) {
			const reply = await show(uid, "", { Accept: accept });
			assert.equal(reply.headers["content-type"], "application/json", accept);
			assert.equal(reply.json.uid, uid);
		}
		assertProblem(await show(uid, "", { Accept: "image/png" }), 406,
			"not_acceptable");
		assertProblem(await show(uid, "?rendering=pdf"), 422, "validation_failed");
	});
});

describe("large exports", () => {
	const exports = () => join(service.state, "ledgers/acme/sandbox/exports");
	let uid, sealed;

	before(async () => {
		await service.stop();
		service.settings.PROBITY_LINEAGE_EVENTS_AT_ONCE = "5";
		await service.start();
	});

	test("202, then the worker makes it", async () => {
		const headers = { "Idempotency-Key": "large" };
		const reply = await create("workspace", "acme", { headers });
		assert.equal(reply.status, 202, reply.text);
		contract.check("POST", path, reply);
		uid = reply.json.uid;
		assert.equal(reply.headers.location, `${path}/${uid}`);
		assert.ok(Number(reply.headers["retry-after"]) > 0);
		const { evidence, events, ...waiting } = reply.json;
		assert.equal(events.length, 2);
		assert.deepEqual([waiting.status, waiting.manifest, waiting.progress],
			["queued", null, { done: 0, total: waiting.event_count }]);
		const now = await show(uid);
		contract.check("GET", `${path}/${uid}`, now);
		assert.ok(Number(now.headers["retry-after"]) > 0);
		assert.deepEqual(now.json, waiting);
		round();
		sealed = await show(uid);
		assert.equal(sealed.status, 200, sealed.text);
		contract.check("GET", `${path}/${uid}`, sealed);
		const predicate = assertManifest(sealed.json, ledgerKey);
		assert.equal(predicate.log.complete, true);
		assert.deepEqual([sealed.json.size, sealed.json.generated_at],
			[waiting.size, waiting.generated_at]);
		assert.deepEqual(readdirSync(exports()), [uid]);
		assert.equal(readFileSync(join(exports(), uid), "utf8"),
			canonical(sealed.json.manifest));
		const again = await create("workspace", "acme", { headers });
		assert.equal(again.text, reply.text);
	});

	test("its seal is in the ledger", async () => {
		const index = Number(/^index (\d+)$/m.exec(sealed.json.proof)[1]);
		assertSealing(sealed.json, await lineOf(index), ledgerKey);
	});

	test("it is cached by its hash", async () => {
		const { etag } = sealed.headers;
		assert.ok(etag.includes(sealed.json.manifest_sha256));
		const reply = await show(uid, "", { "If-None-Match": etag });
		assert.deepEqual([reply.status, reply.text], [304, ""]);
	});

	test("other renderings are for small ones", async () => {
		assertProblem(await show(uid, "?rendering=prov"), 422, "rendering_too_large");
	});

	test("a lost file is made again, byte for byte", async () => {
		rmSync(join(exports(), uid));
		// As a worker leaves it that was killed.
		for (const end of ["part", "progress"])
			service.write(join(exports(), `${uid}.${end}`), "x".repeat(1 << 20));
		const gone = assertProblem(await show(uid), 503, "export_file_gone");
		assert.match(gone.detail, /makes it again/);
		round();
		const reply = await show(uid);
		assert.equal(reply.text, sealed.text);
		assert.deepEqual(readdirSync(exports()), [uid]);
	});

	test("an interrupted one is not taken for a whole one", async () => {
		writeFileSync(join(exports(), uid), "{");
		assertProblem(await show(uid), 503, "export_file_gone");
		round();
		assert.equal((await show(uid)).text, sealed.text);
	});

	test("what another key would sign fails, and says so", async () => {
		const reply = await create("workspace", "acme");
		const file = join(service.keys, "acme/sandbox/manifest.key");
		const kept = readFileSync(file);
		rmSync(file);
		const job = () => service.ctl("acme", "job list",
			{ kind: "lineage.export" }).data.at(-1);
		round();
		assert.match(job().fault, /ask for the export again/);
		rmSync(file);
		service.write(file, kept);
		execFileSync("chmod", ["600", file]);
		await until("the next attempt", async () => {
			round();
			return job().status === "completed";
		}, 40);
		close(); // the web server may be closing what was idle so long
		assertManifest((await show(reply.json.uid)).json, ledgerKey);
	});

	test("after a rebuild every export is what it was", async () => {
		const small = (await send(service, "POST", path, { key,
			body: { scope_type: "source_record",
				scope_id: w.sources["EUR-SMALL"].uid } })).json;
		const replies = () => Promise.all([uid, small.uid].map((one) => show(one)));
		const earlier = await replies();
		await service.stop();
		service.ctl("acme", "ledger rebuild");
		await service.start();
		(await replies()).forEach((reply, i) =>
			assert.equal(reply.text, earlier[i].text));
	});
});

test("everything holds", () => finish(service));
