// Witnesses that cosign checkpoints: good ones, and each kind that is not.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { auditorKey } from "./support/auditor.mjs";
import { close, paths, send } from "./support/client.mjs";
import { assertProblem, Contract } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { postureOf } from "./support/posture.mjs";
import { Service } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";
import { leafOf } from "./support/rfc9162.mjs";
import { isCosigned, Witness } from "./support/witness.mjs";
import { accepted, build } from "./tlog/verifier.mjs";

const path = "/api/v2/ledger/checkpoint";
let service, contract, w, auditor, posture, status, file, one, two;

const git = (...args) => {
	const r = service.run("git", ["-C", service.ledger("acme"), ...args]);
	assert.equal(r.code, 0, r.stderr);
	return r.stdout;
};
const events = () => git("rev-list", "--reverse", "main").trim().split("\n")
	.flatMap((commit) => git("cat-file", "blob", `${commit}:events`)
		.trimEnd().split("\n"))
	.map((line) => line.slice(line.indexOf(" ") + 1));
const listed = (...witnesses) => service.write(file,
	`# comment\n\n${witnesses.map((v) => v.line).join("")}`);

async function ask(query = "") {
	const reply = await send(service, "GET", path + query, { key: auditor });
	contract.check("GET", path + query, reply);
	return reply;
}
const read = async (query) => {
	const reply = await ask(query);
	assert.equal(reply.status, 200, reply.text);
	return reply.json;
};
async function append() {
	const reply = await send(service, "POST", paths.create,
		{ key: w.key, body: actionBody(w) });
	assert.equal(reply.status, 201, reply.text);
}
// One look at the schedule, and the jobs that it wants.
async function round() {
	const child = service.launch("round",
		[join(service.bin, "probity-worker"), "--once"]);
	const { code } = await child.ended;
	assert.equal(code, 0, service.log("round"));
}
const outcome = () => {
	const last = events().map((text) => JSON.parse(text)).filter((v) =>
		/^job\.(completed|released|failed)$/.test(v.type) &&
		v.data.kind === "ledger.witness").at(-1);
	return { type: last.type, ...last.data };
};
async function assertWitnessed(...witnesses) {
	const v = await read("?witnessed=true");
	assert.equal(v.witnessed, true);
	assert.deepEqual(v.cosignatures.map((c) => c.witness).sort(),
		witnesses.map((x) => x.name).sort());
	for (const witness of witnesses)
		assert.ok(isCosigned(v.checkpoint, witness), v.checkpoint);
	await accepted([{ check: "checkpoint", key: status.verifier_key,
		checkpoint: v.checkpoint }]);
	return v;
}

// probity-audit over the checkpoint as a file.
function checkAsFile(note) {
	const name = join(service.dir, "home/note"), key = status.public_key;
	const verifier = (witness) => witness.line.split(" ")[0];
	const check = (text, ...args) => {
		service.write(name, text);
		const r = service.run(join(service.bin, "probity-audit"),
			["check-checkpoint", name, "--key", key, "--json", ...args]);
		return { code: r.code, ...(r.code < 2 ? JSON.parse(r.stdout) : r) };
	};
	const both = ["--witness", verifier(one), "--witness", verifier(two)];
	const good = check(note, ...both);
	assert.equal(good.code, 0, good.stderr);
	assert.deepEqual(good.witnesses.map((x) => x.witness), [one.name, two.name]);
	const lines = note.trimEnd().split("\n");
	const without = `${lines.slice(0, -1).join("\n")}\n`;
	assert.equal(check(without, ...both).failed.check, "cosignature");
	assert.equal(check(without, ...both, "--enough", "1").code, 0);
	assert.equal(check(note.replace(/\n\d+\n/, "\n3\n")).failed.check, "checkpoint");
	assert.equal(check("nothing").failed.check, "format");
	assert.equal(check(note, "--witness", "nonsense").code, 2);
	assert.equal(check(note, ...both, "--enough", "3").code, 2);
}

before(async () => {
	build();
	service = new Service({ build: "debug", worker: false });
	file = join(service.dir, "witnesses");
	Object.assign(service.settings, { PROBITY_WITNESS_FILE: file,
		PROBITY_WITNESS_MINUTES: "0" });
	service.write(file, "");
	await service.start();
	w = provision(service, "acme");
	auditor = auditorKey(service, "acme");
	posture = postureOf(service, "acme");
	status = service.ctl("acme", "ledger status");
	contract = await Contract.of(service);
	one = await new Witness("one.example/w", status.origin, status.public_key).start();
	two = await new Witness("two.example/w", status.origin, status.public_key).start();
});
after(async () => {
	await one.stop();
	await two.stop();
	close();
});

test("without witnesses nothing is witnessed, and nobody is asked", async () => {
	assertProblem(await ask("?witnessed=true"), 404);
	const plain = await read();
	assert.equal(plain.witnessed, false);
	assert.deepEqual(plain.cosignatures, []);
	assert.equal((await posture("witnesses")).state, "none");
	await round();
	assert.ok(!events().some((text) => text.includes("ledger.witness")));
});

