// Limits of requests: 64 clients over several processes pass exactly as often
// as is permitted; what was counted outlives the processes.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parseItem, parseList } from "structured-headers";
import { basic } from "./support/auditor.mjs";
import { close, paths, send } from "./support/client.mjs";
import { Contract } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { askToken, assertOAuthError } from "./support/oauth.mjs";
import { Service, until } from "./support/service.mjs";

const CLIENTS = 64;
let service;

// An application with a key, and limits of its own if any are given.
function client(name, limits, scopes = "workspace:read") {
	const application = service.ctl("acme", "application create", { name,
		responsible: "a@example.com", scopes });
	if (limits)
		service.ctl("acme", "application set-limits",
			{ uid: application.uid, ...limits });
	const { key, uid, public_id } = service.ctl("acme", "credential issue",
		{ application: application.uid });
	return { uid: application.uid, key, credential: uid, public_id };
}

const get = ({ key }, path = paths.workspace, options = {}) =>
	send(service, "GET", path, { key, ...options });
const show = ({ uid }) => service.ctl("acme", "limits show", { application: uid });

// The two fields as {name: {q, w, r, t}}, by a parser of structured fields.
function limitsOf(reply) {
	const all = {};
	for (const field of ["ratelimit-policy", "ratelimit"]) {
		assert.ok(reply.headers[field], `no ${field} in a ${reply.status}`);
		for (const [name, params] of parseList(reply.headers[field]))
			all[name] = { ...all[name], ...Object.fromEntries(params) };
	}
	return all;
}

// `each` requests of every client at once; the replies by status, as they come.
async function flood(who, each, statuses = {}, options = {}) {
	await Promise.all(Array.from({ length: CLIENTS }, async () => {
		for (let i = 0; i < each; i++) {
			const { status } = await get(who, paths.workspace, options);
			statuses[status] = (statuses[status] ?? 0) + 1;
		}
	}));
	return statuses;
}

// The processes that serve: Apache starts one for each request at a time.
const processes = () => readdirSync("/proc").filter((pid) => {
	try {
		return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8")
			.startsWith(join(service.bin, "probity.fcgi"));
	} catch {
		return false;
	}
});

// Entries of this month's table that are taken: 32 bytes each, after a name and
// a head of 32 bytes each.
function taken() {
	const [month] = readdirSync(join(service.state, "limits")).sort().reverse();
	const bytes = readFileSync(join(service.state, "limits", month));
	let n = 0;
	for (let at = 64; at < bytes.length; at += 32)
		n += bytes.readBigUInt64LE(at) !== 0n;
	return n;
}

before(async () => {
	service = await new Service({ kind: "apache-fcgid", worker: false }).start();
	service.ctl("acme", "workspace create", { name: "Acme" });
});
after(close);

test("every reply behind a credential says what is left", async () => {
	const c = client("headers", { "requests-per-second": 10, burst: 25,
		monthly: 500 });
	const first = await get(c);
	assert.equal(first.status, 200, first.text);
	const one = limitsOf(first);
	assert.deepEqual(Object.keys(one), ["burst", "monthly"]);
	assert.deepEqual([one.burst.q, one.burst.w], [25, 3]);
	assert.deepEqual([one.monthly.q, one.monthly.w], [500, 2592000]);
	assert.deepEqual([one.burst.r, one.burst.t], [24, 1]);
	assert.equal(one.monthly.r, 499);
	assert.ok(one.monthly.t > 0 && one.monthly.t <= 31 * 86400);
	const replies = [
		[200, await send(service, "HEAD", paths.workspace, { key: c.key })],
		[422, await get(c, `${paths.workspace}?no=1`)],
		// Neither scope nor count.
		[403, await get(c, paths.financeCore)],
		[403, await send(service, "POST", paths.create,
			{ key: c.key, body: "{" })],
		[304, await get(c, paths.workspace,
			{ headers: { "If-None-Match": first.headers.etag } })],
	];
	for (const [status, reply] of replies) {
		assert.equal(reply.status, status, reply.text);
		assert.ok(limitsOf(reply).monthly.r <= 499);
	}
	assert.equal(limitsOf(await get(c)).monthly.r, 500 - 5);
	assert.equal(show(c).application.used_this_month, 5);
	const none = await send(service, "GET", paths.workspace);
	assert.equal(none.status, 401);
	assert.equal(none.headers.ratelimit, undefined);
});

test("64 clients over many processes: the month's number passes, exactly",
	async () => {
		const c = client("monthly", { monthly: 300 });
		const other = client("beside");
		const statuses = await flood(c, 8);
		assert.ok(processes().length > 1, "several processes serve");
		assert.deepEqual(statuses, { 200: 300, 429: CLIENTS * 8 - 300 });
		assert.equal(show(c).application.used_this_month, 300);
		// Another application is not touched.
		const reply = await get(other);
		assert.equal(reply.status, 200);
		assert.equal(show(other).application.used_this_month, 1);
	});

