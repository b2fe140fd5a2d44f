// A record as it was: as_of=<seq> on records that keep versions.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { close, paths, send } from "./support/client.mjs";
import { Contract } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { Service } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

let service, w, contract, action;

before(async () => {
	service = await new Service({ build: "debug", worker: false }).start();
	w = provision(service, "acme");
	contract = await Contract.of(service);
	const reply = await send(service, "POST", paths.create,
		{ key: w.key, body: actionBody(w) });
	assert.equal(reply.status, 201);
	action = reply.json;
});
after(close);

async function read(query) {
	const path = `/api/v2/agent-execution/actions/${action.uid}${query}`;
	const reply = await send(service, "GET", path, { key: w.key });
	contract.check("GET", path, reply);
	return reply;
}

test("an action as it was, and the size at which that holds", async () => {
	const { seq } = action.evidence;
	service.ctl("acme", "connector add", { name: "Later", kind: "sandbox",
		modes: "sandbox" });
	const now = await read("");
	const then = await read(`?as_of=${seq}`);
	assert.equal(then.status, 200);
	assert.equal(Number(then.headers["ledger-size"]), seq + 1);
	assert.ok(Number(now.headers["ledger-size"]) > seq + 1);
	assert.deepEqual(then.json, now.json);
	assert.equal(then.headers.etag, now.headers.etag);
});

test("before it existed there is nothing; after the end no answer", async () => {
	const { seq } = action.evidence;
	assert.equal((await read(`?as_of=${seq - 1}`)).status, 404);
	assert.equal((await read("?as_of=0")).status, 404);
	const beyond = await read("?as_of=1000000");
	assert.equal(beyond.status, 422);
	assert.equal(beyond.json.errors[0].parameter, "as_of");
	for (const bad of ["-1", "x", "", "1.5"])
		assert.ok([400, 422].includes((await read(`?as_of=${bad}`)).status), bad);
});

test("an application through its changes of status", () => {
	const uid = w.application.uid;
	const sizes = [];
	const size = () => service.ctl("acme", "ledger status", {}).size;
	for (const verb of ["suspend", "resume", "revoke"]) {
		sizes.push(size() - 1);
		service.ctl("acme", `application ${verb}`, { uid, reason: "test" });
	}
	sizes.push(size() - 1);
	const shown = sizes.map((seq) => service.ctl("acme", "application show",
		{ uid, "as-of": seq }));
	assert.deepEqual(shown.map((a) => a.status),
		["active", "suspended", "active", "revoked"]);
	const times = shown.map((a) => a.changed_at);
	assert.deepEqual(times, [...times].sort());
	assert.equal(times[0], shown[0].created_at);
	assert.deepEqual(service.ctl("acme", "application show", { uid }), shown[3]);
});

test("the ledger verifies and the read model is made anew alike", async () => {
	await finish(service);
});
