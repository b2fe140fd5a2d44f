// Every HTTP operation as a well-behaved client uses it, each reply held
// against the service's own OpenAPI document.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { close, paths, send } from "./support/client.mjs";
import { Contract } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { Service } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

let service, w, contract;

async function call(method, path, options = {}) {
	const reply = await send(service, method, path, { key: w.key, ...options });
	if (method !== "HEAD") contract.check(method, path, reply);
	return reply;
}

before(async () => {
	service = await new Service({ build: "debug" }).start();
	w = provision(service, "acme");
	contract = await Contract.of(service);
});
after(close);

test("the workspace of the credential", async () => {
	const { status, json, headers } = await call("GET", paths.workspace);
	assert.equal(status, 200);
	assert.equal(json.name, "acme");
	assert.equal(json.environment, "sandbox");
	assert.deepEqual([...json.scopes].sort(), ["actions:create",
		"agent:execution:read", "finance-core:read", "workspace:read"]);
	assert.match(json.ledger.public_key, /^ssh-ed25519 /);
	assert.equal(Number(headers["ledger-size"]), json.ledger.size);
	assert.match(headers["x-request-id"], /^[0-9a-f-]{36}$/);
});

test("an action is created from a sealed source", async () => {
	const body = actionBody(w, { amount: "12.30", purpose: "Zahlung für März",
		external_reference: "E2E-1" });
	const { status, json, headers } = await call("POST", paths.create, { body });
	assert.equal(status, 201);
	assert.equal(json.state, "created");
	assert.equal(json.amount, "12.30");
	assert.equal(json.purpose, "Zahlung für März");
	assert.ok(json.controls.every((c) => c.outcome !== "failed"));

	const { evidence } = json;
	assert.ok(evidence.seq > 0);
	assert.match(evidence.event_hash, /^[0-9a-f]{64}$/);
	assert.match(evidence.commit, /^[0-9a-f]{40}$/);
	// The signed note begins with the origin and a size that covers the event.
	const [origin, size] = evidence.checkpoint.split("\n");
	assert.equal(origin, evidence.ledger);
	assert.ok(Number(size) > evidence.seq);
	// The event is in the commit it names, under the hash it gives.
	const blob = service.run("git", ["-C", service.ledger("acme"), "cat-file",
		"blob", `${evidence.commit}:events`]).stdout;
	const lines = blob.trimEnd().split("\n")
		.map((line) => line.slice(line.indexOf(" ") + 1));
	const event = lines.find((line) => JSON.parse(line).seq === evidence.seq);
	assert.equal(createHash("sha256").update(event).digest("hex"),
		evidence.event_hash);
	assert.equal(JSON.parse(event).type, "action.created");
	assert.equal(JSON.parse(event).request, headers["x-request-id"]);
});

test("an action under an arrangement", async () => {
	const body = actionBody(w, { source_uid: w.sources["FRAME-1"].uid,
		arrangement_uid: w.arrangement.uid, counterparty_id: w.other.id,
		amount: 7 });
	const { status, json } = await call("POST", paths.create, { body });
	assert.equal(status, 201);
	assert.equal(json.amount, "7.00");
	assert.equal(json.arrangement_uid, w.arrangement.uid);
});

test("an action's control state and its assurance", async () => {
	const made = await call("POST", paths.create, { body: actionBody(w) });
	const state = await call("GET", paths.action(made.json.uid));
	assert.equal(state.status, 200);
	assert.equal(state.json.uid, made.json.uid);
	assert.equal(state.json.state, "created");
	const assurance = await call("GET", paths.assurance(made.json.uid));
	assert.equal(assurance.status, 200);
	assert.ok(assurance.text.includes(made.json.envelope_hash));
	// No transaction payloads there.
	assert.ok(!assurance.text.includes(w.sources["EUR-BIG"].uid));
});

test("a JSON number's digits are taken as written", async () => {
	for (const [text, want] of [["1.10", "1.10"], ["0.07", "0.07"],
		["1e1", "10.00"], ["123456789.01", "123456789.01"]]) {
		const body = JSON.stringify(actionBody(w, { amount: "AMOUNT" }))
			.replace('"AMOUNT"', text);
		const { status, json } = await call("POST", paths.create, { body });
		assert.equal(status, 201, `${text}: ${JSON.stringify(json)}`);
		assert.equal(json.amount, want);
	}
});

