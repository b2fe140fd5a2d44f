// Time-stamps of checkpoints (RFC 3161): an authority on this machine that
// answers with `openssl ts -reply`, or badly; what an auditor makes of the
// bytes in a clone with `openssl ts -verify`, and what never becomes an event.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { auditorKey, basic } from "./support/auditor.mjs";
import { Authority } from "./support/authority.mjs";
import { close, send } from "./support/client.mjs";
import { Clock } from "./support/clock.mjs";
import { assertProblem } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { postureOf } from "./support/posture.mjs";
import { Service, until } from "./support/service.mjs";

const path = "/api/v2/ledger/timestamps";
const type = "application/timestamp-reply";
const refusal = Buffer.from("30053003020102", "hex");
const folder = mkdtempSync(join(tmpdir(), "probity-tsa-"));
const inFolder = (name) => join(folder, name);
// The hash is an octet string of 32 bytes; a query ends in its nonce and the
// three bytes of certReq.
function flipped(query, at) {
	const copy = Buffer.from(query);
	copy[at(copy)] ^= 1;
	return copy;
}
const inNonce = (q) => q.length - 4;
const inHash = (q) => q.indexOf(Buffer.from("0420", "hex")) + 10;

const answer = (response, body, status = 200, contentType = type) => {
	response.writeHead(status, { "content-type": contentType });
	response.end(body);
};
const modes = {
	good: (r, q) => answer(r, authority.reply(q)),
	"wrong nonce": (r, q) => answer(r, authority.reply(flipped(q, inNonce))),
	"wrong imprint": (r, q) => answer(r, authority.reply(flipped(q, inHash))),
	"another authority": (r, q) => answer(r, authority.reply(q, "other")),
	garbage: (r) => answer(r, "<html>no</html>"),
	"cut short": (r, q) => answer(r, authority.reply(q).subarray(0, -1)),
	"too large": (r) => answer(r, Buffer.alloc(65537)),
	endless: (r) => {
		r.writeHead(200, { "content-type": type });
		const more = () => { while (r.write(Buffer.alloc(65536))); };
		r.on("drain", more);
		more();
	},
	"a status that refuses": (r) => answer(r, refusal),
	"HTTP 500": (r, q) => answer(r, authority.reply(q), 500),
	"a redirect": (r) => {
		r.writeHead(307, { location: "/elsewhere", "content-type": type });
		r.end();
	},
	"another media type": (r, q) => answer(r, authority.reply(q), 200, "text/html"),
	"no answer": (r) => r.destroy(),
	hang: () => {},
};

const faults = {
	"wrong nonce": /nonce/, "wrong imprint": /imprint/,
	"another authority": /verify/, garbage: /not a TimeStampResp/,
	"cut short": /not a TimeStampResp/, "too large": /more than 65536/,
	endless: /more than 65536/, "a status that refuses": /what was asked/,
	"HTTP 500": /status 500/, "a redirect": /status 307/,
	"another media type": /does not answer with/, "no answer": /127\.0\.0\.1/,
};

let service, mode = "good", server, authority;
const asked = [];

// One round of the worker. This process is the authority, so it must not wait
// as long as spawnSync would.
const round = (env = {}) => service.launch("round",
	[join(service.bin, "probity-worker"), "--once"], env).ended;
const list = (key, query = "") => send(service, "GET", path + query, { key });
const job = (workspace) => service.ctl(workspace, "job list",
	{ kind: "ledger.timestamp" }).data.at(-1);

before(async () => {
	authority = new Authority(folder);
	server = createServer(async (request, response) => {
		const parts = [];
		for await (const part of request) parts.push(part);
		const query = Buffer.concat(parts);
		asked.push({ url: request.url, headers: request.headers, query });
		modes[mode](response, query);
	});
	await new Promise((done) => server.listen(0, "127.0.0.1", done));
	service = new Service({ build: "debug", worker: false });
	const ca = join(service.dir, "home/ca.pem");
	service.copy(inFolder("ca.pem"), ca);
	Object.assign(service.settings, { PROBITY_TIMESTAMP_CA: ca,
		PROBITY_TIMESTAMP_URL: `http://127.0.0.1:${server.address().port}/tsr` });
	await service.start();
});
after(() => {
	server.closeAllConnections();
	server.close();
	rmSync(folder, { recursive: true, force: true });
	return close();
});

