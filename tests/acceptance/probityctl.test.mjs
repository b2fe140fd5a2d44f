// The operators' tool from outside: exit statuses, what it prints where, help,
// pages, and that each attempt at a mistake names the option.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { buildFolder, top } from "./support/places.mjs";

const program = join(buildFolder, "debug/probityctl");
const dir = mkdtempSync(join(tmpdir(), "probity-ctl-"));
const env = { PATH: process.env.PATH, PROBITY_STATE: join(dir, "var"),
	SUDO_USER: "somebody" };

function run(...args) {
	const r = spawnSync(program, args, { cwd: top, env, encoding: "utf8" });
	assert.equal(r.signal, null, r.stderr);
	return r;
}

function json(...args) {
	const r = run(...args, "--workspace", "acme", "--json");
	assert.equal(r.status, 0, r.stderr);
	return JSON.parse(r.stdout);
}

const application = (name, ...more) => json("application", "create",
	"--name", name, "--responsible", "A. Person",
	"--scopes", "workspace:read", ...more);

before(() => {
	assert.equal(run("workspace", "create", "--workspace", "acme",
		"--name", "Acme Corp").status, 0);
});
after(() => rmSync(dir, { recursive: true, force: true }));

describe("help", () => {
	test("alone it lists the nouns", () => {
		const r = run();
		assert.equal(r.status, 0);
		assert.match(r.stdout, /workspace create/);
		assert.match(r.stdout, /ledger rebuild/);
	});
	test("a noun lists its verbs and no other", () => {
		const r = run("credential");
		assert.equal(r.status, 0);
		assert.match(r.stdout, /credential rotate/);
		assert.doesNotMatch(r.stdout, /workspace create/);
	});
	test("a command lists its options", () => {
		const r = run("application", "create", "--help");
		assert.equal(r.status, 0);
		assert.match(r.stdout, /--scopes NAME,\.\.\. .*\(required\)/);
	});
});

describe("usage: status 2, on standard error, with the option's name", () => {
	const cases = {
		"unknown command": [["nothing", "here"], /no command nothing here/],
		"unknown option": [["workspace", "list", "--colour", "red"],
			/--colour is not an option of workspace list/],
		"option before command": [["--name", "x", "workspace"], /--name/],
		"missing value": [["application", "create", "--name"],
			/--name needs a value/],
		"given twice": [["application", "create", "--name", "a", "--name", "b"],
			/--name is given twice/],
		"an option of two words": [["approver", "add", "--public-key",
			"/nonexistent"], /--public-key: cannot open \/nonexistent/],
		"missing options": [["application", "create"],
			/--workspace must be given[^]*--name must be given[^]*--scopes must be given/],
		"environment": [["workspace", "list", "--environment", "staging"],
			/sandbox or production/],
		"a word too many": [["workspace", "list", "acme"], /"acme"/],
		"value of a flag": [["workspace", "list", "--json=yes"], /--json/],
		"file that is not there": [["source-record", "import", "--workspace",
			"acme", "--file", "/nowhere"], /nowhere/],
	};
	for (const [name, [args, words]] of Object.entries(cases))
		test(name, () => {
			const r = run(...args);
			assert.equal(r.status, 2, r.stdout + r.stderr);
			assert.equal(r.stdout, "");
			assert.match(r.stderr, words);
		});
});

describe("refusals: status 1", () => {
	test("the bad option is named and what to do is said", () => {
		const r = run("application", "create", "--workspace", "acme", "--name",
			"x", "--responsible", "y", "--scopes", "workspace:read,everything");
		assert.equal(r.status, 1);
		assert.match(r.stderr, /--scopes everything is not a known scope/);
	});
	test("as JSON", () => {
		const r = run("application", "create", "--workspace", "acme", "--name",
			"x", "--responsible", "y", "--scopes", "everything", "--json");
		const problem = JSON.parse(r.stderr);
		assert.equal(r.status, 1);
		assert.equal(problem.error, "validation-failed");
		assert.equal(problem.errors[0].option, "scopes");
	});
	test("a workspace twice", () => {
		const r = run("workspace", "create", "--workspace", "acme");
		assert.equal(r.status, 1);
	});
	test("a workspace that does not exist", () => {
		const r = run("ledger", "status", "--workspace", "nobody");
		assert.equal(r.status, 1);
	});
	test("a name that is no workspace's", () => {
		for (const name of ["../x", "A", "-a", "a--b", "a_b"])
			assert.equal(run("workspace", "create",
				`--workspace=${name}`).status, 1, name);
	});
});

test("unavailable: status 3", () => {
	const r = spawnSync(program, ["workspace", "list"],
		{ env: { ...env, PROBITY_THREADS: "none" }, encoding: "utf8" });
	assert.equal(r.status, 3);
	assert.match(r.stderr, /PROBITY_THREADS: threads: must be an integer/);
	const full = spawnSync(program, ["workspace", "create", "--workspace", "big"],
		{ env: { ...env, PROBITY_FREE_FLOOR: String(2 ** 40) }, encoding: "utf8" });
	assert.equal(full.status, 3, full.stderr);
});

test("who did it is in the event", () => {
	const made = application("named");
	const line = spawnSync("git", ["-C",
		join(dir, "var/ledgers/acme/sandbox/ledger.git"), "cat-file", "blob",
		`${made.evidence.commit}:events`], { encoding: "utf8" }).stdout;
	const event = JSON.parse(line.slice(line.indexOf(" ") + 1));
	assert.deepEqual([event.type, event.actor.kind, event.actor.id],
		["application.created", "operator", "somebody"]);
	assert.equal(event.seq, made.evidence.seq);
});

test("an idempotency key does it once", () => {
	const first = application("once", "--idempotency-key", "k1");
	const again = application("once", "--idempotency-key", "k1");
	assert.deepEqual(again, first);
});

test("lists: pages, all pages, repeated options", () => {
	for (let i = 0; i < 5; i++)
		application(`many-${i}`, "--scopes", "actions:create");
	const page = json("application", "list", "--limit", "2");
	assert.equal(page.data.length, 2);
	assert.equal(page.has_more, true);
	const next = json("application", "list", "--limit", "2",
		"--after-id", String(page.next_after_id));
	assert.ok(next.data[0].id > page.data[1].id);
	const all = json("application", "list", "--limit", "2", "--all");
	assert.ok(all.data.length >= 5);
	assert.equal(all.has_more, false);
	assert.deepEqual(all.data.at(-1).scopes,
		["workspace:read", "actions:create"]);
});

test("a table does not obey what is in it", () => {
	const r = run("application", "create", "--workspace", "acme", "--name",
		"a\u001b[31mred", "--responsible", "x", "--scopes", "workspace:read");
	assert.doesNotMatch(r.stdout + r.stderr, /\u001b/);
});

test("the read model is made again, row for row", () => {
	const before = json("application", "list", "--all");
	const made = json("ledger", "rebuild");
	assert.equal(made.events, json("ledger", "status").size);
	assert.deepEqual(json("application", "list", "--all"), before);
});

test("the OpenAPI document is printed", () => {
	const doc = JSON.parse(run("openapi").stdout);
	assert.equal(doc.info.version, "2.0.0");
	assert.ok(doc.paths["/api/v2/workspace"].get);
});
