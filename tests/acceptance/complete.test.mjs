// Lists asked with proof=complete: held against the index by a reader written
// from the document, and by probity-audit without a network. What a service
// leaves out, both of them find.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { auditorKey } from "./support/auditor.mjs";
import { close, paths, send } from "./support/client.mjs";
import { checkComplete } from "./support/complete.mjs";
import { assertProblem, Contract, named } from "./support/contract.mjs";
import { finish, publicKey } from "./support/evidence.mjs";
import { top } from "./support/places.mjs";
import { makeKey, offline } from "./support/proof.mjs";
import { Service } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const place = { workspace: "acme", environment: "sandbox" };
const unknown = "018f0000-0000-7000-8000-000000000000";
const dir = mkdtempSync(join(tmpdir(), "probity-complete-"));
const STATEMENTS = 8, ACTIONS = 300;
let service, contract, w, auditor, key, files = 0;
const actions = [];

const ask = async (path, credential = auditor) => {
	const reply = await send(service, "GET", path, { key: credential });
	contract.check("GET", path, reply);
	return reply;
};
const good = async (path, credential) => {
	const reply = await ask(path, credential);
	assert.equal(reply.status, 200, reply.text);
	return reply.json;
};
const events = (kind, uid, more = "") => good(
	`/api/v2/ledger/events?subject=${uid}&subject_kind=${kind}&proof=complete${more}`);
const records = (kind, more = "") =>
	good(`/api/v2/ledger/records?kind=${kind}&proof=complete${more}`);
const statements = (more = "") =>
	good(`${paths.statements}?proof=complete${more}`, w.key);

const save = (reply) => {
	const file = join(dir, `reply-${files++}.json`);
	writeFileSync(file, JSON.stringify(reply));
	return file;
};
const run = (replies, ...options) =>
	offline([join(service.bin, "probity-audit"), "check-complete",
		...replies.map(save), ...options], { env: service.environment });
const audit = (replies, pinned = key) => {
	const r = run(replies, "--key", pinned, "--json");
	assert.ok(r.stdout, r.stderr);
	return { code: r.status, ...JSON.parse(r.stdout) };
};

// By both readers.
function assertComplete(reply) {
	const rows = checkComplete(reply, key);
	const ours = audit([reply]);
	assert.equal(ours.code, 0, JSON.stringify(ours.failed));
	assert.equal(ours.shown.count, reply.data.length);
	assert.equal(ours.shown.size, reply.complete.size);
	return rows;
}
function assertRefused(reply, check, reason, pinned = key) {
	assert.throws(() => checkComplete(reply, pinned));
	const ours = audit([reply], pinned);
	assert.equal(ours.code, 1);
	assert.equal(ours.failed.check, check, ours.failed.reason);
	assert.match(ours.failed.reason, reason);
}

// Without holding up this program, whose connections would go stale.
const bash = (commands, cwd) => new Promise((done) => {
	execFile("bash", ["-c", commands], { cwd, encoding: "utf8" },
		(error, stdout, stderr) => done({ status: error?.code ?? 0, stdout, stderr }));
});

const sql = (text) => {
	const r = service.run("sqlite3", [join(service.state,
		"ledgers/acme/sandbox/state.db"), text]);
	assert.equal(r.code, 0, r.stderr);
};
async function rebuild() {
	await service.stop();
	service.ctl("acme", "ledger rebuild");
	await service.start();
}

before(async () => {
	service = await new Service({ build: "debug", worker: false }).start();
	w = provision(service, "acme");
	auditor = auditorKey(service, "acme");
	contract = await Contract.of(service);
	for (let n = 1; n < STATEMENTS; n++) {
		const file = join(service.dir, `statement-${n}.xml`);
		service.write(file, service.demoStatement(n));
		service.ctl("acme", "source-record import",
			{ format: "camt.053", file, "general-ledger-id": 1200 });
	}
	const replies = await Promise.all(Array.from({ length: ACTIONS }, () =>
		send(service, "POST", paths.create, { key: w.key, body: actionBody(w) })));
	for (const reply of replies) {
		assert.equal(reply.status, 201, reply.text);
		actions.push(reply.json.uid);
	}
	actions.sort();
	key = publicKey(service, place).split(" ").slice(0, 2).join(" ");
});
after(() => {
	rmSync(dir, { recursive: true });
	close();
});

