// Idempotency-Key on every write of the document: declared on each, and tried
// on each that this test can call, by two processes over one state.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { auditorKey } from "./support/auditor.mjs";
import { close, paths, send } from "./support/client.mjs";
import { assertProblem, named } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { Service } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const exportsPath = "/api/v2/infrastructure/lineage-exports";
const service = new Service({ worker: false });
let second, w, lineageKey, writes;

// How a row is called: a good body, another good one, and one that is refused
// by the state of things, if there is such a body.
const callers = {
	[`POST ${paths.create}`]: () => ({ key: w.key,
		body: actionBody(w, { amount: "1.10" }),
		other: actionBody(w, { amount: "1.20" }),
		refused: actionBody(w, { currency: "USD" }) }),
	[`POST ${exportsPath}`]: () => ({ key: lineageKey,
		body: { scope_type: "workspace", scope_id: "acme" },
		other: { scope_type: "source_record",
			scope_id: w.sources["EUR-BIG"].uid },
		refused: { scope_type: "source_record",
			scope_id: "018f0000-0000-7000-8000-000000000000" } }),
};

const size = () => service.ctl("acme", "ledger status").size;
const replayed = (reply) => reply.headers["idempotency-replayed"];

// Starts a second program and web server over the same state.
async function startSecond() {
	second = new Service({ kind: "nginx", worker: false, env: {
		PROBITY_STATE: service.state, PROBITY_KEYS: service.keys } });
	await second.start();
}

before(async () => {
	await service.start();
	w = provision(service, "acme");
	lineageKey = auditorKey(service, "acme",
		{ scopes: "infrastructure:lineage,trust:read" });
	await startSecond();
	const { json } = await send(service, "GET", "/api/v2/openapi.json");
	writes = Object.entries(json.paths).flatMap(([path, methods]) =>
		Object.entries(methods).filter(([method]) => method !== "get")
			.map(([method, op]) => ({ name: `${method.toUpperCase()} ${path}`,
				op, document: json })));
});
after(close);

test("every write declares the header, and that a reply may be a replay", () => {
	assert.ok(writes.length >= 2);
	for (const { name, op, document } of writes) {
		const declared = (op.parameters ?? []).map((p) => p.$ref
			? p.$ref.slice(2).split("/").reduce((at, part) => at[part], document)
			: p).find((p) => p.in === "header" && p.name === "Idempotency-Key");
		assert.ok(declared, name);
		assert.equal(declared.required, false);
		assert.equal(declared.schema.minLength, 1);
		assert.equal(declared.schema.maxLength, 255);
		for (const [status, reply] of Object.entries(op.responses))
			if (status.startsWith("2"))
				assert.ok(reply.headers["Idempotency-Replayed"], name);
	}
});

test("every row that this test calls is in the document", (t) => {
	const names = writes.map(({ name }) => name);
	for (const name of Object.keys(callers)) assert.ok(names.includes(name), name);
	const left = names.filter((name) => !callers[name]);
	if (left.length > 0) t.diagnostic(`not called here: ${left.join(", ")}`);
});

