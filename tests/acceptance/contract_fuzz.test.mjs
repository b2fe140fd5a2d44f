// Each operation is sent what its description allows and what it does not,
// through a web server: no fault of the service, no status or reply that is not
// declared, nothing accepted that is not allowed. The requests are the same ones
// each time; PROBITY_FUZZ_SEED makes others ("random": of each run its own), and
// PROBITY_FUZZ_SECONDS more.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { close, send } from "./support/client.mjs";
import { documentOf } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { fixture } from "./support/examples.mjs";
import { faultOf, Fuzzer } from "./support/fuzz.mjs";

const seconds = Number(process.env.PROBITY_FUZZ_SECONDS ?? 15);
const { PROBITY_FUZZ_SEED: wanted = "1" } = process.env;
const seed = wanted === "random" ? Date.now() % 2 ** 31 : Number(wanted);
const ROUNDS_MIN = 4, ROUNDS_TO_TELL = 40;
let f, fuzzer;
const sums = new Map();

before(async () => {
	f = await fixture();
	const g = f.given;
	fuzzer = new Fuzzer(documentOf(), seed, [[/^source_uid$/, g.source_uid],
		[/^uid$/, g.action_uid], [/^uid$/, g.export_uid],
		[/^uid$/, g.webhook_uid], [/^url$/, g.webhook_url],
		[/^scope_id$/, g.action_uid], [/^scope_type$/, "action"],
		[/^connector_id$/, g.connector_id], [/^counterparty_id$/, g.counterparty_id],
		[/^currency$/, "EUR"], [/^amount$/, "0.01"], [/^execution_mode$/, "sandbox"],
		[/^subject$/, g.action_uid], [/^seq$/, g.action_seq], [/^arrangement_uid$/, null],
		[/^(seq|old|size|from|after_id)$/, 3], [/^kind$/, "action"]]);
});
after(() => {
	f?.stop();
	close();
});

async function one(row) {
	const request = fuzzer.next(row);
	const what = () => `seed ${seed}: ${JSON.stringify(request)}`;
	const sum = sums.get(row.id) ?? { accepted: 0, refused: 0, invalid: 0 };
	sums.set(row.id, sum);
	let reply;
	try {
		// The document's own checks are those of send().
		reply = await send(f.service, request.method, request.path, {
			key: f.keys.full, body: request.body, headers: request.headers });
	} catch (e) {
		assert.fail(`${e.message}\n${what()}`);
	}
	const fault = faultOf(request, reply);
	assert.equal(fault, null, `${row.id} ${fault}\n${what()}\n${reply.text}`);
	sum[reply.status < 400 ? "accepted" : "refused"]++;
	sum.invalid += !request.valid;
}

test("every operation, by turns", async (t) => {
	t.diagnostic(`seed ${seed}, ${seconds} s`);
	const end = Date.now() + seconds * 1000;
	let rounds = 0;
	for (; rounds < ROUNDS_MIN || Date.now() < end; rounds++)
		for (const row of fuzzer.rows) await one(row);
	t.diagnostic(`${rounds} rounds: ${JSON.stringify(Object.fromEntries(sums))}`);
	// It reached behind the checks of each, and each refused something.
	if (rounds >= ROUNDS_TO_TELL)
		for (const [id, sum] of sums)
			assert.ok(sum.accepted > 0 && sum.refused > 0, id);
});

test("a fault would have been seen", () => {
	const allowed = { valid: true }, not = { valid: false };
	for (const status of [500, 502, 504]) {
		assert.match(faultOf(allowed, { status }), /answers/);
		assert.match(faultOf(not, { status }), /answers/);
	}
	for (const status of [200, 201, 202, 304])
		assert.match(faultOf(not, { status }), /not allow/);
	for (const status of [201, 422, 503, 507])
		assert.equal(faultOf(allowed, { status }), null);
	const row = fuzzer.rows.find(({ id }) => id === "action.create_credit");
	assert.equal(row.validate({}), false);
	const again = new Fuzzer(documentOf(), seed, fuzzer.given);
	const twin = new Fuzzer(documentOf(), seed, fuzzer.given);
	for (let i = 0; i < 20; i++)
		assert.deepEqual(again.next(row), twin.next(row));
});

test("the ledger verifies, and the read model rebuilds the same", () =>
	finish(f.service, { long: true }));
