// A ledger whose key is on a token (PKCS #11): nobody who reads it can tell, and
// without the token nothing is written.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { close, paths, send } from "./support/client.mjs";
import { assertProblem } from "./support/contract.mjs";
import { audit, finish, publicKey } from "./support/evidence.mjs";
import { load } from "./support/load.mjs";
import { postureOf } from "./support/posture.mjs";
import { Service, until } from "./support/service.mjs";
import { pin, Token } from "./support/token.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const place = { workspace: "acme", environment: "sandbox" };
let service, token, file, w;

const size = () => service.ctl("acme", "ledger status").size;
const append = () => send(service, "POST", paths.create,
	{ key: w.key, body: actionBody(w) });
const keyCheck = (path) => {
	const r = service.run(join(service.bin, "probityctl"),
		["key", "check", "--file", path, "--json"]);
	return { ...r, json: r.code === 0 ? JSON.parse(r.stdout) : null };
};

before(async () => {
	service = new Service({ build: "debug", worker: false });
	token = new Token(service);
	token.makeKey("ledger", "01");
	token.makeKey("recovery", "02");
	file = token.keyFile("acme", "signing.key", "ledger");
	token.keyFile("acme", "recovery.key", "recovery");
	await service.start();
	w = provision(service, "acme");
});
// Programs that are waited for hold up node, which then does not see that the
// web server has closed what lay idle.
beforeEach(close);
after(close);

test("the ledger was made with the token's keys", async () => {
	const text = readFileSync(file, "utf8");
	assert.match(text, /^pkcs11:[^\n]*\n$/);
	assert.equal(statSync(file).mode & 0o777, 0o600);
	const { json } = keyCheck(file);
	assert.deepEqual(json, { public_key: publicKey(service, place),
		kept_in: "token", signs: true });
	const recovery = keyCheck(join(service.keys, "acme/sandbox/recovery.key"));
	assert.equal(recovery.json.kept_in, "token");
	const first = service.run("git", ["-C", service.ledger("acme"), "cat-file",
		"blob", `${service.run("git", ["-C", service.ledger("acme"), "rev-list",
			"--max-parents=0", "main"]).stdout.trim()}:events`]).stdout;
	assert.ok(first.includes(json.public_key));
	assert.ok(first.includes(recovery.json.public_key));
	const shown = await postureOf(service, "acme")("key_storage");
	assert.equal(shown.state, "token");
	assert.equal(shown.public_key, json.public_key.trim());
});

test("an action lands, and the auditor takes it", async () => {
	const before = size();
	const reply = await append();
	assert.equal(reply.status, 201, reply.text);
	assert.ok(size() > before);
	const checked = audit(service, place);
	assert.equal(checked.code, 0, checked.stderr);
});

test("front, worker and probityctl sign at once", async () => {
	const before = size();
	const writing = load(service, { clients: 8, seconds: 2, make: () => ({
		method: "POST", path: paths.create, key: w.key, body: actionBody(w) }) });
	const worker = service.launch("round",
		[join(service.bin, "probity-worker"), "--once"]);
	worker.ref();
	// Not service.ctl, which would hold up the clients meanwhile.
	for (let i = 0; i < 5; i++) {
		const child = service.launch("ctl", [join(service.bin, "probityctl"),
			"counterparty", "add", "--workspace", "acme", "--name", `Supplier ${i}`,
			"--account", "DE89370400440532013000"]);
		child.ref();
		assert.equal((await child.ended).code, 0, service.log("ctl"));
	}
	assert.equal((await worker.ended).code, 0, service.log("round"));
	const done = await writing;
	assert.deepEqual(done.errors, []);
	assert.deepEqual(Object.keys(done.statuses), ["201"]);
	const status = service.ctl("acme", "ledger status");
	assert.ok(status.size >= before + done.total + 5);
	// The worker wrote too, and checked every signature.
	assert.ok(service.ctl("acme", "job list").data.some((job) =>
		job.kind === "ledger.verify" && job.result?.result === "passed"),
	JSON.stringify(service.ctl("acme", "job list").data));
});

