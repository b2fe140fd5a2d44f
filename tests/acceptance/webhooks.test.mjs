// Webhooks as their integrators meet them: registered, signed, delivered in
// order, retried, given up and replayed.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { close, paths, send } from "./support/client.mjs";
import { assertProblem, Contract, named } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { assertSigned, Receiver, v1aHolds } from "./support/receiver.mjs";
import { Service, until } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const path = "/api/v2/agent-execution/webhooks";
const products = "core-platform,financial-actions,agents";
let service, receiver, contract, acme, app, other, foreign;
const secrets = [];

const ctl = (words, options) => service.ctl("acme", words, options);

function application(workspace, name) {
	const made = service.ctl(workspace, "application create", { name,
		responsible: "a@example.com", entitlements: products, scopes:
			"actions:create,agent:execution:webhooks,agent:execution:read" });
	return { name, uid: made.uid, key: service.ctl(workspace, "credential issue",
		{ application: made.uid }).key };
}

async function ask(method, where, who, options = {}) {
	const reply = await send(service, method, where, { key: who.key, ...options });
	contract.check(method, where, reply);
	return reply;
}

async function register(to, events, who = app) {
	const reply = await ask("POST", path, who,
		{ body: { url: receiver.url(to), ...(events ? { events } : {}) } });
	assert.equal(reply.status, 201, reply.text);
	secrets.push(reply.json.secret);
	return reply.json;
}

async function createAction(who = app) {
	const reply = await send(service, "POST", paths.create,
		{ key: who.key, body: actionBody(acme) });
	assert.equal(reply.status, 201, reply.text);
	return reply.json;
}

// Jobs and deliveries that are due, by a worker that ends.
async function round(times = 1, env = {}) {
	for (; times > 0; times--) {
		const child = service.launch("round",
			[join(service.bin, "probity-worker"), "--once"], env);
		const { code } = await child.ended;
		assert.equal(code, 0, service.log("round"));
	}
}

const revoke = (hook, who = app) => ask("DELETE", `${path}/${hook.uid}`, who);
const deliveries = (hook) =>
	ctl("webhook deliveries", { webhook: hook.uid, limit: 200 }).data;
const attempts = (delivery) => delivery.attempts.map((a) => a.status);

before(async () => {
	service = new Service({ build: "debug", worker: false });
	receiver = await new Receiver(service.dir).start();
	service.own(receiver.ca);
	Object.assign(service.settings, {
		PROBITY_OUTBOUND_LOOPBACK: receiver.place,
		PROBITY_OUTBOUND_CA: receiver.ca,
		PROBITY_WEBHOOK_RETRY_PERCENT: "0",
		PROBITY_WEBHOOK_SECONDS: "3",
		PROBITY_CHECKPOINT_MINUTES: "0",
	});
	await service.start();
	acme = provision(service, "acme");
	service.ctl("globex", "workspace create", {});
	app = application("acme", "hooks");
	other = application("acme", "other");
	foreign = application("globex", "hooks");
	contract = await Contract.of(service);
});
after(() => {
	receiver.stop();
	close();
});