test("64 clients: the burst passes, and then the rate", async () => {
	const c = client("burst", { "requests-per-second": 1, burst: 100 });
	const begun = Date.now();
	const statuses = await flood(c, 5);
	const seconds = Math.floor((Date.now() - begun) / 1000) + 1;
	assert.ok(statuses[200] >= 100 && statuses[200] <= 100 + seconds,
		`${statuses[200]} passed in ${seconds} s`);
	assert.equal(statuses[200] + statuses[429], CLIENTS * 5);
	assert.equal(show(c).application.used_this_month, statuses[200]);
});

test("a refusal says which limit, and when to come again", async () => {
	const contract = await Contract.of(service);
	const c = client("refused", { "requests-per-second": 1, burst: 1 });
	let reply;
	// However slow the machine, two of them come within a second.
	await until("a 429", async () => {
		reply = (await Promise.all([get(c), get(c), get(c)]))
			.find((r) => r.status === 429);
		return reply;
	});
	contract.check("GET", paths.workspace, reply);
	assert.equal(reply.headers["content-type"], "application/problem+json");
	const { type, status, code, title } = reply.json;
	assert.equal(type,
		"https://iana.org/assignments/http-problem-types#quota-exceeded");
	assert.equal(status, 429);
	assert.equal(code, "rate_limited");
	assert.ok(title);
	assert.deepEqual(reply.json["violated-policies"], ["burst"]);
	const [wait] = parseItem(reply.headers["retry-after"]);
	const { burst } = limitsOf(reply);
	assert.equal(burst.r, 0);
	assert.ok(wait >= 1 && wait >= burst.t, `${wait} after ${burst.t}`);
});

test("a month that is used up has Retry-After to its end", async () => {
	const c = client("used-up", { monthly: 1 });
	assert.equal((await get(c)).status, 200);
	const reply = await get(c);
	assert.equal(reply.status, 429);
	assert.deepEqual(reply.json["violated-policies"], ["monthly"]);
	const { monthly } = limitsOf(reply);
	assert.equal(monthly.r, 0);
	assert.ok(Number(reply.headers["retry-after"]) >= monthly.t);
	// More is granted: from the next request on.
	service.ctl("acme", "application set-limits", { uid: c.uid, monthly: 3 });
	assert.equal(limitsOf(await get(c)).monthly.r, 1);
});

test("a write that is refused leaves nothing", async () => {
	const c = client("writer", { monthly: 1 }, "actions:create");
	const create = () => send(service, "POST", paths.create,
		{ key: c.key, body: {} });
	assert.equal((await create()).status, 422);
	const size = service.ctl("acme", "ledger status").size;
	assert.equal((await create()).status, 429);
	assert.equal(service.ctl("acme", "ledger status").size, size);
});

test("one credential's own limits, within its application's", async () => {
	const c = client("own", { monthly: 10 });
	const sibling = { ...c, key: service.ctl("acme", "credential issue",
		{ application: c.uid }).key };
	service.ctl("acme", "credential set-limits", { uid: c.credential, monthly: 2 });
	assert.equal((await get(c)).status, 200);
	assert.equal((await get(c)).status, 200);
	const reply = await get(c);
	assert.equal(reply.status, 429);
	assert.deepEqual(reply.json["violated-policies"], ["monthly"]);
	assert.equal(limitsOf(reply)["application-monthly"].r, 8);
	assert.equal((await get(sibling)).status, 200);
	const { application, credentials } = show(c);
	assert.equal(application.used_this_month, 3);
	assert.deepEqual(credentials.map((r) => r.used_this_month), [1, 2]);
	assert.deepEqual(credentials.map((r) => r.own_limits), [false, true]);
});

test("keys of an application without limits do not share", async () => {
	const c = client("unlimited");
	const { key, uid } = service.ctl("acme", "credential issue",
		{ application: c.uid });
	// What the tests' configuration permits.
	const { q, r } = limitsOf(await get(c)).monthly;
	assert.equal(r, q - 1);
	assert.equal(limitsOf(await get({ key })).monthly.r, q - 1);
	service.ctl("acme", "credential set-limits", { uid, monthly: 2 });
	assert.equal((await get({ key })).status, 200);
	const refused = await get({ key });
	assert.equal(refused.status, 429);
	assert.deepEqual(Object.keys(limitsOf(refused)), ["burst", "monthly"]);
	assert.equal(limitsOf(await get(c)).monthly.r, q - 2);
	const { application, credentials } = show(c);
	assert.deepEqual([application.own_limits, application.monthly,
		application.burst, application.requests_per_second,
		application.remaining_now, application.used_this_month],
	[false, null, null, null, null, 4]);
	assert.deepEqual(credentials.map((r) => [r.monthly, r.used_this_month]),
		[[2, 2], [q, 2]]);
	assert.equal(credentials[0].remaining_now, 0);
});