test("without a URL nobody is asked", async () => {
	service.ctl("acme", "workspace create", { name: "Acme" });
	await round({ PROBITY_TIMESTAMP_URL: "" });
	assert.deepEqual(asked, []);
	assert.equal(job("acme"), undefined);
});

test("a URL that may not be asked stops the programs", () => {
	const r = service.run(join(service.bin, "probity-worker"), ["--once"],
		{ env: { PROBITY_TIMESTAMP_URL: "http://tsa.example.com/" } });
	assert.equal(r.code, 3);
	assert.match(r.stderr, /timestamp_url: .*https:\/\//);
});

test("the newest checkpoint is stamped, once in the hours", async () => {
	const posture = postureOf(service, "acme");
	assert.equal((await posture("time_stamping")).state, "waiting");
	await round();
	assert.equal(asked.length, 1);
	assert.equal(asked[0].headers["content-type"],
		"application/timestamp-query");
	assert.equal(job("acme").status, "completed", service.log("round"));
	await round();
	assert.equal(asked.length, 1);
	const shown = await posture("time_stamping");
	assert.equal(shown.state, "stamping");
	assert.equal(shown.authority, service.settings.PROBITY_TIMESTAMP_URL);
	assert.ok(shown.newest_size > 0 && shown.since === shown.last_at);
});

test("openssl accepts it from the bytes in a clone", async () => {
	const key = auditorKey(service, "acme");
	const r = await list(key);
	assert.equal(r.status, 200, r.text);
	assert.equal(r.json.data.length, 1);
	const [item] = r.json.data;
	const clone = join(service.dir, "home/clone.git");
	const git = (...args) => execFileSync("git", args,
		{ encoding: "latin1", stdio: ["ignore", "pipe", "inherit"] });
	git("-c", `http.extraHeader=Authorization: ${basic(key)}`, "clone",
		"-q", "--mirror", `${service.baseUrl}/ledger/acme/sandbox/ledger.git`,
		clone);
	const shown = service.run(join(service.bin, "probity-audit"),
		["show", clone, String(item.seq)]).stdout;
	assert.match(shown, /checkpoint\.timestamped/);
	const commits = git("-C", clone, "rev-list", "main").trim().split("\n");
	const commit = commits.find((c) =>
		git("-C", clone, "show", `${c}:events`)
			.includes('"type":"checkpoint.timestamped"'));
	const event = JSON.parse(git("-C", clone, "show", `${commit}:events`)
		.split("\n").map((line) => line.slice(line.indexOf(" ") + 1))
		.find((line) => line.includes('"type":"checkpoint.timestamped"')));
	const [note, token] = event.payloads.map(({ sha256 }) => Buffer.from(
		git("-C", clone, "cat-file", "blob", `${commit}:payloads/${sha256}`),
		"latin1").subarray(32));
	assert.ok(authority.accepts(note, token));
	assert.ok(!authority.accepts(`${note.toString().replace("\n1\n", "\n2\n")} `,
		token));
	const home = (name, bytes) => {
		service.write(join(service.dir, "home", name), bytes);
		return join(service.dir, "home", name);
	};
	const other = home("other.pem", readFileSync(inFolder("other.pem")));
	const checked = (...args) => service.run(join(service.bin, "probity-audit"),
		["check-checkpoint", home("note", note), "--key",
			service.ctl("acme", "ledger status").public_key, "--timestamp",
			home("token", token), "--json", ...args]);
	const good = checked("--ca", join(service.dir, "home/ca.pem"));
	assert.equal(good.code, 0, good.stderr + good.stdout);
	assert.equal(JSON.parse(good.stdout).stamped_at, item.gen_time);
	assert.equal(checked("--ca", other).code, 1);
	assert.equal(checked("--ca", home("nothing", "x")).code, 2);
	assert.equal(checked().code, 2);
	assert.equal(item.token, token.toString("base64"));
	assert.equal(item.checkpoint, note.toString());
	assert.equal(String(item.size), note.toString().split("\n")[1]);
	assert.equal(item.root, Buffer.from(note.toString().split("\n")[2],
		"base64").toString("hex"));
	assert.equal(item.policy, "1.2.3.4");
	assert.ok(Math.abs(Date.parse(item.gen_time) - Date.now()) < 600000);
	assert.equal(item.seq, event.seq);
});

test("one that hangs costs seconds, and no request waits for it", async () => {
	service.ctl("hang", "workspace create", { name: "Hang" });
	const key = auditorKey(service, "hang");
	const before = asked.length, started = Date.now();
	mode = "hang";
	const ended = round();
	await until("the authority is asked", () => asked.length > before);
	const asking = Date.now();
	assert.equal((await list(key)).json.data.length, 0);
	service.ctl("hang", "connector add",
		{ name: "Bank", kind: "sandbox", modes: "sandbox" });
	assert.ok(Date.now() - asking < 5000);
	await ended;
	assert.ok(Date.now() - started < 20000);
	assert.equal(job("hang").status, "queued");
	assert.match(job("hang").fault, /Timeout/i);
});

const none = { data: [], has_more: false, next_before_seq: null };

test("the list is paged by events, for auditors alone", async () => {
	const key = auditorKey(service, "acme", { name: "second" });
	const { seq } = (await list(key)).json.data[0];
	assert.deepEqual((await list(key, `?before_seq=${seq}`)).json, none);
	assert.equal((await list(key, `?before_seq=${seq + 1}`)).json.data.length, 1);
	assertProblem(await list(key, "?limit=51"), 422, "validation_failed");
	assertProblem(await list(auditorKey(service, "acme",
		{ name: "third", scopes: "workspace:read" })), 403, "forbidden");
	service.ctl("other", "workspace create", { name: "Other" });
	assert.deepEqual((await list(auditorKey(service, "other"))).json, none);
});

let n = 0;
for (const [name, pattern] of Object.entries(faults))
	test(`${name}: no event, and the job is tried again`, async () => {
		const workspace = `fault-${n++}`;
		service.ctl(workspace, "workspace create", { name });
		const key = auditorKey(service, workspace);
		mode = name;
		const { code } = await round();
		assert.equal(code, 0);
		const { status, fault } = job(workspace);
		assert.equal(status, "queued");
		assert.match(fault, pattern);
		const r = await list(key);
		assert.deepEqual(r.json, none);
	});

test("nothing was asked for but the one page", () => {
	assert.deepEqual([...new Set(asked.map(({ url }) => url))], ["/tsr"]);
});

test("the next attempt is stamped when the authority is well", async () => {
	mode = "good";
	const last = `fault-${n - 1}`;
	await until("its time-stamp", async () => {
		await round();
		return job(last).status === "completed";
	}, 40);
	assert.ok(job(last).attempt > 1);
	close(); // connections that the server may have given up meanwhile
	assert.equal((await list(auditorKey(service, last, { name: "after" })))
		.json.data.length, 1);
});

// Every page of one record each, as Link leads from one to the next.
async function pages(key) {
	const found = [];
	for (let query = "?limit=1"; query;) {
		const { json, headers } = await list(key, query);
		found.push(...json.data);
		query = /^<[^?]+(\?[^>]+)>; rel="next"$/.exec(headers.link)?.[1];
		assert.equal(query !== undefined, json.has_more);
		assert.equal(json.next_before_seq !== null, json.has_more);
	}
	return found;
}

test("a day later it is stamped again; Link leads to the older ones", async () => {
	const key = auditorKey(service, "acme", { name: "fourth" });
	const clock = new Clock(service);
	clock.putForward(25 * 3600);
	service.ctl("acme", "connector add",
		{ name: "Bank", kind: "sandbox", modes: "sandbox" });
	await round(clock.environment);
	const { data, has_more } = (await list(key)).json;
	assert.equal(data.length, 2, service.log("round"));
	assert.equal(has_more, false);
	assert.deepEqual(await pages(key), data);
});

test("the ledgers verify, and the read model rebuilds the same", () =>
	finish(service));
