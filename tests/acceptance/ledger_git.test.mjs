// git clone and git fetch of a ledger over HTTP, by the real git, behind each
// web server; and what is refused.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { auditorKey, basic } from "./support/auditor.mjs";
import { close, paths, rawRequest, send } from "./support/client.mjs";
import { assertProblem } from "./support/contract.mjs";
import { audit, finish, gitVerify } from "./support/evidence.mjs";
import { load } from "./support/load.mjs";
import { user } from "./support/places.mjs";
import { Service, serverKinds, until } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const place = { workspace: "acme", environment: "sandbox" };
const page = "/ledger/acme/sandbox/ledger.git";
const refs = `${page}/info/refs?service=git-upload-pack`;

const url = (service, key, path = page) =>
	service.baseUrl.replace("//", `//auditor:${key}@`) + path;
const gitEnv = { GIT_TERMINAL_PROMPT: "0" };
const git = (service, ...args) => service.run("git", args, { env: gitEnv });
const head = (service, repo) =>
	git(service, "-C", repo, "rev-parse", "main").stdout.trim();

// Beside what else goes on.
function gitMeanwhile(service, ...args) {
	const child = spawn("git", args, { ...user, cwd: service.dir,
		env: { ...service.environment, ...gitEnv }, stdio: ["ignore", "pipe", "pipe"] });
	let said = "";
	child.stderr.on("data", (part) => { said += part; });
	return new Promise((done) => child.once("exit", (code) =>
		done({ code, stderr: said })));
}

const create = (service, w) => send(service, "POST", paths.create,
	{ key: w.key, body: actionBody(w, { amount: "0.01" }) });

after(close);

for (const kind of serverKinds)
	describe(kind, () => {
		const service = new Service({ kind });
		const clone = join(service.dir, "home/clone.git");
		let w, key;

		test("starts", async () => {
			await service.start();
			w = provision(service, "acme");
			key = auditorKey(service, "acme");
		});

		test("git clone: the same ledger, and it verifies", async () => {
			const r = git(service, "clone", "--mirror", url(service, key), clone);
			assert.equal(r.code, 0, r.stderr);
			assert.equal(head(service, clone),
				head(service, service.ledger("acme")));
			gitVerify(service, place, clone);
			assert.equal(audit(service, place, clone).code, 0);
		});

		test("git fetch brings what came since, by either protocol", async () => {
			for (const version of ["2", "0"]) {
				for (let i = 0; i < 3; i++)
					assert.equal((await create(service, w)).status, 201);
				const r = git(service, "-C", clone, "-c",
					`protocol.version=${version}`, "fetch");
				assert.equal(r.code, 0, r.stderr);
				assert.equal(head(service, clone),
					head(service, service.ledger("acme")));
			}
			assert.equal(audit(service, place, clone).code, 0);
		});

		test("a clone while 8 clients write", async () => {
			const to = join(service.dir, "home/beside.git");
			let over = false;
			const writing = load(service, { clients: 8, seconds: 30,
				more: () => !over, make: () => ({ method: "POST",
					path: paths.create, key: w.key,
					body: actionBody(w, { amount: "0.01" }) }) });
			await sleep(300);
			const r = await gitMeanwhile(service, "clone", "--mirror",
				url(service, key), to);
			over = true;
			const written = await writing;
			assert.equal(r.code, 0, r.stderr);
			assert.deepEqual(written.errors, []);
			assert.deepEqual(Object.keys(written.statuses), ["201"]);
			const { code, report } = audit(service, place, to);
			assert.equal(code, 0, JSON.stringify(report));
			const ancestor = git(service, "-C", service.ledger("acme"),
				"merge-base", "--is-ancestor", head(service, to), "main");
			assert.equal(ancestor.code, 0);
		});

		test("without a key git is asked for one; a wrong one is refused",
			async () => {
				const none = await send(service, "GET", refs);
				assertProblem(none, 401, "unauthorized");
				assert.equal(none.headers["www-authenticate"],
					'Basic realm="probity"');
				const to = join(service.dir, "home/none");
				const r = git(service, "clone", url(service, "wrong"), to);
				assert.notEqual(r.code, 0);
				assert.match(r.stderr, /Authentication failed/);
				assert.ok(!existsSync(to));
			});

		test("git push is refused", async () => {
			const before = head(service, service.ledger("acme"));
			const r = git(service, "-C", clone, "push", url(service, key),
				"main:main", "main:other");
			assert.notEqual(r.code, 0);
			assert.equal(head(service, service.ledger("acme")), before);
		});

		test("a client that takes nothing is waited for, not filled up",
			{ skip: kind.includes("cgi") || kind.includes("fcgid") },
			async () => {
				const done = join(service.dir, "home/done");
				service.write(join(service.dir, "big-git"), `#!/bin/sh
printf 'Content-Type: application/x-git-upload-pack-result\\r\\n\\r\\n'
head -c 67108864 /dev/zero && touch ${done}
`);
				service.run("chmod", ["755", join(service.dir, "big-git")]);
				service.settings.PROBITY_GIT = join(service.dir, "big-git");
				await service.restart();
				const reply = await fetch(service.baseUrl + refs, { headers:
					{ Authorization: `Bearer ${key}` } });
				assert.equal(reply.status, 200);
				await sleep(1500);
				assert.ok(!existsSync(done), "64 MiB went into buffers");
				let n = 0;
				for await (const part of reply.body) n += part.length;
				assert.equal(n, 67108864);
				assert.ok(existsSync(done));
			});

		test("verifies and rebuilds", () => finish(service, { long: true }));
	});