for (const name of Object.keys(callers))
	describe(name, () => {
		const [method, path] = name.split(" ");
		const write = (idempotencyKey, which = "body", at = service) => {
			const row = callers[name]();
			return send(at, method, path, { key: row.key, body: row[which],
				headers: { "Idempotency-Key": idempotencyKey } });
		};
		const made = (reply) => assert.ok([201, 202, 200].includes(reply.status),
			reply.text);

		test("the same request by either process, bare and quoted", async () => {
			const first = await write("plain");
			made(first);
			assert.equal(replayed(first), undefined);
			const before = size();
			for (const [key, at] of [["plain", service], ['"plain"', service],
				["plain", second], ['"plain"', second]]) {
				const again = await write(key, "body", at);
				assert.equal(again.text, first.text);
				assert.equal(again.status, first.status);
				assert.equal(replayed(again), "true");
			}
			assert.equal(size(), before);
		});

		test("the longest key, and each character that may be in one",
			async () => {
				const all = Array.from({ length: 95 }, (_, i) =>
					String.fromCharCode(32 + i)).join("");
				const quoted = `"${all.replace(/[\\"]/g, "\\$&")}"`;
				const long = "k".repeat(255);
				for (const [key, same] of [[long, `"${long}"`],
					[quoted, quoted]]) {
					const first = await write(key);
					made(first);
					assert.equal((await write(same, "body", second)).text,
						first.text);
				}
			});

		test("what is no key", async () => {
			const before = size();
			for (const key of ['""', `"${"k".repeat(256)}"`, '"a', 'a"b', "a, b",
				'"a", "b"', '"a\\b"', '"a";p=1'])
				assert.deepEqual(named(assertProblem(await write(key), 400,
					"malformed_request")), ["Idempotency-Key"], key);
			assert.equal(size(), before);
		});

		test("another request under the key", async () => {
			made(await write("taken"));
			const before = size();
			for (const at of [service, second])
				assertProblem(await write("taken", "other", at), 422,
					"idempotency_mismatch");
			assert.equal(size(), before);
		});

		test("a refusal leaves the key free", async () => {
			for (const at of [service, second])
				assert.equal((await write("free", "refused", at)).status, 422);
			const reply = await write("free");
			made(reply);
			assert.equal(replayed(reply), undefined);
		});

		test("24 at the same moment, by both processes: one effect", async () => {
			const before = size();
			const replies = await Promise.all(Array.from({ length: 24 }, (_, i) =>
				write("moment", "body", i % 2 ? service : second)));
			replies.forEach(made);
			assert.equal(new Set(replies.map((r) => r.text)).size, 1);
			assert.equal(new Set(replies.map((r) => r.status)).size, 1);
			assert.equal(replies.filter((r) => replayed(r) !== "true").length, 1);
			const { evidence, events } = replies[0].json;
			assert.equal(size(), before + (events?.length ?? 1));
			assert.ok(evidence.seq >= before);
		});

		test("24 that differ, by both processes: one of them is done",
			async () => {
				const replies = await Promise.all(Array.from({ length: 24 },
					(_, i) => write("race", i % 4 < 2 ? "body" : "other",
						i % 2 ? service : second)));
				const done = replies.filter((r) => r.status < 300);
				assert.equal(done.length, 12);
				assert.equal(new Set(done.map((r) => r.text)).size, 1);
				assert.equal(done.filter((r) => replayed(r) !== "true").length, 1);
				for (const r of replies.filter((r) => r.status >= 300))
					assertProblem(r, 422, "idempotency_mismatch");
			});
	});

test("a key of one path is another key at another path", async () => {
	const replies = [];
	for (const name of Object.keys(callers)) {
		const [method, path] = name.split(" ");
		const { key, body } = callers[name]();
		replies.push(await send(service, method, path, { key, body,
			headers: { "Idempotency-Key": "shared" } }));
	}
	for (const r of replies) assert.equal(replayed(r), undefined, r.text);
});

test("a rebuild forgets none", async () => {
	const again = () => Promise.all(Object.keys(callers).map((name) => {
		const [method, path] = name.split(" ");
		const { key, body } = callers[name]();
		return send(service, method, path, { key, body,
			headers: { "Idempotency-Key": "kept" } });
	}));
	const first = await again();
	await service.stop();
	await second.stop();
	service.ctl("acme", "ledger rebuild");
	await service.start();
	const then = await again();
	then.forEach((reply, i) => {
		assert.equal(reply.text, first[i].text);
		assert.equal(replayed(reply), "true");
	});
});

test("the ledger verifies, and the read model rebuilds the same", async () => {
	assert.equal(second.sanitizerReports(), "");
	second.remove();
	await finish(service, { long: true });
});