test("all events about a record", async () => {
	for (const [kind, uid, n] of [["action", actions[0], 1],
		["counterparty", w.counterparty.uid, 1],
		["workspace", w.created.uid, 1]]) {
		const reply = await events(kind, uid);
		assert.equal(reply.data.length, n);
		assert.equal(assertComplete(reply).length, 1);
	}
	// One with more than one event, and page by page.
	for (const [i, verb] of ["suspend", "reinstate", "suspend", "reinstate"].entries())
		service.ctl("acme", `counterparty ${verb}`, { id: w.other.id,
			reason: `reason ${i}` });
	const whole = await events("counterparty", w.other.uid);
	assert.equal(whole.data.length, 5);
	assertComplete(whole);
	const pages = [];
	for (let more = "&limit=2"; more;) {
		pages.push(await events("counterparty", w.other.uid, more));
		const { next_after_id: next } = pages.at(-1);
		more = next && `&limit=2&after_id=${next}`;
	}
	assert.equal(pages.length, 3);
	assert.equal(audit(pages).shown.count, 5);
	assert.equal(audit([pages[0], pages[2]]).failed.check, "records");
	assert.equal(audit([pages[1], pages[2]]).failed.check, "records");
});

test("all records of a kind, page by page", async () => {
	const seen = [], pages = [];
	for (let more = "&limit=120"; more;) {
		const reply = await records("action", more);
		assertComplete(reply);
		pages.push(reply);
		seen.push(...reply.data.map(({ uid }) => uid));
		more = reply.has_more && `&limit=120&after=${reply.next_after}`;
	}
	assert.deepEqual(seen, actions);
	// Link leads the same way.
	const linked = [];
	let path = "/api/v2/ledger/records?kind=action&limit=120";
	while (path) {
		const { json, headers } = await ask(path);
		linked.push(...json.data.map(({ uid }) => uid));
		assert.equal(headers.link !== undefined, json.has_more);
		path = headers.link && /^<(.*)>; rel="next"$/.exec(headers.link)[1];
	}
	assert.deepEqual(linked, actions);
	assert.equal(audit(pages).shown.count, ACTIONS);
	assert.equal(audit([pages[0], pages[2]]).failed.check, "records");
	assert.equal(audit(pages.toReversed()).failed.check, "records");
	// There are pages below pages.
	assert.match(pages[0].complete.pages[0], /^probity-index\/v1 [1-9]\n- /);
	for (const kind of ["ledger", "workspace", "application", "source_import"])
		assert.ok(assertComplete(await records(kind)).length > 0);
});

test("all bank statements", async () => {
	const whole = await statements();
	assert.equal(whole.data.length, STATEMENTS);
	assertComplete(whole);
	assert.deepEqual(whole.data.map((s) => s.uid), whole.data.map((s) => s.uid).sort());
	const first = await statements("&limit=3");
	assertComplete(first);
	const second = await statements(`&limit=200&after_id=${first.next_after_id}`);
	assertComplete(second);
	assert.deepEqual([...first.data, ...second.data], whole.data);
	assert.equal(audit([first, second]).shown.count, STATEMENTS);
	assert.equal((await good(paths.statements, w.key)).complete, undefined);
});