test("without the token: 503, nothing recorded, reads go on", async () => {
	const before = service.run("git", ["-C", service.ledger("acme"), "rev-parse",
		"main"]).stdout;
	token.takeAway();
	for (let i = 0; i < 3; i++) {
		const reply = await append();
		assertProblem(reply, 503, "unavailable");
		assert.ok(Number(reply.headers["retry-after"]) > 0);
	}
	assert.match(service.log("fcgi"), /no token is there/);
	const many = await load(service, { clients: 16, seconds: 1, make: () => ({
		method: "POST", path: paths.create, key: w.key, body: actionBody(w) }) });
	assert.deepEqual(Object.keys(many.statuses), ["503"]);
	const read = await send(service, "GET", paths.workspace, { key: w.key });
	assert.equal(read.status, 200, read.text);
	assert.equal(service.run("git", ["-C", service.ledger("acme"), "rev-parse",
		"main"]).stdout, before);
	assert.equal(keyCheck(file).code, 3);
});

test("the token is back: the same process goes on", async () => {
	token.putBack();
	const reply = await until("the ledger is written again", async () => {
		const r = await append();
		return r.status === 201 && r;
	}, 10);
	assert.equal(reply.status, 201);
	assert.equal(audit(service, place).code, 0);
});

test("a wrong PIN is said once to the token, and to the operator", async () => {
	await service.stop();
	token.setPin("4321");
	await service.start();
	assertProblem(await append(), 503, "unavailable");
	assertProblem(await append(), 503, "unavailable");
	assert.match(service.log("fcgi"), /CKR_PIN_INCORRECT[^]*has refused this PIN/);
	assert.doesNotMatch(service.log("fcgi"), /4321/);
	assert.match(keyCheck(file).stderr, /CKR_PIN_INCORRECT/);
	token.setPin(`${pin}\n`);
	const reply = await append();
	assert.equal(reply.status, 201, reply.text);
});

test("a ledger's key moves from its file onto the token", () => {
	const moved = { workspace: "moved", environment: "sandbox" };
	const path = join(service.keys, "moved/sandbox/signing.key");
	const add = (name) => service.ctl("moved", "counterparty add",
		{ name, account: "DE89370400440532013000" });

	service.ctl("moved", "workspace create", { name: "Moved" });
	add("Before");
	const key = publicKey(service, moved);
	assert.equal(keyCheck(path).json.kept_in, "file");
	token.importKey(path, "moved", "04");
	token.keyFile("moved", "signing.key", "moved");
	assert.deepEqual(keyCheck(path).json,
		{ public_key: key, kept_in: "token", signs: true });
	add("After");
});

test("a key in a file is changed for another, on the token", () => {
	const rotated = { workspace: "rotated", environment: "sandbox" };
	const path = join(service.keys, "rotated/sandbox/signing.key");
	const add = (name) => service.ctl("rotated", "counterparty add",
		{ name, account: "DE89370400440532013000" });

	service.ctl("rotated", "workspace create", { name: "Rotated" });
	add("Before");
	const key = publicKey(service, rotated);
	token.makeKey("rotated", "05");
	const line = token.keyFile("elsewhere", "new.key", "rotated");
	service.ctl("rotated", "ledger rotate-key", { new_key: line });
	const { json } = keyCheck(path);
	assert.equal(json.kept_in, "token");
	assert.notEqual(json.public_key, key);
	assert.equal(readFileSync(path, "utf8"), readFileSync(line, "utf8"));
	assert.equal(statSync(path).mode & 0o777, 0o600);
	add("After");
	// From there on nothing is put into a file unless that is said.
	const before = readFileSync(path, "utf8");
	assert.throws(() => service.ctl("rotated", "ledger rotate-key"),
		(e) => e.code === 1 && /on a token.*--new-key/.test(e.stderr));
	assert.equal(readFileSync(path, "utf8"), before);
	token.makeKey("again", "06");
	const again = token.keyFile("elsewhere", "again.key", "again");
	assert.equal(service.ctl("rotated", "ledger rotate-key",
		{ new_key: again }).old_key_on_token, true);
	add("Thereafter");
});

test("our auditor, verify.sh and stock git accept it all, and it is rebuilt the same", () => finish(service));
