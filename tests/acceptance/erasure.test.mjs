// What is personal is nowhere in clear, can be erased for ever, and everything
// still verifies: before, after, and after older copies were put back.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createDecipheriv, createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { close, paths, send } from "./support/client.mjs";
import { assertSame, audit, dump, finish, gitVerify, verifyOffline } from
	"./support/evidence.mjs";
import { Service } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const place = { workspace: "acme", environment: "sandbox" };
const person = { name: "Erika Musterfrau-Zwölfer",
	account: "DE02120300000000202051", lei: "529900T8BM49AURSDO55" };
const rows = "reference,counterparty,amount,currency,note\n" +
	`ERA-1,${person.name},12.00,EUR,Befund Kniegelenk links\n` +
	`ERA-2,${person.account},13.00,EUR,Ratenzahlung vereinbart\n`;
const clear = [person.name, person.account, "Befund Kniegelenk",
	"Ratenzahlung", "zwoelfer-erika.csv"];
let service, w, party, imported;

const ctl = (words, options) => service.ctl("acme", words, options);
const keysDir = () => join(service.keys, "acme/sandbox/content");

function refuses(words, options, slug) {
	let said;
	assert.throws(() => ctl(words, options), (e) => {
		/* The log's lines come before, where this opening put back what
		 * the list says. */
		said = JSON.parse((e.stdout || e.stderr).trim().split("\n").at(-1));
		return e.code !== 0;
	});
	assert.equal(said.error, slug, JSON.stringify(said));
	return said;
}

function* files(dir) {
	for (const name of readdirSync(dir)) {
		const path = join(dir, name);
		if (statSync(path).isDirectory()) yield* files(path);
		else yield path;
	}
}

// Every byte below STATE and of the logs, and what git packed and compressed.
function places(text) {
	const bytes = Buffer.from(text);
	const found = [service.state, join(service.dir, "log")]
		.flatMap((dir) => [...files(dir)])
		.filter((path) => readFileSync(path).includes(bytes));
	const objects = service.run("git", ["-C", service.ledger("acme"), "cat-file",
		"--batch-all-objects", "--batch"]);
	assert.equal(objects.code, 0, objects.stderr);
	if (objects.stdout.includes(text)) found.push("git objects");
	return found;
}

function nowhere() {
	for (const text of clear) assert.deepEqual(places(text), [], text);
	// The search finds what is there.
	assert.ok(places(person.lei).includes("git objects"));
	assert.ok(places(person.lei).some((p) => p.endsWith("journal")));
}

function verifies() {
	const { code, report } = audit(service, place);
	assert.equal(code, 0, JSON.stringify(report));
	assert.equal(verifyOffline(service, place).code, 0);
	gitVerify(service, place, service.ledger("acme"));
}

// As they stand in the repository.
const git = (...args) => service.run("git",
	["-C", service.ledger("acme"), ...args]).stdout;
const commits = () => git("rev-list", "--reverse", "main").trim().split("\n");
const eventsOf = (c) => git("cat-file", "blob", `${c}:events`).trim()
	.split("\n").map((line) => JSON.parse(line.slice(line.indexOf(" ") + 1)));
const allEvents = () => commits().flatMap(eventsOf);
const commitOf = (seq) => commits().find((c) =>
	eventsOf(c).some((e) => e.seq === seq));
const erasedEvents = () =>
	allEvents().filter((e) => e.type === "subject.erased");
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

const keyFiles = () => [...files(keysDir())].filter((f) => f.endsWith(".key"));
const entries = () => existsSync(join(keysDir(), "erased"))
	? readdirSync(join(keysDir(), "erased")) : [];

before(async () => {
	service = await new Service().start();
	w = provision(service, "acme");
});
after(close);

