// Whether times tell what replies do not: known from unknown credentials, others'
// records from missing ones. Requests in pairs, of the same length, through
// lighttpd; tests/bench/bench_timing.c sends them and takes the times.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { auditorKey } from "./auditor.mjs";
import { paths, send } from "./client.mjs";
import { makeClient, oauthPaths, tokenOf } from "./oauth.mjs";
import { top } from "./places.mjs";
import { Service } from "./service.mjs";
import { compareMedians, mannWhitney } from "./statistics.mjs";
import { actionBody, provision } from "./workspace.mjs";

const alphabet =
	"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const lineage = "/api/v2/infrastructure/lineage-exports";
const webhooks = "/api/v2/agent-execution/webhooks";

const digits = (n) => Array.from(randomBytes(n), (b) => alphabet[b % 62]).join("");
const times = (n, make) => Array.from({ length: n }, (_, i) => make(i));

// The checksum that anybody can compute: CRC-32 in six digits of base 62.
function checksum(text) {
	let crc = 0xffffffff;
	for (const byte of Buffer.from(text)) {
		crc ^= byte;
		for (let bit = 0; bit < 8; bit++)
			crc = crc >>> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	let rest = ~crc >>> 0, out = "";
	for (let i = 0; i < 6; i++, rest = Math.floor(rest / 62))
		out = alphabet[rest % 62] + out;
	return out;
}

// Another secret behind a public id.
export function forge(publicId) {
	const text = `${publicId}_${digits(43)}`;
	return text + checksum(text);
}

const request = (method, path, lines, body = "") => [`${method} ${path} HTTP/1.1`,
	"Host: 127.0.0.1", ...lines, "", body].join("\r\n");
const bearing = (key, method = "GET", path = paths.workspace) =>
	request(method, path, [`Authorization: Bearer ${key}`]);

const form = "grant_type=client_credentials";
const asClient = (id, secret) => request("POST", oauthPaths.token,
	[`Authorization: Basic ${btoa(`${id}:${secret}`)}`,
		"Content-Type: application/x-www-form-urlencoded",
		`Content-Length: ${form.length}`], form);

async function made(service, path, key, body) {
	const reply = await send(service, "POST", path, { key, body });
	assert.equal(reply.status, 201, reply.text);
	return reply.json;
}

// A workspace with so many of everything that is asked for.
async function furnish(service, name, many) {
	const w = provision(service, name);
	const issue = (application) => service.ctl(name, "credential issue",
		{ application });
	const hooks = (label) => {
		const { uid } = service.ctl(name, "application create", { name: label,
			responsible: "a@example.com", scopes: "agent:execution:webhooks",
			entitlements: "core-platform,financial-actions,agents" });
		return issue(uid).key;
	};
	w.publicIds = times(many, () => issue(w.application.uid).public_id);
	w.client = makeClient(service, name, "oauth");
	w.clientIds = times(many, () => service.ctl(name, "oauth-client create",
		{ application: w.client.application }).client_id);
	w.hooks = [hooks("one"), hooks("two")];
	w.auditor = auditorKey(service, name, { scopes: "infrastructure:lineage" });
	w.tokenIds = [], w.actions = [], w.webhooks = [], w.exports = [];
	for (let i = 0; i < many; i++) {
		w.tokenIds.push((await tokenOf(service, w.client)).slice(0, -50));
		const action = await made(service, paths.create, w.key, actionBody(w));
		w.actions.push(action.uid);
		w.webhooks.push((await made(service, webhooks, w.hooks[i % 2],
			{ url: `https://127.0.0.1:9443/${i}` })).uid);
		w.exports.push((await made(service, lineage, w.auditor,
			{ scope_type: "action", scope_id: action.uid })).uid);
	}
	return w;
}

// An identifier like the given one, of no record.
const missing = (uid) => uid.slice(0, -10) + randomBytes(5).toString("hex");
const unknown = (id) => id.slice(0, -8) + digits(8);
const elsewhere = (id) => id.replace("_acme_", "_acmf_");

const pair = (name, status, [aName, a], [bName, b]) =>
	({ name, status, names: [aName, bName], requests: [a, b] });

function credentialPairs(label, ids, make) {
	const none = () => ids.map((id) => make(unknown(id)));
	return [
		pair(label, 401, ["known", ids.map(make)], ["unknown", none()]),
		pair(label, 401, ["unknown", none()], ["of no workspace",
			ids.map((id) => make(elsewhere(unknown(id))))]),
	];
}

function recordPair(label, name, uids, make) {
	return pair(label, 404, [name, uids.map(make)],
		["missing", uids.map((uid) => make(missing(uid)))]);
}

// What is to be told apart, between two controls: a kind and itself, and two
// that anybody may tell apart without asking, by the checksum.
function pairsOf(acme, rival) {
	const none = () => acme.publicIds.map((id) => bearing(forge(unknown(id))));
	const wrong = none().map((text) => text.replace(/.\r\n\r\n$/, "-\r\n\r\n"));
	const show = (key, path) => (uid) => bearing(key, "GET", `${path}/${uid}`);
	const end = (uid) => bearing(acme.hooks[0], "DELETE", `${webhooks}/${uid}`);
	return [
		pair("control: the same twice", 401, ["unknown", none()],
			["unknown", none()]),
		...credentialPairs("API key", acme.publicIds, (id) => bearing(forge(id))),
		...credentialPairs("access token", acme.tokenIds,
			(id) => bearing(forge(id))),
		...credentialPairs("OAuth client", acme.clientIds,
			(id) => asClient(id, forge(id.replace("pbyc", "pbys")))),
		recordPair("action", "another workspace's", rival.actions,
			show(acme.key, "/api/v2/agent-execution/actions")),
		recordPair("lineage export", "another workspace's", rival.exports,
			show(acme.auditor, lineage)),
		recordPair("webhook, DELETE", "another workspace's", rival.webhooks, end),
		recordPair("webhook, DELETE", "another application's",
			acme.webhooks.filter((_, i) => i % 2), end),
		pair("control: by the checksum", 401, ["wrong", wrong],
			["unknown", none()]),
	];
}

function compile(service) {
	const program = join(service.bin, "bench_timing");
	const r = spawnSync("cc", ["-std=c17", "-D_GNU_SOURCE", "-O2", "-o", program,
		join(top, "tests/bench/bench_timing.c")], { encoding: "utf8" });
	assert.equal(r.status, 0, r.stderr);
	return program;
}

// Times in microseconds, by kind: pair i has the kinds 2i and 2i + 1.
function measure(service, pairs, rounds, seed) {
	const input = pairs.flatMap(({ requests }, i) => requests.flatMap((of, k) =>
		of.map((text) => `${2 * i + k} ${text.length}\n${text}`))).join("");
	const { code, stdout, stderr } = service.run(compile(service),
		[service.port, rounds, seed].map(String), { input });
	assert.equal(code, 0, stderr);
	const taken = Array.from({ length: 2 * pairs.length }, () => []);
	for (const line of stdout.trimEnd().split("\n")) {
		const [kind, ns, status] = line.split(" ").map(Number);
		assert.equal(status, pairs[kind >> 1].status, pairs[kind >> 1].name);
		taken[kind].push(ns / 1000);
	}
	return taken;
}

// Rows of the table, one a pair.
export async function experiment({ rounds, seed = 1, many = 20 }) {
	const service = new Service({ worker: false,
		env: { PROBITY_OUTBOUND_LOOPBACK: "127.0.0.1:9443" } });
	try {
		await service.start();
		const acme = await furnish(service, "acme", many);
		const pairs = pairsOf(acme, await furnish(service, "rival", many));
		const taken = measure(service, pairs, rounds, seed);
		return pairs.map(({ name, names }, i) => {
			const [a, b] = [taken[2 * i], taken[2 * i + 1]];
			return { name, names, n: [a.length, b.length],
				...compareMedians(a, b), ...mannWhitney(a, b) };
		});
	} finally {
		await service.stop();
		service.remove();
	}
}

// The rows as a Markdown table.
export const table = (rows) => [
	"| of | one | other | medians, µs | difference, µs | its interval, 95 % | p | other above one |",
	"| --- | --- | --- | --- | --- | --- | --- | --- |",
	...rows.map((r) => `| ${[r.name, ...r.names,
		`${r.a.toFixed(1)}, ${r.b.toFixed(1)}`, r.difference.toFixed(2),
		`${r.low.toFixed(2)} to ${r.high.toFixed(2)}`, r.p.toPrecision(2),
		`${(100 * r.above).toFixed(1)} %`].join(" | ")} |`),
].join("\n");

// One in a hundred, shared by all the rows: so seldom do equal ones look unequal.
export const toldApart = (row, rows) => row.p < 0.01 / rows.length;
