// Clients' URLs as the program screens them, with a resolver whose answers
// change between two looks: what was public is 127.0.0.1 the next time.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { execFile } from "node:child_process";
import { top, user } from "./support/places.mjs";
import { Resolver } from "./support/resolver.mjs";
import { Service } from "./support/service.mjs";

const run = promisify(execFile);
const refused = 1;
const name = "hook.example.com";
let service, resolver, listener, connections = 0;

// This process is the resolver, so it must not wait for the program.
async function check(url, env = {}) {
	const options = { ...user, cwd: service.dir, env: { ...service.environment,
		PROBITY_OUTBOUND_RESOLVER: resolver.address, ...env } };
	const args = ["outbound", "check", "--url", url, "--json"];
	try {
		const { stdout } = await run(join(service.bin, "probityctl"), args, options);
		return { code: 0, json: JSON.parse(stdout) };
	} catch (e) {
		if (e.code === undefined || e.stderr === undefined) throw e;
		return { code: e.code, said: e.stderr };
	}
}

before(async () => {
	resolver = await Resolver.start();
	listener = createServer((socket) => {
		connections++;
		socket.destroy();
	});
	await new Promise((done) => listener.listen(0, "127.0.0.1", done));
	service = new Service({ build: "debug", worker: false });
	service.baseUrl = "http://127.0.0.1:8080";
	service.write(service.confFile, "");
});
after(async () => {
	listener.close();
	await resolver.stop();
	assert.equal(service.sanitizerReports(), "");
	service.remove();
});

test("a public name and its addresses", async () => {
	resolver.say(name, ["8.8.8.8", "2606:4700::1111"]);
	const { code, json } = await check(`https://${name.toUpperCase()}./in?a=1`);
	assert.equal(code, 0);
	assert.deepEqual({ ...json, addresses: json.addresses.sort() }, {
		url: `https://${name}/in?a=1`, host: name, port: 443,
		loopback_allowed: false, addresses: ["2606:4700::1111", "8.8.8.8"] });
	assert.deepEqual(resolver.queries.map((q) => q.type).sort(), ["A", "AAAA"]);
});

test("public at first, this machine then", async () => {
	resolver.say(name, ["8.8.8.8"], ["127.0.0.1"], ["8.8.8.8", "127.0.0.1"]);
	assert.equal((await check(`https://${name}/`)).code, 0);
	for (let i = 0; i < 2; i++) {
		const { code, said } = await check(`https://${name}/`);
		assert.equal(code, refused);
		const [{ option, code: why, detail }] = JSON.parse(said).errors;
		assert.deepEqual([option, why], ["url", "unsafe"]);
		assert.match(detail, /not public: loopback/);
	}
});

test("an alias to a private address", async () => {
	resolver.say(name, ["CNAME intern.example.net", "10.0.0.1"]);
	const { code, said } = await check(`https://${name}/`);
	assert.equal(code, refused);
	assert.match(said, /not public: private/);
	assert.doesNotMatch(said, /10\.0\.0\.1/);
});

test("what the operator allows, by name and port alone", async () => {
	const { port } = listener.address();
	const env = { PROBITY_OUTBOUND_LOOPBACK: `hook.test:${port}` };
	resolver.say("hook.test", ["127.0.0.1"]);
	const { json } = await check(`https://hook.test:${port}/`, env);
	assert.deepEqual([json.addresses, json.loopback_allowed],
		[["127.0.0.1"], true]);
	assert.equal((await check(`https://hook.test:${port}/`)).code, refused);
	assert.equal((await check("https://hook.test:8443/", env)).code, refused);
	assert.equal(connections, 0);
});

// The resolver here is not the one of the unit test, the answers are.
test("every accepted row of the table, asked by the program", async () => {
	const rows = JSON.parse(readFileSync(join(top, "tests/vectors/ssrf.json")));
	const named = rows.filter((row) => row.verdict === "accepted" &&
		row.answers.length > 0 && !row.loopback);
	assert.ok(named.length >= 10);
	for (const row of named) {
		resolver.say(new URL(row.url).hostname.replace(/\.$/, ""), row.answers);
		const { json, said } = await check(row.url);
		assert.equal(json?.url, row.canonical, said);
		// As browsers and node write it.
		assert.equal(new URL(json.url).href, json.url);
	}
});

test("a resolver that is no address stops the program", async () => {
	const { code, said } = await check("https://hook.example.com/",
		{ PROBITY_OUTBOUND_RESOLVER: "dns.example.com" });
	assert.notEqual(code, 0);
	assert.match(said, /: outbound_resolver: dns.example.com is not/);
});