test("a counterparty and an import read as before", () => {
	party = ctl("counterparty add", { ...person, "idempotency-key": "party" });
	assert.equal(party.name, person.name);
	assert.equal(party.account, person.account);
	assert.deepEqual(ctl("counterparty show", { id: party.id }).name,
		person.name);
	assert.equal(party.erased_at, undefined);
	const csv = join(service.dir, "home/zwoelfer-erika.csv");
	service.write(csv, rows);
	imported = ctl("source-record import", { file: csv, format: "csv",
		kind: "invoice",
		"idempotency-key": "import" });
	assert.equal(imported.file_name, "zwoelfer-erika.csv");
	const same = ctl("source-record import", { file: csv, format: "csv",
		kind: "invoice" });
	assert.equal(same.uid, imported.uid);
	assert.equal(same.already_imported, true);
	for (const { counterparty_id } of ctl("source-record list",
		{ "import-uid": imported.uid }).data)
		assert.equal(counterparty_id, party.id);
	const r = service.run(join(service.bin, "probityctl"), ["source-record",
		"file", "--workspace", "acme", "--import-uid", imported.uid]);
	assert.equal(r.stdout, rows, r.stderr);
});

test("an action of that counterparty names it by number alone", async () => {
	const [source] = ctl("source-record list", { reference: "ERA-1" }).data;
	const r = await send(service, "POST", paths.create, { key: w.key,
		body: actionBody(w, { source_uid: source.uid, counterparty_id: party.id,
			amount: "12.00" }) });
	assert.equal(r.status, 201, r.text);
	assert.ok(!clear.some((text) => r.text.includes(text)));
});

test("nothing of it is in clear below STATE", () => nowhere());

test("with the key, others open what the ledger holds", () => {
	const events = allEvents();
	const open = (event, sealed, member, box) => {
		const file = keyFiles().find((f) => f.endsWith(`/${sealed.key}.key`));
		const d = createDecipheriv("aes-256-gcm",
			Buffer.from(readFileSync(file, "ascii").trim(), "hex"),
			box.subarray(0, 12));
		d.setAAD(Buffer.from(`probity-content/v1\n${event.ledger}\n` +
			`${event.subject.uid}\n${member}\n`));
		d.setAuthTag(box.subarray(-16));
		const text = Buffer.concat([d.update(box.subarray(12, -16)), d.final()]);
		assert.equal(sha256(box), sealed.ciphertext_sha256);
		assert.equal(sha256(text), sealed.commitment);
		return text.subarray(32).toString();
	};
	const registered = events.find((e) => e.subject.uid === party.uid);
	assert.equal(registered.type, "counterparty.registered");
	for (const member of ["name", "account"]) {
		const value = registered.data[member];
		assert.equal(open(registered, value, member,
			Buffer.from(value.ciphertext, "base64")), person[member]);
	}
	const received = events.find((e) => e.type === "source_import.received" &&
		e.subject.uid === imported.uid);
	const { file } = received.data;
	assert.equal(received.payloads[0].sha256, file.ciphertext_sha256);
	const blob = spawnSync("git", ["-c", "safe.directory=*", "-C",
		service.ledger("acme"), "cat-file", "blob",
		`${commitOf(received.seq)}:payloads/${file.ciphertext_sha256}`]).stdout;
	assert.equal(open(received, file, "file", blob.subarray(32)), rows);
});

test("keys are the service's alone", () => {
	const found = keyFiles();
	assert.ok(found.length >= 2);
	for (const path of found)
		assert.equal(statSync(path).mode & 0o777, 0o600, path);
});

test("a request sent again is answered, and makes no key", () => {
	const n = keyFiles().length;
	const again = ctl("counterparty add",
		{ ...person, "idempotency-key": "party" });
	assert.deepEqual(again, party);
	assert.equal(keyFiles().length, n);
});

let oldKeys, oldLedger, erasures;

