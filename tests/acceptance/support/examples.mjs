// The examples that stand beside the operations, and a workspace to try them
// in. docs/contributing.md says how one is written.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { Authority } from "./authority.mjs";
import { auditorKey } from "./auditor.mjs";
import { paths, send } from "./client.mjs";
import { top } from "./places.mjs";
import { Service } from "./service.mjs";
import { actionBody, provision } from "./workspace.mjs";

// In place of the address of the service that a test started.
const host = "https://probity.example";

// Every file, by the id of its operation.
export function exampleFiles() {
	const folder = join(top, "domain");
	const found = new Map();
	for (const group of readdirSync(folder, { withFileTypes: true })) {
		const own = join(folder, group.name, "examples");
		if (!group.isDirectory() ||
			!readdirSync(join(folder, group.name)).includes("examples")) continue;
		for (const name of readdirSync(own))
			found.set(name.replace(/\.json$/, ""), join(own, name));
	}
	return found;
}

export const readExamples = (file) =>
	JSON.parse(readFileSync(file, "utf8")).examples;
export const writeExamples = (file, examples) => writeFileSync(file,
	`${JSON.stringify({ examples }, null, "\t")}\n`);

// A service whose checkpoints are time-stamped once, and all that the examples'
// requests name: the members of `given`.
export async function fixture() {
	const service = new Service({ build: "debug", worker: false });
	const stop = await startAuthority(service);
	try {
		return { stop, service, ...await furnish(service) };
	} catch (e) {
		stop();
		throw e;
	}
}

async function furnish(service) {
	await service.start();
	const w = provision(service, "acme");
	const entitled = service.ctl("acme", "application create", { name: "examples",
		responsible: "a@example.com", scopes: await scopesOf(service),
		entitlements: "core-platform,financial-actions,agents,finance-core," +
			"infrastructure" });
	// The fuzzer asks more than an ordinary client may.
	service.ctl("acme", "application set-limits", { uid: entitled.uid,
		"requests-per-second": 10000, burst: 10000 });
	const { key: full } = service.ctl("acme", "credential issue",
		{ application: entitled.uid });
	const bare = auditorKey(service, "acme", { scopes: "benchmark:read",
		name: "bare" });
	const ask = async (path, body) => {
		const reply = await send(service, "POST", path, { key: full, body });
		assert.equal(reply.status, 201, reply.text);
		return reply.json;
	};
	const action = await ask(paths.create, actionBody(w, { amount: "7.00" }));
	const made = await ask("/api/v2/infrastructure/lineage-exports",
		{ scope_type: "action", scope_id: action.uid });
	// Nothing is delivered to it; it is only registered.
	const webhook_url =
		`https://${service.settings.PROBITY_OUTBOUND_LOOPBACK}/events`;
	const hook = await ask("/api/v2/agent-execution/webhooks", { url: webhook_url });
	await service.launch("round", [join(service.bin, "probity-worker"), "--once"])
		.ended;
	return { keys: { full, bare, none: undefined }, given: {
		source_uid: w.sources["EUR-BIG"].uid, connector_id: w.connector.id,
		counterparty_id: w.counterparty.id, action_uid: action.uid,
		action_seq: action.evidence.seq, export_uid: made.uid,
		webhook_url, webhook_uid: hook.uid } };
}

async function scopesOf(service) {
	const { json } = await send(service, "GET", "/api/v2/openapi.json");
	return [...new Set(Object.values(json.paths).flatMap((methods) =>
		Object.values(methods).map((op) => op["x-scope"])))].join(",");
}

// An authority on this machine stamps the newest checkpoint.
async function startAuthority(service) {
	const authority = new Authority(join(service.dir, "home"));
	const server = createServer(async (request, response) => {
		const parts = [];
		for await (const part of request) parts.push(part);
		response.writeHead(200, { "content-type": "application/timestamp-reply" });
		response.end(authority.reply(Buffer.concat(parts)));
	});
	await new Promise((done) => server.listen(0, "127.0.0.1", done));
	service.own(join(service.dir, "home/ca.pem"));
	Object.assign(service.settings, {
		PROBITY_OUTBOUND_LOOPBACK: `127.0.0.1:${server.address().port}`,
		PROBITY_TIMESTAMP_CA: join(service.dir, "home/ca.pem"),
		PROBITY_TIMESTAMP_URL: `http://127.0.0.1:${server.address().port}/tsr` });
	return () => {
		server.closeAllConnections();
		server.close();
	};
}