test("currencies with other minor units", async () => {
	for (const [source, currency, amount, want] of [
		["JPY-1", "JPY", "100", "100"], ["KWD-1", "KWD", "0.125", "0.125"]]) {
		const { status, json } = await call("POST", paths.create, { body:
			actionBody(w, { source_uid: w.sources[source].uid, currency, amount }) });
		assert.equal(status, 201, JSON.stringify(json));
		assert.equal(json.amount, want);
	}
});

test("the inventory of Finance Core", async () => {
	const { status, json } = await call("GET", paths.financeCore);
	assert.equal(status, 200);
	assert.equal(json.inventory.bank_statements, 1);
	assert.equal(json.authority.read_only, true);
	assert.equal(json.authority.moves_cash, false);
});

test("bank statements, filtered", async () => {
	const all = await call("GET", paths.statements);
	assert.equal(all.json.data.length, 1);
	assert.equal(all.json.has_more, false);
	assert.equal(all.json.next_after_id, null);
	const [one] = all.json.data;
	for (const [query, n] of [[`uid=${one.uid}`, 1], ["status=imported", 1],
		["status=reconciled", 0], ["general_ledger_id=1200", 1],
		["general_ledger_id=1", 0], [`after_id=${one.id}`, 0], ["limit=1", 1]]) {
		const { status, json } = await call("GET", `${paths.statements}?${query}`);
		assert.equal(status, 200, query);
		assert.equal(json.data.length, n, query);
	}
});

test("paging goes through all, each once, and names the next page", async () => {
	const bank = provision(service, "paging");
	for (let i = 2; i <= 7; i++) {
		const file = `${service.dir}/statement-${i}.xml`;
		service.write(file, service.demoStatement(i));
		service.ctl("paging", "source-record import", { format: "camt.053", file });
	}
	const seen = [];
	let path = `${paths.statements}?limit=3`;
	for (let page = 0; path; page++) {
		assert.ok(page < 4);
		const reply = await call("GET", path, { key: bank.key });
		assert.equal(reply.status, 200);
		seen.push(...reply.json.data.map((r) => r.id));
		const link = /<([^>]+)>; rel="next"/.exec(reply.headers.link ?? "");
		assert.equal(reply.json.has_more, link !== null);
		path = link?.[1];
		if (path) assert.match(path, new RegExp(`after_id=${seen.at(-1)}$`));
	}
	assert.equal(seen.length, 7);
	assert.deepEqual(seen, [...new Set(seen)].sort((a, b) => a - b));
});

test("an ETag holds until something changes", async () => {
	const first = await call("GET", paths.financeCore);
	const { etag } = first.headers;
	assert.match(etag, /^"[^"]+"$/);
	const again = await call("GET", paths.financeCore,
		{ headers: { "If-None-Match": etag } });
	assert.equal(again.status, 304);
	assert.equal(again.text, "");
	assert.equal(again.headers.etag, etag);
	const weak = await call("GET", paths.financeCore,
		{ headers: { "If-None-Match": `"x", W/${etag}` } });
	assert.equal(weak.status, 304);
	service.ctl("acme", "counterparty add", { name: "Third", account: "ACC-3" });
	const changed = await call("GET", paths.financeCore,
		{ headers: { "If-None-Match": etag } });
	assert.equal(changed.status, 200);
	assert.notEqual(changed.headers.etag, etag);
});

test("HEAD is GET without its body", async () => {
	for (const path of [paths.workspace, paths.financeCore, paths.statements]) {
		const get = await call("GET", path);
		const head = await call("HEAD", path);
		assert.equal(head.status, 200);
		assert.equal(head.text, "");
		assert.equal(head.headers.etag, get.headers.etag);
	}
});

test("problems have a page", async () => {
	const { json } = await send(service, "GET", paths.workspace);
	const page = await send(service, "GET", new URL(json.type).pathname);
	assert.equal(page.status, 200);
	assert.ok(page.text.includes("401"));
});

test("the ledger verifies, and the read model rebuilds the same", () =>
	finish(service));