test("pages of several sizes", async () => {
	const first = await records("action", "&limit=160");
	service.ctl("acme", "counterparty suspend", { id: w.counterparty.id,
		reason: "between two pages" });
	const second = await records("action", `&limit=160&after=${first.next_after}`);
	const sizes = [first, second].map((page) => page.complete.size);
	assert.ok(sizes[0] < sizes[1]);
	const { code, shown } = audit([first, second]);
	assert.equal(code, 0);
	assert.deepEqual([shown.size, shown.index, shown.count], [null, null, ACTIONS]);
	assert.deepEqual(shown.pages.map(({ index, ...page }) => page), [
		{ size: sizes[0], after: null, to: first.next_after, count: 160 },
		{ size: sizes[1], after: first.next_after, to: null, count: 140 }]);
	const { stdout } = run([first, second], "--key", key);
	assert.match(stdout, new RegExp(`of several sizes[^]* 160 are all records of ` +
		`kind action up to ${first.next_after}\n    in the ledger of ${sizes[0]} ` +
		`events[^]* 140 are[^]* of ${sizes[1]} events[^]* is not shown here`));
	assert.doesNotMatch(stdout, /these 300/);
	// Asked for again.
	const again = await records("action", "&limit=160");
	const all = audit([again, second]).shown;
	assert.deepEqual([all.size, all.pages.length], [sizes[1], 2]);
	assert.match(run([again, second], "--key", key).stdout,
		/^Good: these 300 are all records of kind action\nin the ledger of/);
});

test("what is not held against the index is named, or compared", async () => {
	const ofRecord = await events("action", actions[0]);
	const names = ["id", "seq", "uid", "at", "type", "void"];
	assert.deepEqual(audit([ofRecord]).shown.not_checked, names);
	assert.match(run([ofRecord], "--key", key).stdout,
		/\nNot checked, [^\n]*: id, seq, uid, at, type, void\.\n$/);
	const [row] = ofRecord.data;
	assert.equal(audit([{ ...ofRecord, data: [{ ...row, id: row.id + 1 }] }])
		.failed.check, "records");
	const bank = await statements();
	const { uid, ...others } = bank.data[0];
	assert.deepEqual(audit([bank]).shown.not_checked, Object.keys(others));
	for (const kind of ["action", "bank_statement"]) {
		const list = await records(kind, "&limit=3");
		assert.deepEqual(audit([list]).shown.not_checked, []);
		for (const [i, name] of [[1, "events"], [2, "chain"]]) {
			const data = structuredClone(list.data);
			delete data[i][name];
			const { code, failed } = audit([{ ...list, data }]);
			assert.equal(code, 1);
			assert.match(failed.reason, new RegExp(`of the ${kind} ${data[i].uid}`));
		}
	}
});

test("that there is no such record", async () => {
	for (const [kind, uid] of [["action", unknown], ["action", w.counterparty.uid],
		["thing", actions[0]]]) {
		const reply = await events(kind, uid);
		assert.deepEqual(reply.data, []);
		assert.deepEqual(assertComplete(reply), []);
	}
	assert.deepEqual(assertComplete(await records("thing")), []);
	// Of one that is there it cannot be shown.
	const reply = await events("action", actions[3]);
	assertRefused({ ...reply, data: [] }, "records", /0 events, the index 1/);
});

test("a dropped row is found", async () => {
	const [, second] = (await events("counterparty", w.other.uid)).data;
	sql(`DELETE FROM ledger_subject WHERE seq = ${second.seq}`);
	assertRefused(await events("counterparty", w.other.uid), "records",
		/4 events, the index 5/);
	const { data } = await statements();
	sql(`DELETE FROM bank_statement WHERE uid = '${data[2].uid}'`);
	assertRefused(await statements(), "records",
		new RegExp(`where bank_statement ${data[2].uid} belongs`));
	// The last of a list, and of a page.
	sql(`DELETE FROM bank_statement WHERE uid = '${data.at(-1).uid}'`);
	assertRefused(await statements("&limit=200&after_id=" + data[4].id), "records",
		/missing at the end/);
	await rebuild();
	assertComplete(await statements());
	// From the index itself: then its pages are not those of the commit.
	sql("DELETE FROM ledger_index WHERE level = 0 AND " +
		`key = 'action ${actions[70]}'`);
	assertRefused(await records("action", "&limit=200"), "index", /names/);
	await rebuild();
	assertComplete(await records("action", "&limit=200"));
});

