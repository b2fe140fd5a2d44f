// The whole table of hostile URLs, registered as webhooks over HTTP; and a name
// that is public when it is registered and this machine when it is delivered to.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { close, paths, send } from "./support/client.mjs";
import { assertProblem, named } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { top } from "./support/places.mjs";
import { Resolver } from "./support/resolver.mjs";
import { Service } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const path = "/api/v2/agent-execution/webhooks";
const rows = JSON.parse(readFileSync(join(top, "tests/vectors/ssrf.json")));
const allowed = rows.find((row) => row.loopback).loopback;
const name = "hook.example.com";
let service, resolver, listener, w, key, connections = 0;

// Of 127.0.0.0/8 any address is this machine's; the port must be one of two.
const here = `127.${1 + process.pid % 200}.${process.pid >> 8 & 255}.1`;
const port = 8443;

const ask = (method, where, body) => send(service, method, where, { key, body });
const size = async () => Number((await ask("GET", paths.workspace))
	.headers["ledger-size"]);
const ctl = (words, options) => service.ctl("acme", words, options);

async function withLoopback(list) {
	service.settings.PROBITY_OUTBOUND_LOOPBACK = list;
	await service.end("fcgi");
	await service.startFront();
}

before(async () => {
	resolver = await Resolver.start();
	listener = createServer((socket) => {
		connections++;
		socket.destroy();
	});
	await new Promise((done, fail) => listener.on("error", fail)
		.listen(port, here, done));
	service = new Service({ worker: false });
	Object.assign(service.settings, {
		PROBITY_OUTBOUND_RESOLVER: resolver.address,
		PROBITY_WEBHOOK_RETRY_PERCENT: "0",
		PROBITY_THREADS: "16",
	});
	await service.start();
	w = provision(service, "acme");
	const { uid } = ctl("application create", { name: "hooks",
		responsible: "a@example.com", scopes: "workspace:read," +
			"actions:create,agent:execution:webhooks", entitlements: "core-platform,financial-actions,agents" });
	key = ctl("credential issue", { application: uid }).key;
});
after(async () => {
	listener.close();
	await resolver.stop();
	close();
});

// What the resolver is asked is the URL's host in its canonical spelling.
function answer(row) {
	const host = row.canonical ? new URL(row.canonical).hostname
		: row.url.includes("hook.test") ? "hook.test" : name;
	resolver.say(host, row.answers);
}

async function accepts(row) {
	const reply = await ask("POST", path, { url: row.url });
	assert.equal(reply.status, 201, `${row.url}: ${reply.text}`);
	assert.equal(reply.json.status, "active");
	assert.equal((await ask("DELETE", `${path}/${reply.json.uid}`)).status, 200);
}

// An empty text, and one with control characters, is no text of a URL at all.
async function refuses(row) {
	const reply = await ask("POST", path, { url: row.url });
	const isText = row.url !== "" && !/[\0-\x1f]/.test(row.url);
	const problem = assertProblem(reply, 422,
		isText ? "unsafe_endpoint" : "validation_failed");
	assert.deepEqual(named(problem), ["#/url"], row.url);
	if (isText)
		assert.ok(problem.errors[0].detail.includes(row.reason),
			`${JSON.stringify(row)}: ${reply.text}`);
	return isText;
}

async function tryAll(some) {
	const before = await size();
	let registered = 0, judged = 0;
	for (const row of some) {
		answer(row);
		if (row.verdict === "accepted") {
			await accepts(row);
			registered++;
			judged++;
		} else {
			judged += await refuses(row);
		}
	}
	// Each was registered and revoked, and the others left nothing.
	assert.equal(await size(), before + 2 * registered);
	return judged;
}

const of = (list) => rows.filter((row) => row.loopback === list);
const accepted = (list) => list.filter((row) => row.verdict === "accepted").length;

test("every row of the table, by the operator's default", async () => {
	const mine = of(undefined);
	assert.ok(mine.length >= 150 && accepted(mine) >= 15, `${mine.length}`);
	assert.ok(await tryAll(mine) >= mine.length - 5);
	assert.equal(connections, 0);
});

test("every row where the operator allows some of loopback", async () => {
	const mine = of(allowed);
	assert.equal(mine.length + of(undefined).length, rows.length);
	await withLoopback(allowed);
	assert.equal(await tryAll(mine), mine.length);
	await withLoopback("");
	assert.equal(connections, 0);
});

async function round() {
	const child = service.launch("round",
		[join(service.bin, "probity-worker"), "--once"]);
	const { code } = await child.ended;
	assert.equal(code, 0, service.log("round"));
}

test("public when it is registered, this machine when it is delivered to", async () => {
	resolver.say(name, ["8.8.8.8"], [here], ["8.8.8.8", here]);
	const made = await ask("POST", path, { url: `https://${name}:${port}/in` });
	assert.equal(made.status, 201, made.text);
	const asked = resolver.queries.length;
	assert.equal((await ask("POST", paths.create, actionBody(w))).status, 201);
	await round();
	assert.ok(resolver.queries.length > asked, "the name was not asked for again");
	const [delivery] = ctl("webhook deliveries", { webhook: made.json.uid }).data;
	assert.equal(delivery.status, "dead");
	assert.ok(delivery.attempts.length > 1);
	for (const { status, fault } of delivery.attempts) {
		assert.equal(status, null);
		assert.match(fault, /not public: loopback/);
	}
	assert.equal(connections, 0);
});

test("names that nobody tells hold up no other request", async () => {
	resolver.say("silent.example.com", ["SILENT"]);
	const waiting = Array.from({ length: 12 }, () =>
		ask("POST", path, { url: "https://silent.example.com/" }));
	// Half of the threads may wait: those that are too many are refused at once.
	const first = await Promise.race(waiting);
	assert.equal(first.status, 503, first.text);
	assert.equal(first.json.type, "https://iana.org/assignments/" +
		"http-problem-types#temporary-reduced-capacity");
	assert.ok(Number(first.headers["retry-after"]) > 0);
	assert.equal((await ask("GET", paths.workspace)).status, 200);
	for (const reply of await Promise.all(waiting))
		if (reply.status !== 503) assertProblem(reply, 422);
		else assert.equal(reply.json.code, "reduced_capacity");
});

test("the listener would have noticed", async () => {
	await new Promise((done) => connect(port, here).on("error", done)
		.on("close", done));
	assert.equal(connections, 1);
});

test("the ledger verifies, and the read model rebuilds the same",
	() => finish(service, { long: true }));