test("two witnesses cosign the newest checkpoint", async () => {
	listed(one, two);
	assertProblem(await ask("?witnessed=true"), 404);
	assert.equal((await posture("witnesses")).state, "waiting");
	await round();
	const v = await assertWitnessed(one, two);
	assert.equal(v.size, one.state.size);
	const shown = await posture("witnesses");
	assert.deepEqual([shown.state, shown.asked, shown.minimum, shown.newest_size],
		["cosigning", 2, 2, v.size]);
	assert.ok(shown.since && shown.since <= shown.last_at);
	const plain = await read(`?size=${v.size}`);
	assert.ok(v.checkpoint.startsWith(plain.checkpoint));
	assert.equal(v.checkpoint, plain.checkpoint +
		v.cosignatures.map((c) => c.line).join(""));
	assert.equal(plain.witnessed, true);
	assertProblem(await ask(`?witnessed=true&size=${v.size + 1}`), 404);
	checkAsFile(v.checkpoint);
});

test("a round does not chase its own events", async () => {
	const size = events().length, asked = one.requests.length;
	await round();
	await round();
	assert.equal(one.requests.length, asked);
	assert.equal(events().length, size);
});

test("what is appended later continues what they saw", async () => {
	const before = one.state.size;
	await append();
	await round();
	const v = await assertWitnessed(one, two);
	assert.ok(v.size > before);
	assert.match(one.requests.at(-1).body, new RegExp(`^old ${before}\n[^\n]{44}\n`));
});

test("one that is down keeps nobody waiting: 1 of 2 and 2 of 2", async () => {
	const before = await read("?witnessed=true");
	await two.stop();
	await append();
	await round();
	assert.ok(one.state.size > before.size);
	assert.equal((await read("?witnessed=true")).size, before.size);
	const plain = await read(`?size=${one.state.size}`);
	assert.deepEqual(plain.cosignatures.map((c) => c.witness), [one.name]);
	assert.equal(plain.witnessed, false);

	service.settings.PROBITY_WITNESS_MINIMUM = "1";
	await service.restart();
	assert.equal((await assertWitnessed(one)).size, one.state.size);
	delete service.settings.PROBITY_WITNESS_MINIMUM;
	await service.restart();
	assert.equal((await read("?witnessed=true")).size, before.size);

	// Back, it catches up with the checkpoint that the other has cosigned.
	await two.start();
	const asked = one.requests.length;
	await round();
	assert.equal((await assertWitnessed(one, two)).size, one.state.size);
	assert.equal(one.requests.length, asked);
});

test("one that knows the log from before says so, and is asked again", async () => {
	const third = await new Witness("three.example/w", status.origin,
		status.public_key).start();
	third.state = { size: 1, root: leafOf(Buffer.from(events()[0])) };
	listed(one, two, third);
	await append();
	await round();
	assert.deepEqual(third.requests.map((r) => r.status), [409, 200]);
	await assertWitnessed(one, two, third);
	await third.stop();
	listed(one, two);
});

for (const mood of ["signs another time", "signs as another", "garbage", "empty",
	"too much", "redirects", "refuses", "conflicts", "always behind",
	"far ahead"])
	test(`nothing is kept of one that is out of order: ${mood}`, async () => {
		const before = await read("?witnessed=true");
		two.mood = mood;
		two.elsewhere = `http://127.0.0.1:${one.port}/w/add-checkpoint`;
		const asked = one.requests.length, old = two.requests.length;
		await append();
		await round();
		assert.equal(one.requests.length, asked + 1);
		assert.equal(two.requests.length, old + (mood === "always behind" ? 2 : 1));
		assert.equal((await read("?witnessed=true")).size, before.size);
		const plain = await read(`?size=${one.state.size}`);
		assert.deepEqual(plain.cosignatures.map((c) => c.witness), [one.name]);
		const { type, result } = outcome();
		assert.equal(type, "job.completed");
		assert.deepEqual(result.faults.map((f) => f.witness), [two.name]);
		two.mood = "good";
	});

test("one that hangs delays neither requests nor the other", async () => {
	two.mood = "hangs";
	await append();
	const started = Date.now(), asked = one.requests.length;
	const ended = round();
	while (one.requests.length === asked) await sleep(20);
	assert.ok(Date.now() - started < 5000);
	const from = Date.now();
	await append();
	assert.ok(Date.now() - from < 3000);
	await ended;
	assert.ok(Date.now() - started < 25000);
	assert.deepEqual((await read(`?size=${one.state.size}`)).cosignatures
		.map((c) => c.witness), [one.name]);
	two.mood = "good";
	await round();
	await assertWitnessed(one, two);
});

test("one that has seen another history refuses", async () => {
	const before = await read("?witnessed=true"), kept = two.state;
	two.state = { size: kept.size, root: leafOf(Buffer.from("another history")) };
	await append();
	await round();
	assert.equal(two.requests.at(-1).status, 422);
	assert.match(outcome().result.faults[0].fault, /does not continue/);
	assert.match(service.log("round"), /does not continue what it has seen/);
	assert.equal((await read("?witnessed=true")).size, before.size);
	two.state = kept;
});

test("a list that cannot be read stops witnessing only", async () => {
	service.write(file, "nonsense\n");
	await append();
	const size = events().length;
	await round();
	assert.equal(events().length, size);
	assert.match(service.log("round"), /witnesses, line 1/);
	assertProblem(await ask("?witnessed=true"), 503);
	assert.equal((await posture("witnesses")).state, "unknown");
	assert.equal((await read()).witnessed, false);
	listed(one, two);
});

test("when nobody cosigns the attempt is tried again", async () => {
	one.mood = two.mood = "refuses";
	await append();
	await round();
	assert.equal(outcome().type, "job.released");
	one.mood = two.mood = "good";
	await sleep(6000);
	await round();
	assert.equal(outcome().type, "job.completed");
	await assertWitnessed(one, two);
});

test("the ledgers verify, and their read models can be made again",
	() => finish(service));