test("what was altered is refused", async () => {
	const reply = await records("action");
	const altered = (change) => {
		const copy = structuredClone(reply);
		change(copy.complete, copy);
		return copy;
	};
	for (let i = 0; i < reply.complete.pages.length; i++)
		assertRefused(altered((c) => {
			c.pages[i] = c.pages[i].replace(/([0-9a-f])\n$/,
				(_, digit) => `${digit === "0" ? "1" : "0"}\n`);
		}), "index", /names/);
	assertRefused(altered((c) => { c.pages.pop(); }), "index", /missing/);
	assertRefused(altered((c) => { c.pages.push(c.pages[0]); }), "index", /too many/);
	assertRefused(altered((c) => {
		c.commit = c.commit.replace(/(Ledger-Index: ).{8}/, "$100000000");
	}), "commit", /signature is bad/);
	assertRefused(altered((c) => {
		c.commit = c.commit.replace(/(Ledger-Size: \d+)/, "$10");
	}), "commit", /signature is bad/);
	assertRefused(altered((c) => { c.size++; }), "commit", /another size/);
	assertRefused(altered((c, r) => { r.data.splice(7, 1); }), "records", new RegExp(
		`^the list has ${actions[8]} where action ${actions[7]} belongs$`));
	assertRefused(altered((c, r) => { r.data[7].uid = "\u{1f600}".repeat(90); }),
		"records", /^the list has something without an identifier where /);
	assertRefused(altered((c, r) => { r.data.pop(); }), "records", /missing/);
	assertRefused(altered((c, r) => { r.data.push({ uid: unknown }); }), "records",
		/more than/);
	// As if what it shows were all there is.
	const last = altered((c, r) => { r.has_more = false; c.to = null; });
	assert.throws(() => checkComplete(last, key));
	assert.equal(audit([last]).code, 1);
	const stranger = makeKey(7, "example.com/a").row.public_key;
	assertRefused(reply, "commit", /not signed by the key given/, stranger);
	// That says nothing, and is no proof.
	const plain = await good("/api/v2/ledger/records?kind=action");
	assert.equal(audit([plain]).failed.check, "format");
});

// The commands of docs/auditing.md, typed as they stand there.
test("by the shell alone, as the document shows it", async () => {
	const text = readFileSync(join(top, "docs/auditing.md"), "utf8");
	const [walk, compare] = text.split("### With a shell")[1].split("\n## ")[0]
		.split("`rows` now has").map((part) => part.split("\n")
			.filter((line) => line.startsWith("    ")).join("\n"));
	const [lists, chain] = compare.split("\n    chain=");
	const origin = service.ctl("acme", "ledger status").origin;
	const typed = async (reply, commands) => {
		const at = mkdtempSync(join(dir, "shell-"));
		writeFileSync(join(at, "reply.json"), JSON.stringify(reply));
		writeFileSync(join(at, "pinned"), `${origin} namespaces="git" ${key}\n`);
		const r = await bash(`${walk}\n${commands}`, at);
		return { ...r, rows: readFileSync(join(at, "rows"), "utf8") };
	};
	const bySubject = `cat rows\nchain=${chain}`;
	const replies = [await records("action"), await statements(),
		await records("action", `&limit=200&after=${actions[40]}`)];
	const one = await events("counterparty", w.other.uid);
	for (const reply of replies) {
		const r = await typed(reply, lists);
		assert.deepEqual([r.status, r.stdout], [0, ""], r.stderr);
		assert.equal(r.stderr.replace(/^Good .*\n/, ""), "");
		assert.equal(r.rows.trim().split("\n").length, reply.data.length);
		reply.data.splice(3, 1);
		assert.equal((await typed(reply, lists)).status, 1);
		reply.complete.pages.pop();
		assert.match((await typed(reply, lists)).stderr, /cannot open/);
		reply.complete.commit = reply.complete.commit.replace("Ledger-Head: ", "$&0");
		assert.match((await typed(reply, lists)).stderr, /incorrect signature/);
	}
	const [row, ours] = (await typed(one, bySubject)).stdout.trim().split("\n");
	assert.equal(row, ours);
	one.data.pop();
	assert.notEqual(...(await typed(one, bySubject)).stdout.trim().split("\n"));
});