test("an OAuth client's own limits, over all its tokens", async () => {
	const c = client("with-client", { monthly: 10 });
	const o = service.ctl("acme", "oauth-client create", { application: c.uid });
	const set = service.ctl("acme", "oauth-client set-limits",
		{ uid: o.uid, monthly: 4, reason: "A nightly batch" });
	assert.deepEqual([set.uid, set.monthly, set.burst], [o.uid, 4, null]);
	const tokens = [await askToken(service, o), await askToken(service, o)]
		.map((reply) => reply.json.access_token);
	for (const key of tokens) assert.equal((await get({ key })).status, 200);
	for (const key of tokens) {
		const reply = await get({ key });
		assert.equal(reply.status, 429);
		assert.equal(limitsOf(reply)["application-monthly"].r, 6);
	}
	assertOAuthError(await askToken(service, o), 429, "temporarily_unavailable");
	// The application's key shares none of it.
	assert.equal((await get(c)).status, 200);
	const { application, credentials } = show(c);
	assert.equal(application.used_this_month, 5);
	assert.deepEqual(credentials.map((r) => [r.credential_uid, r.public_id,
		r.own_limits, r.used_this_month]),
	[[o.uid, o.client_id, true, 4], [c.credential, c.public_id, false, 1]]);
	assert.throws(() => service.ctl("acme", "oauth-client set-limits",
		{ uid: c.credential, monthly: 1 }), /no such OAuth client/);
});

test("auditors' pages count as well", async () => {
	const c = client("pages", { monthly: 3 }, "trust:read");
	const checkpoint = (workspace = "acme") => send(service, "GET",
		`/ledger/${workspace}/sandbox/checkpoint`,
		{ headers: { Authorization: basic(c.key) } });
	assert.equal(limitsOf(await checkpoint()).monthly.r, 2);
	assert.equal((await checkpoint()).status, 200);
	// Of others' there is nothing, and asking for it counts.
	assert.equal((await checkpoint("nobody")).status, 404);
	assert.equal((await checkpoint("nobody")).status, 429);
	assert.equal((await checkpoint()).status, 429);
	service.ctl("acme", "application suspend", { uid: c.uid });
	assert.equal((await checkpoint("nobody")).status, 403);
});

test("plain CGI counts with the others", async () => {
	const c = client("cgi", { monthly: 3 });
	const cgi = () => service.run(join(service.bin, "probity.fcgi"), [], { env: {
		GATEWAY_INTERFACE: "CGI/1.1", SERVER_PROTOCOL: "HTTP/1.1",
		SERVER_NAME: "127.0.0.1", SERVER_PORT: "80", REQUEST_METHOD: "GET",
		REQUEST_URI: paths.workspace, SCRIPT_NAME: "", PATH_INFO: paths.workspace,
		HTTP_AUTHORIZATION: `Bearer ${c.key}` } }).stdout;
	assert.match(cgi(), /^Status: 200[^]*"monthly";r=2;/);
	assert.equal(limitsOf(await get(c)).monthly.r, 1);
	assert.match(cgi(), /^Status: 200/);
	assert.match(cgi(), /^Status: 429/);
	assert.equal((await get(c)).status, 429);
});

test("a flood of 401s takes no place", async () => {
	const c = client("rotated");
	assert.equal((await get(c)).status, 200);
	service.ctl("acme", "credential rotate", { uid: c.credential });
	const before = taken();
	assert.ok(before > 2);
	const forged = c.key.replace(/.$/, (last) => last === "a" ? "b" : "a");
	assert.deepEqual(await flood(c, 3), { 401: CLIENTS * 3 });
	assert.deepEqual(await flood({ key: forged }, 3), { 401: CLIENTS * 3 });
	assert.equal(taken(), before);
	assert.equal(show(c).application.used_this_month, 1);
});

test("processes that are killed leave nothing locked, and lose no count",
	async () => {
		const c = client("killed", { monthly: 400 });
		const killed = [], statuses = {};
		const floods = flood(c, 10, statuses,
			{ unchecked: "Apache answers for a process that was killed" });
		await until("it is under way", () => statuses[200] > 50);
		for (const pid of processes().slice(0, 5)) {
			try {
				process.kill(Number(pid), "SIGKILL");
				killed.push(pid);
			} catch {
				// It ended by itself.
			}
		}
		await floods;
		assert.ok(killed.length > 0);
		assert.ok(statuses[200] <= 400);
		// What the killed ones had counted may have had no reply.
		assert.ok(statuses[200] >= 400 - killed.length,
			JSON.stringify(statuses));
		assert.equal(show(c).application.used_this_month, 400);
		await service.restart();
		const reply = await get(c);
		assert.equal(reply.status, 429);
		assert.equal(limitsOf(reply).monthly.r, 0);
		assert.equal(show(c).application.used_this_month, 400);
	});

test("the worker keeps this month and the last", async () => {
	const folder = join(service.state, "limits");
	const months = readdirSync(folder);
	service.write(join(folder, "2019-12"), "");
	const { code, stderr } = service.run(
		join(service.bin, "probity-worker"), ["--once"]);
	assert.equal(code, 0, stderr);
	assert.deepEqual(readdirSync(folder), months);
});

test("the ledger holds, and limits outlive a rebuild", async () => {
	// The shell script has its time elsewhere.
	await finish(service, { long: true });
});
