// Many queued deliveries, several workers, and workers that are killed: each
// delivery arrives. PROBITY_DELIVERIES=10000 says how many; 500 when it does not.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { close, paths, send } from "./support/client.mjs";
import { finish } from "./support/evidence.mjs";
import { assertSigned, Receiver } from "./support/receiver.mjs";
import { Service, until } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const wanted = Number(process.env.PROBITY_DELIVERIES ?? 500);
const endpoints = 20;
const seconds = 60 + wanted / 10;
const workers = ["one", "two", "three"];
let service, receiver, acme, key;
const hooks = [], unsigned = [];
let verified = 0;

// One in ten when it arrives: a library refuses what is minutes old.
function checkOne(request) {
	received.add(request.headers["webhook-id"]);
	if (receiver.requests.length % 10 !== 0) return;
	try {
		assertSigned(request, hooks[Number(request.path.split("/").at(-1))]);
		verified++;
	} catch (e) {
		unsigned.push(e.message);
	}
}

const post = async (path, body) => {
	const reply = await send(service, "POST", path, { key, body });
	assert.equal(reply.status, 201, reply.text);
	return reply.json;
};
const queued = () => service.ctl("acme", "webhook deliveries",
	{ status: "queued", limit: 1 }).data.length;
const received = new Set();
const hire = (name) => service.launch(name,
	[join(service.bin, "probity-worker")]);

before(async () => {
	service = new Service({ worker: false });
	receiver = await new Receiver(service.dir).start();
	receiver.arrived = checkOne;
	service.own(receiver.ca);
	Object.assign(service.settings, {
		PROBITY_OUTBOUND_LOOPBACK: receiver.place,
		PROBITY_OUTBOUND_CA: receiver.ca,
		PROBITY_WEBHOOK_SECONDS: "3",
		PROBITY_WEBHOOK_LEASE_SECONDS: "6",
		PROBITY_WEBHOOK_RETRY_PERCENT: "0",
	});
	await service.start();
	acme = provision(service, "acme");
	const { uid } = service.ctl("acme", "application create", { name: "hooks",
		responsible: "a@example.com", entitlements:
			"core-platform,financial-actions,agents",
		scopes: "actions:create,agent:execution:webhooks" });
	({ key } = service.ctl("acme", "credential issue", { application: uid }));
	for (let i = 0; i < endpoints; i++)
		hooks.push(await post("/api/v2/agent-execution/webhooks",
			{ url: receiver.url(`/queue/${i}`) }));
});
after(() => {
	receiver.stop();
	close();
});

test("the queue fills while no worker runs", async () => {
	for (let n = 0; n < wanted / endpoints; n += 10)
		await Promise.all(Array.from(
			{ length: Math.min(10, wanted / endpoints - n) },
			() => post(paths.create, actionBody(acme))));
	assert.equal(queued(), 1);
	assert.equal(receiver.requests.length, 0);
});

test("three workers deliver, while they are killed one after the other",
	async (t) => {
		const begun = Date.now();
		for (const name of workers) hire(name);
		for (let part = 1; part <= 3; part++) {
			const name = workers[part - 1];
			await until(`${part} of four parts are delivered`,
				() => received.size >= wanted * part / 4, seconds);
			await service.end(name, "SIGKILL");
			if (part < 3) hire(name);
		}
		await until("all are delivered", () => received.size === wanted, seconds);
		await until("nothing is queued", () => queued() === 0, seconds);
		const took = (Date.now() - begun) / 1000;
		t.diagnostic(`${wanted} deliveries in ${took.toFixed(1)} s, ` +
			`${receiver.requests.length - wanted} of them twice`);
		for (const name of workers.slice(0, 2))
			assert.deepEqual(await service.end(name), { code: 0, signal: null });
	});

test("each arrived signed, and was recorded as delivered", () => {
	for (const i of hooks.keys()) {
		const all = receiver.of(`/queue/${i}`);
		const ids = new Set(all.map((r) => r.headers["webhook-id"]));
		assert.equal(ids.size, wanted / endpoints);
	}
	assert.ok(verified >= wanted / 10);
	assert.deepEqual(unsigned, []);
	assert.deepEqual(service.ctl("acme", "webhook dead-letters").data, []);
	assert.equal(queued(), 0);
});

test("the ledger verifies, and the outbox is made again the same",
	() => finish(service, { long: true }));