test("all records of a kind from a clone, as the document shows it", () => {
	const text = readFileSync(join(top, "docs/auditing.md"), "utf8")
		.split("### A list of several pages")[1].split("\n### ")[0];
	const [, commands] = /\n( {4}for c in [^]*?\| sort -u\n)/.exec(text);
	const { code, stdout, stderr } = service.run("bash", ["-c",
		commands.replaceAll("ledger.git", service.ledger("acme"))]);
	assert.equal(code, 0, stderr);
	assert.deepEqual(stdout.trim().split("\n"), actions);
});

test("the same pages from a read model made anew", async () => {
	const were = [await records("action"), await events("action", actions[9])];
	await rebuild();
	assert.deepEqual([await records("action"), await events("action", actions[9])],
		were);
});

test("every commit from the second event on names the index", () => {
	const log = service.run("git", ["-C", service.ledger("acme"), "log", "--reverse",
		"--format=%(trailers:key=Ledger-Index,valueonly,separator=)"]).stdout;
	const [first, ...rest] = log.trimEnd().split("\n");
	assert.equal(first, "");
	assert.ok(rest.length > 5 && rest.every((v) => /^[0-9a-f]{64}$/.test(v)));
});

test("what cannot be complete is refused by name", async () => {
	const list = "/api/v2/ledger/events?proof=complete";
	for (const [path, parameter, credential] of [
		[list, "subject"],
		[`${list}&subject=${unknown}`, "subject_kind"],
		["/api/v2/ledger/events?subject_kind=action", "subject"],
		[`${list}&subject=${unknown}&subject_kind=action&from=1`, "from"],
		["/api/v2/ledger/events?proof=partial", "proof"],
		["/api/v2/ledger/records?proof=complete", "kind"],
		["/api/v2/ledger/records?kind=source_record&proof=complete", "kind"],
		["/api/v2/ledger/records?kind=Action", "kind"],
		[`${paths.statements}?proof=complete&status=imported`, "status", w.key],
		[`${paths.statements}?proof=complete&uid=${unknown}`, "uid", w.key],
		[`${paths.statements}?proof=complete&general_ledger_id=1200`,
			"general_ledger_id", w.key],
		[`${paths.statements}?proof=complete&after_id=4711`, "after_id", w.key],
	]) {
		const problem = assertProblem(await ask(path, credential), 422,
			"validation_failed");
		assert.deepEqual(named(problem), [parameter], path);
	}
	assertProblem(await ask("/api/v2/ledger/records?kind=action", w.key), 403);
});

// Whoever has the key can sign two ledgers of one size, and give a page of each.
test("two ledgers of one size by one key", async () => {
	const ledger = join(service.ledger("acme"), ".."), old = join(service.dir, "home/old");
	const keys = join(service.keys, "acme/sandbox");
	await service.stop();
	service.run("mkdir", [old]);
	service.run("cp", ["-a", keys, join(old, "keys")]);
	service.run("cp", ["-a", ledger, join(old, "ledger")]);
	const change = (reason) => service.ctl("acme", "counterparty suspend",
		{ id: w.other.id, reason });
	change("as one is told");
	await service.start();
	const first = await records("action", "&limit=160");
	await service.stop();
	service.run("rm", ["-r", ledger]);
	service.run("cp", ["-a", join(old, "ledger"), ledger]);
	service.run("cp", ["-a", `${join(old, "keys")}/.`, keys]);
	change("as another is told");
	await service.start();
	const second = await records("action", `&limit=160&after=${first.next_after}`);
	assert.equal(first.complete.size, second.complete.size);
	const { code, failed } = audit([first, second]);
	assert.equal(code, 1);
	assert.match(failed.reason, /of different ledgers, signed by one key/);
});

test("afterwards", () => finish(service, { long: true }));
