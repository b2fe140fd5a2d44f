// Two workspaces share nothing: a record of the other is like one that does not
// exist, in status, in words and in what a reply reveals.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { close, paths, send } from "./support/client.mjs";
import { assertProblem } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { Service } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const unknown = "018f0000-0000-7000-8000-000000000000";
let service, a, b;

before(async () => {
	service = await new Service({ build: "debug", worker: false }).start();
	a = provision(service, "first-bank");
	b = provision(service, "second-bank");
});
after(close);

// Without what differs from request to request.
const bare = (reply, uid) => JSON.stringify({ status: reply.status,
	body: { ...reply.json, instance: null } }).replaceAll(uid, "UID");

const create = (w, changes) => send(service, "POST", paths.create,
	{ key: w.key, body: actionBody(w, changes) });

test("a foreign source is like an unknown one", async () => {
	const uid = b.sources["EUR-BIG"].uid;
	const foreign = await create(a, { source_uid: uid });
	const missing = await create(a, { source_uid: unknown });
	assertProblem(foreign, 422, "control_failed");
	assert.equal(bare(foreign, uid), bare(missing, unknown));
});

test("a foreign arrangement is like an unknown one", async () => {
	const changes = { source_uid: a.sources["FRAME-1"].uid,
		counterparty_id: a.other.id };
	const uid = b.arrangement.uid;
	const foreign = await create(a, { ...changes, arrangement_uid: uid });
	const missing = await create(a, { ...changes, arrangement_uid: unknown });
	assertProblem(foreign, 422, "control_failed");
	assert.equal(bare(foreign, uid), bare(missing, unknown));
});

test("a foreign action is like an unknown one", async () => {
	const made = (await create(b)).json;
	for (const path of [paths.action, paths.assurance]) {
		const foreign = await send(service, "GET", path(made.uid), { key: a.key });
		const missing = await send(service, "GET", path(unknown), { key: a.key });
		assertProblem(foreign, 404, "not_found");
		assert.equal(bare(foreign, made.uid), bare(missing, unknown));
		assert.equal((await send(service, "GET", path(made.uid),
			{ key: b.key })).status, 200);
	}
});

test("lists and counts show their own alone", async () => {
	service.ctl("second-bank", "counterparty add", { name: "N", account: "N1" });
	const of = async (w, path) => (await send(service, "GET", path,
		{ key: w.key })).json;
	assert.equal((await of(a, paths.financeCore)).inventory.counterparties, 2);
	assert.equal((await of(b, paths.financeCore)).inventory.counterparties, 3);
	const [one] = (await of(b, paths.statements)).data;
	const there = await of(a, `${paths.statements}?uid=${one.uid}`);
	assert.equal(there.data.length, 0);
	assert.equal((await of(a, paths.workspace)).name, "first-bank");
});

test("a key works in its own workspace alone", async () => {
	const forged = a.key.replace("first_bank", "second_bank");
	assert.notEqual(forged, a.key);
	assertProblem(await send(service, "GET", paths.workspace, { key: forged }),
		401, "unauthorized");
});

test("a write in one moves nothing of the other", async () => {
	const before = service.ctl("second-bank", "ledger status");
	assert.equal((await create(a)).status, 201);
	const after = service.ctl("second-bank", "ledger status");
	assert.equal(after.commit, before.commit);
	assert.equal(after.size, before.size);
	assert.notEqual(service.ctl("first-bank", "ledger status").public_key,
		after.public_key);
});

test("an unknown workspace's key makes no ledger and no folder", async () => {
	const forged = a.key.replace("first_bank", "nobody");
	assertProblem(await send(service, "GET", paths.workspace, { key: forged }),
		401, "unauthorized");
	assert.ok(!existsSync(join(service.state, "ledgers/nobody")));
});

test("production stays closed", () => {
	service.ctl("first-bank", "workspace create", {}, "production");
	const app = service.ctl("first-bank", "application create", { name: "live",
		responsible: "a@example.com", scopes: "workspace:read",
		entitlements: "core-platform" }, "production");
	assert.throws(() => service.ctl("first-bank", "credential issue",
		{ application: app.uid }, "production"), /production/);
});

test("no key is stored in clear", () => {
	const secret = a.key.slice(-49);
	for (const name of ["state.db", "local.db"]) {
		const file = join(service.state, "ledgers/first-bank/sandbox", name);
		if (existsSync(file))
			assert.ok(!readFileSync(file, "latin1").includes(secret), name);
	}
	const log = service.run("git", ["-C", service.ledger("first-bank"), "log",
		"-p", "--text", "main"]).stdout;
	assert.ok(log.includes("credential.issued"));
	assert.ok(!log.includes(secret));
});

test("the ledgers verify, and the read models rebuild the same", () =>
	finish(service));
