// What lies in the memory of a process that signs, as a core dump would show it,
// and where secrets that were issued are not: logs, events, tables, files, replies.
import assert from "node:assert/strict";
import { closeSync, existsSync, openSync, readFileSync, readSync, readdirSync }
	from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { close, paths, send } from "./support/client.mjs";
import { finish } from "./support/evidence.mjs";
import { makeClient, oauthPaths } from "./support/oauth.mjs";
import { Service } from "./support/service.mjs";
import { pin, Token } from "./support/token.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const chunk = 1 << 20;
let service, token, onFile, onToken;
const issued = [], replies = [], loopback = "127.0.0.1:9";

// Where the bytes are in the pages that the process may write.
function find(pid, wanted) {
	const memory = openSync(`/proc/${pid}/mem`, "r");
	const places = [];
	for (const line of readFileSync(`/proc/${pid}/maps`, "utf8").split("\n")) {
		const [, from, to, name] =
			/^([0-9a-f]+)-([0-9a-f]+) rw\S* \S+ \S+ \d+ *(.*)$/.exec(line) ?? [];
		if (!from) continue;
		const end = parseInt(to, 16);
		for (let at = parseInt(from, 16); at < end; at += chunk) {
			// A match may lie across two chunks.
			const room = Buffer.alloc(Math.min(chunk + wanted.length, end - at));
			let n = 0;
			try {
				n = readSync(memory, room, 0, room.length, at);
			} catch (e) {
				assert.equal(e.code, "EIO");
			}
			if (room.subarray(0, n).includes(wanted)) places.push(name || line);
		}
	}
	closeSync(memory);
	return places;
}

async function write(w) {
	const reply = await send(service, "POST", paths.create,
		{ key: w.key, body: actionBody(w) });
	assert.equal(reply.status, 201, reply.text);
}

before(async () => {
	service = new Service({ worker: false, env: { PROBITY_LOG_LEVEL: "debug" } });
	service.settings.PROBITY_OUTBOUND_LOOPBACK = loopback;
	service.settings.PROBITY_ACCESS_LOG = join(service.dir, "log/access.log");
	token = new Token(service);
	token.makeKey("ledger", "01");
	token.keyFile("ontoken", "signing.key", "ledger");
	await service.start();
	onFile = provision(service, "onfile");
	onToken = provision(service, "ontoken");
	await service.restart();
	await write(onFile);
	await write(onToken);
});
after(close);

test("the search finds what is there", () => {
	const { pid } = service.children.get("fcgi");
	assert.ok(find(pid, Buffer.from("onfile/sandbox")).length > 0);
	assert.deepEqual(find(pid, Buffer.from("nobody wrote this")), []);
});

test("no copy of a key lies outside the memory that is kept for it", () => {
	const { pid } = service.children.get("fcgi");
	const pem = readFileSync(join(service.keys, "onfile/sandbox/signing.key"),
		"utf8").split("\n")[1];
	assert.equal(pem.length, 64);
	const seed = Buffer.from(pem, "base64").subarray(16);
	// In pieces: what is freed loses its beginning, at least, to its heirs.
	const pieces = [seed.subarray(0, 12), seed.subarray(10, 22),
		seed.subarray(20), ...[24, 34, 44, 54].map((at) =>
			Buffer.from(pem.slice(at, at + 10)))];
	// The memory for it is read-only once the key is in it.
	for (const piece of pieces) assert.deepEqual(find(pid, piece), []);
});

test("no PIN is kept", () => {
	const { pid } = service.children.get("fcgi");
	assert.deepEqual(find(pid, Buffer.from(pin)), []);
});

// Nobody is called: registering looks at the address alone.
async function registerWebhook() {
	const { uid } = service.ctl("onfile", "application create", { name: "hooks",
		responsible: "a@example.com", entitlements: "agents",
		scopes: "agent:execution:webhooks" });
	const { key } = service.ctl("onfile", "credential issue", { application: uid });
	const reply = await send(service, "POST", "/api/v2/agent-execution/webhooks",
		{ key, body: { url: `https://${loopback}/hook` } });
	assert.equal(reply.status, 201, reply.text);
	issued.push(key);
	return reply.json.secret;
}

