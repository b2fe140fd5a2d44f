// Every example of the document, sent to a real service: status and reply are
// as the document shows them. With PROBITY_EXAMPLES=write the replies that
// examples lack are written into their files.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { close, send } from "./support/client.mjs";
import { documentOf } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { asExample, assertLike, exampleFiles, fill, fixture, readExamples, shorten,
	target, writeExamples } from "./support/examples.mjs";

const writing = process.env.PROBITY_EXAMPLES === "write";
const files = exampleFiles();
const rows = Object.entries(documentOf().paths).flatMap(([path, methods]) =>
	Object.entries(methods).map(([method, op]) => ({ path, op,
		method: method.toUpperCase(), id: op.operationId })));
let f;

before(async () => {
	f = await fixture();
});
after(() => {
	f?.stop();
	close();
});

async function check({ method, path, op }, example) {
	const request = fill(example, f.given);
	const reply = await send(f.service, method, target(path, request), {
		key: f.keys[example.credential ?? "full"], body: request.body,
		headers: request.headers });
	assert.equal(reply.status, example.status, reply.text);
	const shown = asExample(example, reply, f);
	if (example.reply === undefined && writing) example.reply = shorten(shown);
	if (example.reply === undefined) {
		assert.equal(shown, undefined, `${example.name}: no reply is shown`);
		assert.ok(reply.bytes.length > 0);
		return;
	}
	assertLike(example, shown);
	if (writing || !reply.json) return;
	// What the document shows is what stands in the file.
	const media = reply.headers["content-type"].split(";")[0];
	assert.deepEqual(op.responses[reply.status].content[media]
		.examples?.[example.name]?.value, example.reply);
}

describe("examples", () => {
	for (const row of rows)
		test(row.id, async () => {
			assert.ok(files.has(row.id), `domain/*/examples/${row.id}.json`);
			const examples = readExamples(files.get(row.id));
			for (const example of examples) await check(row, example);
			if (writing) writeExamples(files.get(row.id), examples);
		});
});

test("no file of examples is of an operation that there is not", () => {
	const known = new Set(rows.map(({ id }) => id));
	assert.deepEqual([...files.keys()].filter((id) => !known.has(id)), []);
});

test("a reply that is not like its example is found", () => {
	const example = { name: "x", reply: { uid: "018f0000-0000-7000-8000-000000000000",
		state: "created", n: 1, list: [{ a: null }], on: true } };
	const like = (changes) => assertLike(example, { ...example.reply, ...changes });
	like({});
	like({ uid: "018f0000-0000-7000-8000-000000000001", n: 2 });
	for (const changes of [{ uid: "x" }, { uid: null }, { state: "submitted" },
		{ n: "1" }, { list: [] }, { list: [{ a: 1 }] }, { list: [{ b: null }] },
		{ list: {} }, { on: false }, { more: 1 }])
		assert.throws(() => like(changes), JSON.stringify(changes));
});

test("the ledger verifies, and the read model rebuilds the same", () =>
	finish(f.service));