test("erased for ever, by an event that says why", async () => {
	await service.stop();
	oldKeys = join(service.dir, "home/keys");
	oldLedger = join(service.dir, "home/ledger");
	service.run("cp", ["-a", keysDir(), oldKeys]);
	service.run("cp", ["-a", join(service.ledger("acme"), ".."), oldLedger]);
	await service.start();

	const n = keyFiles().length;
	erasures = [party, imported].map(({ uid }) => ctl("subject erase",
		{ subject: uid, reason: "Request of 2 November",
			"requested-by": "ticket 4711" }));
	for (const e of erasures) {
		assert.equal(e.keys, 1);
		assert.equal(e.requested_by, "ticket 4711");
		assert.equal(e.erased_by_event, e.evidence.seq);
	}
	assert.equal(erasures[0].kind, "counterparty");
	assert.equal(erasures[0].carried[0].seq, party.evidence.seq);
	assert.equal(keyFiles().length, n - 2);
	assert.equal(entries().length, 2);
	nowhere();
});

const gone = (words, options, by) => {
	const said = refuses(words, options, "erased");
	if (by) {
		assert.equal(said.more.erased_by_event, by.erased_by_event);
		assert.equal(said.more.erased_at, by.erased_at);
	}
};

function readsAreRefused(byParty, byImport) {
	gone("counterparty show", { id: party.id }, byParty);
	gone("source-record file", { "import-uid": imported.uid }, byImport);
	const item = ctl("counterparty list", {}).data
		.find((p) => p.uid === party.uid);
	assert.equal(item.name, null);
	assert.equal(item.account, null);
	assert.equal(item.lei, person.lei);
	assert.ok(item.erased_at);
	if (byParty) assert.equal(item.erased_by_event, byParty.erased_by_event);
}

test("reads say that it was erased, when and by what", () => {
	readsAreRefused(...erasures);
	gone("subject erase", { subject: party.uid, reason: "again" });
});

test("the creating requests, sent again, say the same", () => {
	gone("counterparty add", { ...person, "idempotency-key": "party" },
		erasures[0]);
	const csv = join(service.dir, "home/zwoelfer-erika.csv");
	gone("source-record import", { file: csv, format: "csv",
		kind: "invoice",
		"idempotency-key": "import" }, erasures[1]);
});

test("a statement whose file is erased stays, without the file's hash",
	async () => {
		const list = async () => (await send(service, "GET", paths.statements,
			{ key: w.key })).json.data[0];
		const was = await list();
		assert.match(was.sha256, /^[0-9a-f]{64}$/);
		assert.equal("erased_at" in was, false);
		const by = ctl("subject erase",
			{ subject: was.import_uid, reason: "Retention ended" });
		const is = await list();
		assert.deepEqual(is, { ...was, sha256: null, erased_at: by.erased_at,
			erased_by_event: by.erased_by_event });
	});

test("everything verifies, and a rebuild is the same", async () => {
	verifies();
	await service.stop();
	const was = dump(service, place);
	ctl("ledger rebuild");
	assertSame(dump(service, place), was);
	await service.start();
	readsAreRefused(...erasures);
});

test("older keys put back bring nothing back", async () => {
	service.run("cp", ["-a", `${oldKeys}/.`, keysDir()]);
	const put = keyFiles().length;
	readsAreRefused(...erasures);
	const r = service.run(join(service.bin, "probity-worker"), ["--once"]);
	assert.equal(r.code, 0, r.stderr);
	assert.equal(keyFiles().length, put - 3);
	nowhere();
});

test("older keys, ledger and tables put back: the list counts", async () => {
	await service.stop();
	const dir = join(service.ledger("acme"), "..");
	service.run("rm", ["-r", dir]);
	service.run("cp", ["-a", oldLedger, dir]);
	service.run("cp", ["-a", `${oldKeys}/.`, keysDir()]);
	const put = keyFiles().length;
	await service.start();
	readsAreRefused();
	assert.equal(keyFiles().length, put - 3);
	assert.equal(entries().length, 6);
	const again = erasedEvents();
	assert.equal(again.length, 3);
	for (const { data, actor } of again) {
		assert.ok(data.replays);
		assert.equal(actor.id, "erasure-list");
	}
	assert.equal(again.filter((e) =>
		e.data.requested_by === "ticket 4711").length, 2);
	await service.restart();
	assert.deepEqual(erasedEvents(), again);
	nowhere();
	verifies();
});

test("verifies and rebuilds", () => finish(service));