// As the form has it, secret and all.
async function askToken(client, secret) {
	const reply = await fetch(service.baseUrl + oauthPaths.token, {
		method: "POST", body: new URLSearchParams({
			grant_type: "client_credentials", client_id: client.client_id,
			client_secret: secret }) });
	return reply.json();
}

// What was shown once: here and nowhere else. A key's public part may be known.
async function issue() {
	const rotated = service.ctl("onfile", "credential rotate",
		{ uid: onFile.credential.uid });
	const client = makeClient(service, "onfile", "client");
	issued.push(onFile.key, onToken.key, rotated.key, client.client_secret,
		(await askToken(client, client.client_secret)).access_token,
		await registerWebhook());
	// One character more, so that it is refused and may be told of.
	assert.equal((await askToken(client, `${client.client_secret}x`)).error,
		"invalid_client");
	for (const key of issued) {
		// Used well, used after its end, and where it does not belong.
		replies.push(await send(service, "GET", paths.workspace, { key }),
			await send(service, "POST", paths.create, { key, body: actionBody(
				onFile, { execution_mode: key }) }),
			await send(service, "GET", `${paths.workspace}/${key}`),
			await send(service, "GET", `${paths.workspace}?${key}=${key}`),
			await send(service, "GET", `/problems/${key}`, { headers: {
				"X-Request-Id": key, "User-Agent": key, traceparent: key,
				"Idempotency-Key": key, Referer: key } }),
			await send(service, "GET", "/readyz"),
			await send(service, "GET", "/metrics"));
	}
	onFile.key = rotated.key;
}

const secretOf = (key) => key.split("_").at(-1);

function filesBelow(folder) {
	return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
		const path = join(folder, entry.name);
		return entry.isDirectory() ? filesBelow(path)
			: entry.isFile() ? [path] : [];
	});
}

// All objects of a repository, packed or not, as they were before git packed
// them.
const objects = (repo) => {
	const r = service.run("git", ["-C", repo, "cat-file", "--batch",
		"--batch-all-objects", "--buffer"]);
	assert.equal(r.code, 0, r.stderr);
	return Buffer.from(r.stdout);
};

function expectNowhere(what, bytes) {
	for (const key of issued)
		assert.ok(!bytes.includes(secretOf(key)), `${what} holds a secret`);
}

test("no secret that was issued is in logs, events, tables or files", async () => {
	await issue();
	assert.equal(issued.length, 7);
	assert.ok(issued.every((secret) => secretOf(secret).length >= 43));
	const log = join(service.dir, "log/access.log");
	assert.ok(existsSync(log));
	assert.ok(service.log("fcgi").includes('"level":"debug"'));
	service.run(join(service.bin, "probity-worker"), ["--once"]);
	await service.stop();
	const files = [...filesBelow(service.state), ...filesBelow(service.keys),
		...filesBelow(join(service.dir, "log"))];
	assert.ok(files.some((f) => f.endsWith("state.db")));
	assert.ok(files.includes(log) && files.includes(join(service.state, "metrics")));
	for (const file of files) expectNowhere(file, readFileSync(file));
	for (const { workspace, environment } of service.places()) {
		const repo = service.ledger(workspace, environment);
		const all = objects(repo);
		// The search would find what is there: a key's public part.
		assert.ok(all.includes(workspace === "onfile"
			? onFile.credential.public_id : onToken.credential.public_id));
		expectNowhere(repo, all);
	}
});

test("no reply gives a secret back", () => {
	assert.ok(replies.some((r) => r.status === 200));
	for (const reply of replies)
		expectNowhere(JSON.stringify(reply.headers), Buffer.concat([reply.bytes,
			Buffer.from(JSON.stringify(reply.headers))]));
});

test("the ledgers verify", () => finish(service));
