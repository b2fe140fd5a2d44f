// The drill: backups while clients write, the disk is lost, the ledger is put
// back, and what is older than what is known is refused.
import assert from "node:assert/strict";
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { close, paths, send } from "./support/client.mjs";
import { assertSame, audit, dump, finish, verifyOffline } from
	"./support/evidence.mjs";
import { load } from "./support/load.mjs";
import { Service } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const place = { workspace: "acme", environment: "sandbox" };
let service, w, copy, old;
const replies = [];

const write = () => ({ method: "POST", path: paths.create, key: w.key,
	body: actionBody(w, { amount: "0.01" }) });
const backup = (to) => service.ctl("acme", "ledger backup", { to });

function refuses(options, pattern, code = 1) {
	assert.throws(() => service.ctl("acme", "ledger restore", options),
		(e) => e.code === code && pattern.test(e.stderr));
}


before(async () => {
	service = await new Service({ worker: false }).start();
	w = provision(service, "acme");
	copy = join(service.dir, "home/backup.git");
	old = join(service.dir, "home/old.git");
});
after(close);

test("a backup is taken while clients write, and grows", async () => {
	let writing = true;
	const busy = load(service, { clients: 8, seconds: 20, make: write,
		more: () => writing });
	const first = backup(copy), second = backup(copy);
	writing = false;
	const result = await busy;
	assert.deepEqual(result.errors, []);
	assert.deepEqual(Object.keys(result.statuses), ["201"]);
	replies.push(...result.replies);
	assert.equal(first.batches_copied, first.batches);
	assert.ok(second.batches >= first.batches);
	const third = backup(copy);
	assert.equal(third.events,
		service.ctl("acme", "ledger status").size);
	assert.equal(third.batches_copied, third.batches - second.batches);
	assert.equal(backup(copy).batches_copied, 0);
});

test("it is a repository that others verify", () => {
	assert.equal(audit(service, place, copy).code, 0);
	assert.equal(verifyOffline(service, place, copy).code, 0);
	const fsck = service.run("git", ["-C", copy, "fsck", "--strict"]);
	assert.equal(fsck.code, 0, fsck.stderr);
});

test("a ledger that is in its place is not overwritten", () => {
	refuses({ from: copy }, /there is a ledger/);
});

test("an older backup is refused while something newer is known", async () => {
	service.run("cp", ["-a", copy, old]);
	const r = await send(service, "POST", paths.create, { key: w.key,
		body: actionBody(w, { amount: "0.01" }) });
	assert.equal(r.status, 201, r.text);
	replies.push(r);
	const { checkpoint } = backup(copy);
	const kept = join(service.dir, "home/kept");
	service.write(kept, checkpoint);
	await service.stop();
	renameSync(service.ledger("acme"), join(service.dir, "home/lost.git"));
	refuses({ from: old }, /cut short/, 3);
	const view = join(service.ledger("acme"), "../state.db");
	service.run("cp", ["-a", view, join(service.dir, "home/view")]);
	rmSync(view);
	refuses({ from: old, checkpoint: kept }, /cut short/, 3);
	assert.ok(!existsSync(service.ledger("acme")));
});

test("a backup that was changed is refused", () => {
	const forged = join(service.dir, "home/forged.git");
	const git = (args, input) => {
		const r = service.run("git", ["-C", forged, ...args], { input });
		assert.equal(r.code, 0, r.stderr);
		return r.stdout.trim();
	};
	service.run("cp", ["-a", copy, forged]);
	const commit = git(["cat-file", "commit", "main"])
		.replace(/^author .*$/m, (line) => `${line.slice(0, -1)}1`);
	const id = git(["hash-object", "-t", "commit", "-w", "--stdin"],
		`${commit}\n`);
	git(["update-ref", "refs/heads/main", id]);
	refuses({ from: forged }, /does not verify/, 3);
	assert.ok(!existsSync(service.ledger("acme")));
});

test("the newest is put back, and everything is as it was", async () => {
	const r = service.ctl("acme", "ledger restore", { from: copy });
	assert.equal(r.batches_copied, r.batches);
	const file = join(service.ledger("acme"), "../state.db");
	const now = dump(service, place);
	service.run("cp", [join(service.dir, "home/view"), file]);
	assertSame(now, dump(service, place));
	await service.start();
	for (const { json } of replies.slice(-200)) {
		const got = await send(service, "GET", paths.action(json.uid),
			{ key: w.key });
		assert.equal(got.status, 200, got.text);
	}
	const more = await send(service, "POST", paths.create, { key: w.key,
		body: actionBody(w, { amount: "0.01" }) });
	assert.equal(more.status, 201, more.text);
	assert.equal(backup(copy).batches_copied >= 1, true);
});

test("what cannot be carried out says so", () => {
	assert.throws(() => service.ctl("acme", "ledger backup"),
		(e) => e.code === 2 && /to/.test(e.stderr));
	assert.throws(() => backup(join(service.dir, "none/backup.git")),
		(e) => e.code === 3);
	for (const command of ["backup --to", "restore --from"]) {
		if (command.startsWith("restore"))
			renameSync(service.ledger("acme"), join(service.dir, "home/aside.git"));
		const [verb, option] = command.split(" --");
		assert.throws(() => service.ctl("acme", `ledger ${verb}`,
			{ [option]: join(service.dir, "home") }), (e) => e.code === 3 &&
			/no good backup of this ledger.*Give the path/s.test(e.stderr));
	}
	renameSync(join(service.dir, "home/aside.git"), service.ledger("acme"));
});

test("verifies and rebuilds", () => finish(service, { long: true }));
