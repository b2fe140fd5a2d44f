// One key, one effect: replays, mismatches, duplicates at the same moment, and
// all of that after a restart and a rebuild.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { close, paths, send } from "./support/client.mjs";
import { assertProblem } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { Service } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

let service, w;

const size = () => service.ctl("acme", "ledger status").size;
const create = (idempotencyKey, changes = {}, key = w.key) =>
	send(service, "POST", paths.create, { key, body: actionBody(w, changes),
		headers: { "Idempotency-Key": idempotencyKey } });

before(async () => {
	service = await new Service({ build: "debug", worker: false }).start();
	w = provision(service, "acme");
});
after(close);

test("the same request again gets the same reply", async () => {
	const first = await create("key-1", { amount: "3.00" });
	assert.equal(first.status, 201);
	assert.equal(first.headers["idempotency-replayed"], undefined);
	const before = size();
	const again = await create("key-1", { amount: "3.00" });
	assert.equal(again.status, 201);
	assert.equal(again.headers["idempotency-replayed"], "true");
	assert.equal(again.text, first.text);
	assert.equal(size(), before);
});

test("bare and quoted are the same key", async () => {
	const first = await create("key-q");
	const again = await create('"key-q"');
	assert.equal(again.json.uid, first.json.uid);
});

test("another request under the key is refused", async () => {
	await create("key-2", { amount: "3.00" });
	const before = size();
	assertProblem(await create("key-2", { amount: "3.01" }), 422,
		"idempotency_mismatch");
	assert.equal(size(), before);
});

// As JSON numbers, which node would round itself.
const createAmount = (idempotencyKey, amount) =>
	send(service, "POST", paths.create, { key: w.key,
		body: JSON.stringify(actionBody(w, { amount: null }))
			.replace("\"amount\":null", `"amount":${amount}`),
		headers: { "Idempotency-Key": idempotencyKey } });

test("a number is the same in another spelling, and no other one", async () => {
	const first = await createAmount("key-n", "1.5");
	assert.equal(first.status, 201, first.text);
	for (const same of ["1.50", "15e-1", "0.15e1"])
		assert.equal((await createAmount("key-n", same)).text, first.text);
	for (const other of ["1.51", "1.500000000000000000001"])
		assertProblem(await createAmount("key-n", other), 422,
			"idempotency_mismatch");
});

test("a refusal leaves the key free", async () => {
	assertProblem(await create("key-3", { currency: "USD" }), 422,
		"control_failed");
	assert.equal((await create("key-3")).status, 201);
});

test("another application's key is another key", async () => {
	const app = service.ctl("acme", "application create", { name: "second",
		responsible: "b@example.com", scopes: "actions:create",
		entitlements: "financial-actions" });
	const { key } = service.ctl("acme", "credential issue",
		{ application: app.uid });
	const one = await create("shared"), two = await create("shared", {}, key);
	assert.equal(two.status, 201);
	assert.notEqual(two.json.uid, one.json.uid);
});

test("32 at the same moment make one action", async () => {
	const before = size();
	const replies = await Promise.all(Array.from({ length: 32 },
		() => create("key-4", { amount: "4.00" })));
	assert.deepEqual([...new Set(replies.map((r) => r.status))], [201]);
	assert.equal(new Set(replies.map((r) => r.json.uid)).size, 1);
	assert.equal(replies.filter((r) =>
		r.headers["idempotency-replayed"] !== "true").length, 1);
	assert.equal(size(), before + 1);
});

test("32 requests that differ, at the same moment under one key", async () => {
	const before = size();
	const replies = await Promise.all(Array.from({ length: 32 },
		(_, i) => create("key-5", { amount: `5.${10 + i}` })));
	assert.equal(replies.filter((r) => r.status === 201).length, 1);
	assert.equal(replies.filter((r) => r.status === 422).length, 31);
	assert.equal(size(), before + 1);
});

test("keys hold after a restart and after a rebuild", async () => {
	const first = await create("key-6", { amount: "6.00" });
	await service.restart();
	const second = await create("key-6", { amount: "6.00" });
	assert.equal(second.text, first.text);
	await service.stop();
	service.ctl("acme", "ledger rebuild");
	await service.start();
	const third = await create("key-6", { amount: "6.00" });
	assert.equal(third.text, first.text);
	assert.equal(third.headers["idempotency-replayed"], "true");
	assertProblem(await create("key-6", { amount: "7.00" }), 422,
		"idempotency_mismatch");
});

test("operators' commands have keys too, and show a secret once", () => {
	const issue = () => service.ctl("acme", "credential issue",
		{ application: w.application.uid, "idempotency-key": "issue-1" });
	const first = issue(), again = issue();
	assert.match(first.key, /^pby_test_acme_/);
	assert.equal(again.uid, first.uid);
	assert.equal(again.key, null);
	assert.equal(again.secret_shown, true);
});

test("the ledger verifies, and the read model rebuilds the same", () =>
	finish(service));