test("a webhook is registered, its secret shown once", async () => {
	const headers = { "Idempotency-Key": "hook-1" };
	const body = { url: receiver.url("/first"), description: "Treasury" };
	const first = await ask("POST", path, app, { body, headers });
	assert.equal(first.status, 201, first.text);
	const hook = first.json;
	assert.match(hook.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
	assert.match(hook.public_key, /^whpk_[A-Za-z0-9+/]{43}=$/);
	assert.equal(hook.status, "active");
	assert.equal(hook.secret_shown, false);
	assert.equal(hook.events.length, 15);
	assert.ok(!hook.events.includes("ledger.checkpoint"));
	secrets.push(hook.secret);

	const again = await ask("POST", path, app, { body, headers });
	assert.equal(again.status, 201, again.text);
	assert.equal(again.headers["idempotency-replayed"], "true");
	assert.deepEqual({ ...again.json, evidence: null }, { ...hook,
		secret: null, secret_shown: true, evidence: null });

	const list = await ask("GET", `${path}?limit=200`, app);
	assert.deepEqual(list.json.data.map((w) => w.uid), [hook.uid]);
	assert.ok(!list.text.includes(hook.secret));
	assert.equal((await revoke(hook)).json.status, "revoked");
	assertProblem(await revoke(hook), 409, "conflict");
});

test("an endpoint that is not safe is refused with the reason", async () => {
	for (const url of ["http://127.0.0.1/", "https://127.0.0.1:1/",
		"https://10.0.0.1/", "https://[::1]/", "https://169.254.169.254/x",
		"https://a:b@example.com/", "https://93.184.215.14:22/", "nonsense"]) {
		const reply = await ask("POST", path, app, { body: { url } });
		const problem = assertProblem(reply, 422, "unsafe_endpoint");
		assert.deepEqual(named(problem), ["#/url"], url);
		assert.ok(problem.errors[0].detail.length > 10, reply.text);
	}
	const reply = await ask("POST", path, app,
		{ body: { url: receiver.url("/x"), events: ["financial_action.paid"] } });
	assert.deepEqual(named(assertProblem(reply, 422, "validation_failed")),
		["#/events/0"]);
	const none = await ask("POST", path, app,
		{ body: { url: receiver.url("/x"), events: [] } });
	assert.deepEqual(named(assertProblem(none, 422, "validation_failed")),
		["#/events"]);
	assertProblem(await ask("POST", path, app, { body: {} }), 422);
});

test("another's webhook is like one that does not exist", async () => {
	const hook = await register("/mine");
	const none = "01930a3e-7c00-7000-8000-0000000000a1";
	const problems = [];
	for (const [who, uid] of [[other, hook.uid], [foreign, hook.uid], [app, none]]) {
		const reply = await ask("DELETE", `${path}/${uid}`, who);
		const { instance, request_id, ...rest } = assertProblem(reply, 404);
		problems.push(JSON.stringify(rest).replaceAll(uid, "UID"));
	}
	assert.equal(new Set(problems).size, 1, problems.join("\n"));
	assert.deepEqual((await ask("GET", path, other)).json.data, []);
	assert.deepEqual((await ask("GET", path, foreign)).json.data, []);
	const bare = await send(service, "GET", path, { key: acme.key });
	assertProblem(bare, 403);
	await revoke(hook);
});

test("an event comes signed, and says where the rest is", async () => {
	const hook = await register("/events", ["financial_action.created"]);
	const theirs = await register("/theirs", undefined, other);
	const action = await createAction();
	await round();
	const [request, ...more] = receiver.of("/events");
	assert.equal(more.length, 0);
	assert.equal(receiver.of("/theirs").length, 0);
	const body = assertSigned(request, hook);
	assert.equal(body.type, "financial_action.created");
	assert.equal(body.data.uid, action.uid);
	assert.equal(body.data.seq, action.evidence.seq);
	assert.equal(body.data.event_hash, action.evidence.event_hash);
	assert.equal(body.data.ledger, action.evidence.ledger);
	assert.ok(body.data.url.startsWith(service.baseUrl));
	const read = await send(service, "GET",
		body.data.url.slice(service.baseUrl.length), { key: app.key });
	assert.equal(read.json.uid, action.uid);
	const [delivery] = deliveries(hook);
	assert.equal(delivery.status, "delivered");
	assert.equal(request.headers["webhook-id"], `msg_${delivery.uid}`);
	assert.throws(() => new Webhook(theirs.secret).verify(request.text,
		request.headers), /signature/i);
	await revoke(hook);
	await revoke(theirs, other);
});

test("what fails is tried again with the same bytes, up to ten times", async () => {
	receiver.on("/flaky", (n) => [500, 400, 302, 204][n]);
	receiver.on("/dead", 500);
	const flaky = await register("/flaky"), dead = await register("/dead");
	await createAction();
	await round();
	const texts = receiver.of("/flaky").map((r) => r.text);
	assert.equal(texts.length, 4);
	assert.equal(new Set(texts).size, 1);
	assert.equal(new Set(receiver.of("/flaky")
		.map((r) => r.headers["webhook-id"])).size, 1);
	for (const request of receiver.of("/flaky")) assertSigned(request, flaky);
	assert.deepEqual(attempts(deliveries(flaky)[0]), [500, 400, 302, 204]);
	assert.equal(receiver.of("/dead").length, 10);
	assert.equal(deliveries(dead)[0].status, "dead");
	// As a table each attempt has a line of its own, whole.
	const { stdout } = service.run(join(service.bin, "probityctl"), ["webhook",
		"deliveries", "--workspace", "acme", "--webhook", flaky.uid]);
	const lines = stdout.split("\n").filter((l) => l.startsWith("  attempts: "));
	assert.deepEqual(lines.map((l) => /, status (\d+),/.exec(l)[1]),
		["500", "400", "302", "204"]);
	assert.match(lines[0], /number 1, at .+, outcome retry, .+ next_at \S+Z$/);
	assert.ok(!stdout.includes("{"), stdout);

	const letters = ctl("webhook dead-letters", {}).data;
	assert.deepEqual(letters.map((d) => d.webhook_uid), [dead.uid]);
	assert.deepEqual(letters[0].attempts.map((a) => a.outcome),
		[...Array(9).fill("retry"), "dead"]);
	receiver.on("/dead", 200);
	ctl("webhook replay", { delivery: letters[0].uid });
	await round();
	assert.equal(receiver.of("/dead").length, 11);
	assert.equal(deliveries(dead)[0].status, "delivered");
	assert.throws(() => ctl("webhook replay", { webhook: dead.uid }),
		/no dead letter/);
	await revoke(flaky);
	await revoke(dead);
});

test("a redirect is not followed", async () => {
	receiver.on("/moved", { status: 307, headers: { Location: "/landing" } });
	const hook = await register("/moved");
	await createAction();
	await round();
	assert.equal(receiver.of("/landing").length, 0);
	assert.deepEqual(new Set(attempts(deliveries(hook)[0])), new Set([307]));
	await revoke(hook);
});

test("an endpoint that has become unsafe is not called", async () => {
	const hook = await register("/unsafe");
	await createAction();
	await round(1, { PROBITY_OUTBOUND_LOOPBACK: "" });
	assert.equal(receiver.of("/unsafe").length, 0);
	const [delivery] = deliveries(hook);
	assert.equal(delivery.status, "dead");
	assert.match(delivery.attempts[0].fault, /port must be 443/);
	ctl("webhook replay", { webhook: hook.uid });
	await round();
	assert.equal(receiver.of("/unsafe").length, 1);
	await revoke(hook);
});

test("an endpoint that says 410 is disabled", async () => {
	receiver.on("/gone", 410);
	const hook = await register("/gone");
	await createAction();
	await createAction();
	await round(2);
	assert.equal(receiver.of("/gone").length, 1);
	const { data } = (await ask("GET", `${path}?limit=200`, app)).json;
	assert.equal(data.find((w) => w.uid === hook.uid).status, "disabled");
	receiver.on("/gone", 200);
	ctl("webhook approve", { uid: hook.uid, reason: "it is back" });
	ctl("webhook replay", { webhook: hook.uid });
	await round();
	assert.equal(receiver.of("/gone").length, 3);
	await revoke(hook);
});

test("Retry-After is kept to, by all that is for the endpoint", async () => {
	receiver.on("/busy", (n) => n > 0 ? 200
		: { status: 429, headers: { "Retry-After": "2" } });
	const hook = await register("/busy");
	for (let i = 0; i < 3; i++) await createAction();
	await round();
	const [{ attempts: [first] }] = deliveries(hook);
	const wait = Date.parse(first.next_at) - Date.parse(first.at);
	assert.ok(wait >= 2000, `${wait} ms`);
	await until("all are delivered", async () => {
		await round();
		return receiver.of("/busy").length === 4;
	}, 60);
	const [one, ...others] = receiver.of("/busy");
	// Date.now of two processes that share a clock.
	for (const { at } of others)
		assert.ok(at - one.at >= 1990, `${at - one.at} ms`);
	await revoke(hook);
});

test("checkpoints come in their order, each after the one before", async () => {
	let refuses = true;
	receiver.on("/notes", () => refuses
		? { status: 503, headers: { "Retry-After": "1" } } : 200);
	const hook = await register("/notes", ["ledger.checkpoint"]);
	const sizes = () => receiver.of("/notes")
		.map((r) => assertSigned(r, hook).data.size);
	await round(2); // two of them are announced, and the first does not pass
	assert.ok(deliveries(hook).length >= 2);
	assert.equal(new Set(sizes()).size, 1);
	refuses = false;
	await until("all are delivered", async () => {
		await round();
		return deliveries(hook).filter((d) => d.status === "queued").length === 0;
	}, 60);
	const all = sizes();
	assert.deepEqual(all, [...all].sort((a, b) => a - b));
	assert.equal(new Set(all).size, deliveries(hook).length);
	const { data } = JSON.parse(receiver.of("/notes").at(-1).text);
	assert.ok(data.checkpoint.startsWith(`${data.ledger}\n${data.size}\n`));
	assert.match(data.checkpoint, /\n\n— .+ .+\n$/);
	await revoke(hook);
});

test("while a secret is replaced both sign", async () => {
	const hook = await register("/rotated");
	const fresh = ctl("webhook rotate-secret", { uid: hook.uid });
	secrets.push(fresh.secret);
	await createAction();
	await round();
	const [request] = receiver.of("/rotated");
	assert.equal(request.headers["webhook-signature"].split(" ")
		.filter((s) => s.startsWith("v1,")).length, 2);
	assertSigned(request, hook);
	assertSigned(request, fresh);
	assert.ok(Date.parse(fresh.previous_until) - Date.parse(fresh.rotated_at) ===
		24 * 3600 * 1000);
	assert.ok(!v1aHolds({ ...request, text: `${request.text} ` }, fresh.public_key));
	await revoke(hook);
});

test("a slow endpoint delays no other", async () => {
	receiver.on("/slow", () => null);
	const slow = await register("/slow"), fast = await register("/fast");
	for (let i = 0; i < 4; i++) await createAction();
	service.startWorker();
	await until("the others are delivered", () => receiver.of("/fast").length === 4,
		60);
	// It gets one request at a time, and has answered none.
	assert.ok(receiver.held.size <= 1);
	const answered = new Set();
	receiver.on("/slow", 200);
	receiver.arrived = (request) => request.path === "/slow" &&
		answered.add(request.headers["webhook-id"]);
	// While probityctl is asked, this process answers nobody: only after that.
	await until("the slow one gets its own", () => answered.size === 4, 60);
	await until("that is recorded", () =>
		deliveries(slow).every((d) => d.status === "delivered"), 60);
	assert.ok(deliveries(slow).some((d) => d.attempts[0].status === null));
	assert.deepEqual(await service.end("worker"), { code: 0, signal: null });
	await revoke(slow);
	await revoke(fast);
});

test("what is due is delivered after a restart", async () => {
	const hook = await register("/later");
	await createAction();
	await service.restart();
	await round();
	assert.equal(receiver.of("/later").length, 1);
	await revoke(hook);
});

// Every file of a folder, as bytes.
const files = (folder) => readdirSync(folder, { recursive: true,
	withFileTypes: true }).filter((f) => f.isFile())
	.map((f) => join(f.parentPath ?? f.path, f.name));

test("no secret is in the state, in what git keeps, or in a log", () => {
	assert.ok(secrets.length > 10);
	const forms = secrets.flatMap((secret) => {
		const raw = Buffer.from(secret.slice(6), "base64");
		return [Buffer.from(secret.slice(6)), raw,
			Buffer.from(raw.toString("hex"))];
	});
	const objects = service.run("git", ["-C", service.ledger("acme"), "cat-file",
		"--batch", "--batch-all-objects"]);
	assert.equal(objects.code, 0, objects.stderr);
	assert.ok(objects.stdout.includes("webhook.registered"));
	const places = [["git", Buffer.from(objects.stdout)],
		...[service.state, service.keys, join(service.dir, "log")].flatMap(files)
			.map((name) => [name, readFileSync(name)])];
	for (const [name, bytes] of places)
		for (const form of forms)
			assert.ok(!bytes.includes(form), `a secret is in ${name}`);
	assert.ok(places.some(([name]) => name.endsWith("acme/sandbox/webhooks.key")));
});

test("the ledgers verify, and the outbox is made again the same",
	() => finish(service, { long: true }));