describe("refusals", () => {
	let service, w, key, other;

	before(async () => {
		service = await new Service({ build: "debug",
			env: { PROBITY_MAX_CLONES: "2" } }).start();
		w = provision(service, "acme");
		provision(service, "other");
		key = auditorKey(service, "acme");
		other = auditorKey(service, "other");
	});

	const post = (body, headers = {}, options = {}) => send(service, "POST",
		`${page}/git-upload-pack`, { key, body, headers: {
			"Content-Type": "application/x-git-upload-pack-request",
			...headers }, ...options });

	test("another workspace's key: nothing is there", () => {
		const r = git(service, "clone", url(service, other),
			join(service.dir, "home/foreign"));
		assert.notEqual(r.code, 0);
		assert.match(r.stderr, /not found/);
	});

	test("a key without the scope", async () => {
		const r = await send(service, "GET", refs, { key: w.key });
		assert.match(assertProblem(r, 403, "forbidden").detail, /trust:read/);
	});

	test("a key that was revoked", async () => {
		const gone = auditorKey(service, "acme", { name: "gone" });
		assert.equal((await send(service, "GET", refs, { key: gone })).status, 200);
		const { data } = service.ctl("acme", "application list");
		const { uid } = data.find((a) => a.name === "gone");
		service.ctl("acme", "application suspend", { uid });
		assert.notEqual((await send(service, "GET", refs, { key: gone })).status,
			200);
	});

	test("Bearer, Basic with any user, HEAD", async () => {
		assert.equal((await send(service, "GET", refs, { key })).status, 200);
		for (const name of ["", "x", "a user"])
			assert.equal((await send(service, "GET", refs, { headers:
				{ Authorization: basic(key, name) } })).status, 200, name);
		const r = await send(service, "HEAD", refs, { key });
		assert.equal(r.status, 200);
		assert.equal(r.text, "");
	});

	test("no receive-pack, no loose files, nothing else of the folder",
		async () => {
			assertProblem(await send(service, "GET",
				`${page}/info/refs?service=git-receive-pack`, { key }), 403,
			"forbidden");
			for (const path of ["/info/refs", "/info/refs?service=git-x",
				"/info/refs?service=git-upload-pack&x=1", "/HEAD", "/config",
				"/objects/info/packs", "/objects/info/alternates",
				"/info/packs", "/refs/heads/main", "/git-upload-pack/x", ""])
				assertProblem(await send(service, "GET", page + path, { key }),
					404, "not_found");
			assertProblem(await send(service, "POST",
				`${page}/git-receive-pack`, { key, body: "0000", headers:
				{ "Content-Type": "application/x-git-receive-pack-request" } }),
			404, "not_found");
			assertProblem(await send(service, "GET", `${page}/git-upload-pack`,
				{ key }), 405, "method_not_allowed");
		});

	test("no filters", () => {
		const to = join(service.dir, "home/filtered");
		const r = git(service, "clone", "--bare", "--filter=blob:none",
			url(service, key), to);
		assert.equal(r.code, 0, r.stderr);
		assert.match(r.stderr, /filtering not recognized/);
		const missing = git(service, "-C", to, "rev-list", "--objects", "--all",
			"--missing=print").stdout.split("\n").filter((l) => l[0] === "?");
		assert.deepEqual(missing, []);
	});

	test("bodies of any kind end in a reply", async () => {
		assertProblem(await post("0000", { "Content-Type": "text/plain" }), 415,
			"unsupported_media_type");
		assertProblem(await post("0000", { "Content-Encoding": "br" }), 415,
			"unsupported_media_type");
		assertProblem(await post("x".repeat(1100000)), 413, "too_large");
		for (const value of ["version=2;x", "Version=2", "v".repeat(65)])
			assertProblem(await send(service, "GET", refs, { key,
				headers: { "Git-Protocol": value } }), 400, "malformed_request");
		for (const body of ["0000", "zzzz", "fff0", "0009done\n",
			"0032want " + "0".repeat(40) + "\n0000", randomBytes(5000)])
			assert.equal((await post(body)).status, 200);
		assert.equal((await post("not gzip",
			{ "Content-Encoding": "gzip" })).status, 200);
		assert.equal((await post(gzipSync(Buffer.alloc(50 << 20, "0000")),
			{ "Content-Encoding": "gzip" })).status, 200);
		assert.equal((await post(gzipSync("0014command=ls-refs\n0000"),
			{ "Content-Encoding": "gzip", "Git-Protocol": "version=2" }))
			.text.slice(44, 49), " HEAD");
	});

	// git waits for nothing but its input, so a program in its place does.
	async function withSlowGit(env, body) {
		const script = join(service.dir, "slow-git");
		const pids = join(service.dir, "home/pids");
		rmSync(pids, { force: true });
		service.write(script, `#!/bin/sh
printf 'Content-Type: application/x-git-upload-pack-result\\r\\n\\r\\n'
sleep 600 & echo $$ $! >>${pids}; wait
`);
		service.run("chmod", ["755", script]);
		Object.assign(service.settings, { PROBITY_GIT: script, ...env });
		await service.restart();
		try {
			await body(() => existsSync(pids)
				? readFileSync(pids, "utf8").trim().split("\n") : []);
		} finally {
			service.settings = { PROBITY_MAX_CLONES: "2" };
			await service.restart();
		}
	}
	const gone = (pids) => until("the children have ended", () =>
		pids.join(" ").split(" ").every((pid) => !existsSync(`/proc/${pid}`) ||
			/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))));

	const open = () => {
		const socket = connect(service.port, "127.0.0.1");
		socket.on("error", () => {});
		socket.write(rawRequest("GET", refs, [`Authorization: Bearer ${key}`]));
		return socket;
	};

	test("so many at once; who goes away makes room", () =>
		withSlowGit({}, async (pids) => {
			const sockets = [open(), open()];
			await until("two clones run", () => pids().length === 2);
			const r = await send(service, "GET", refs, { key });
			assertProblem(r, 503, "clone_busy");
			assert.match(r.headers["retry-after"], /^\d+$/);
			for (const socket of sockets) socket.destroy();
			await gone(pids());
			const third = open();
			await until("a third runs", () => pids().length === 3);
			third.destroy();
		}));

	test("a clone that takes too long is ended", () =>
		withSlowGit({ PROBITY_CLONE_SECONDS: "1" }, async (pids) => {
			const r = await send(service, "GET", refs, { key });
			assert.equal(r.text, "");
			await gone(pids());
		}));

	test("a clone does not keep the program from stopping", () =>
		withSlowGit({}, async (pids) => {
			const socket = open();
			await until("a clone runs", () => pids().length === 1);
			const began = Date.now();
			assert.deepEqual(await service.end("fcgi"),
				{ code: 0, signal: null });
			assert.ok(Date.now() - began < 15000);
			await gone(pids());
			socket.destroy();
		}));

	test("without git: a 503 that says so", async () => {
		service.settings.PROBITY_GIT = "/nowhere/git";
		await service.restart();
		const r = await send(service, "GET", refs, { key });
		assert.match(assertProblem(r, 503, "clone_unavailable").detail,
			/not installed/);
		service.settings.PROBITY_GIT = "false";
		await service.restart();
		assertProblem(await send(service, "GET", refs, { key }), 503,
			"clone_unavailable");
		delete service.settings.PROBITY_GIT;
		await service.restart();
	});

	test("fetching refuses a branch that was rewound", async () => {
		const clone = join(service.dir, "home/kept.git");
		const run = (...args) => {
			const r = git(service, ...args);
			assert.equal(r.code, 0, r.stderr);
		};
		// As docs/auditing.md has it.
		run("init", "--bare", "--initial-branch=main", clone);
		run("-C", clone, "remote", "add", "-t", "main", "probity",
			url(service, key));
		run("-C", clone, "config", "remote.probity.fetch",
			"refs/heads/main:refs/heads/main");
		run("-C", clone, "fetch", "probity");
		const kept = head(service, clone);
		await service.stop();
		const ledger = service.ledger("acme");
		run("-C", ledger, "update-ref", "refs/heads/main", "main~2");
		const state = join(ledger, "../state.db");
		for (const end of ["", "-wal", "-shm"]) rmSync(state + end,
			{ force: true });
		await service.start();
		const r = git(service, "-C", clone, "fetch", "probity");
		assert.notEqual(r.code, 0);
		assert.match(r.stderr, /rejected.*non-fast-forward/);
		assert.equal(head(service, clone), kept);
	});

	// The rewound one too: by itself it is whole. Only the clone knows better.
	test("the ledgers verify, and the read models rebuild the same", () =>
		finish(service));
});
