// What lies in the memory of a process that signs, as a core dump would show it.
import assert from "node:assert/strict";
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { close, paths, send } from "./support/client.mjs";
import { finish } from "./support/evidence.mjs";
import { Service } from "./support/service.mjs";
import { pin, Token } from "./support/token.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const chunk = 1 << 20;
let service, token, onFile, onToken;

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
	service = new Service({ worker: false });
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

test("the ledgers verify", () => finish(service));