// A copy of the request with the workspace's own values in it.
export function fill(example, given) {
	const request = structuredClone(example.request ?? {});
	for (const [pointer, name] of Object.entries(example.given ?? {})) {
		assert.ok(name in given, `the tests' workspace has no ${name}`);
		const steps = pointer.slice(1).split("/");
		const last = steps.pop();
		const at = steps.reduce((v, step) => v[step], request);
		assert.ok(last in at, `${example.name}: the request has no ${pointer}`);
		at[last] = given[name];
	}
	return request;
}

export function target(template, { path = {}, query = {} }) {
	const filled = template.replace(/\{([^}]+)\}/g, (_, name) => {
		assert.ok(name in path, `${template}: the example has no ${name}`);
		return encodeURIComponent(path[name]);
	});
	const search = new URLSearchParams(query).toString();
	return search ? `${filled}?${search}` : filled;
}

// The reply as the example would have it: of another host, and with the request's
// own identifiers in place of those of the tests' workspace.
export function asExample(example, reply, { service, given }) {
	const v = reply.json ?? (/^text\//.test(reply.headers["content-type"])
		? reply.text : undefined);
	if (v === undefined) return undefined;
	let text = JSON.stringify(v).replaceAll(service.baseUrl, host);
	for (const [pointer, name] of Object.entries(example.given ?? {}))
		if (/_(uid|url)$/.test(name))
			text = text.replaceAll(given[name], pointer.slice(1).split("/")
				.reduce((at, step) => at[step], example.request));
	return JSON.parse(text);
}

export function shorten(v) {
	if (typeof v === "string") return v.length > 400 ? `${v.slice(0, 400)}…` : v;
	if (Array.isArray(v)) return v.slice(0, 2).map(shorten);
	if (v === null || typeof v !== "object") return v;
	return Object.fromEntries(Object.entries(v).map(([k, m]) => [k, shorten(m)]));
}

// Texts that are new each time, and what tells them from others.
const forms = [
	["uuid", /^(urn:uuid:)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
	["instant", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/],
	["hex", /^[0-9a-f]{8,}$/],
	["public key", /^ssh-ed25519 [A-Za-z0-9+/=]+/],
	["fingerprint", /^SHA256:[A-Za-z0-9+/]{43}$/],
	["origin", /^[a-z0-9.-]+(:\d+)?\/[a-z0-9./-]+$/],
	["several lines", /\n/],
	["base64", /^[A-Za-z0-9+/_-]{40,}={0,2}…?$/],
	["signed line", /^[A-Za-z0-9+/=]+ \{/],
];
const formOf = (text) => forms.find(([, pattern]) => pattern.test(text))?.[0];

// Fails where the reply is not what the example promises: the same members, of
// the same types, constant texts the same. Numbers are positions and counters,
// held by their type, and so is what varies; where a list is of another length,
// each of its items is like one of the example's.
export function assertLike(example, reply) {
	const varies = [...(example.varies ?? []), "/evidence"];
	compare(example.reply, reply, "", { varies, name: example.name });
}

function compare(expected, actual, at, c) {
	const what = `${c.name}: ${at || "the reply"}`;
	const loose = c.varies.some((p) => at === p || at.startsWith(`${p}/`));
	if (loose && (expected === null || actual === null)) return;
	assert.equal(kindOf(actual), kindOf(expected), what);
	if (Array.isArray(expected)) {
		if (!loose) compareLists(expected, actual, at, c);
	}
	else if (kindOf(expected) === "object") {
		if (!loose) assert.deepEqual(Object.keys(actual).sort(),
			Object.keys(expected).sort(), what);
		for (const name of Object.keys(expected))
			if (name in actual)
				compare(expected[name], actual[name], `${at}/${name}`, c);
	} else if (typeof expected === "string" && !loose &&
		(!formOf(expected) || formOf(expected) !== formOf(actual)))
		assert.equal(actual, expected, what);
	else if (typeof expected === "boolean" && !loose)
		assert.equal(actual, expected, what);
}

const kindOf = (v) => v === null ? "null" : Array.isArray(v) ? "list" : typeof v;

function compareLists(expected, actual, at, c) {
	assert.equal(actual.length > 0, expected.length > 0, `${c.name}: ${at}`);
	if (expected.length === actual.length) {
		actual.forEach((item, i) => compare(expected[i], item, `${at}/${i}`, c));
		return;
	}
	const within = { ...c, varies: [at] };
	actual.forEach((item, i) => {
		const like = (e) => {
			try {
				compare(e, item, `${at}/${i}`, within);
				return true;
			} catch {
				return false;
			}
		};
		assert.ok(expected.some(like), `${c.name}: ${at}/${i}`);
	});
}
