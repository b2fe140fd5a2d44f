// The shipped units: well-formed for systemd, and the program takes the socket
// that systemd holds.
import assert from "node:assert/strict";
import { spawn, spawnSync, execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync }
	from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { close, paths, send } from "./support/client.mjs";
import { finish } from "./support/evidence.mjs";
import { top, user } from "./support/places.mjs";
import { Service, until } from "./support/service.mjs";
import { provision } from "./support/workspace.mjs";

const service = new Service();
after(close);

const units = readdirSync(join(top, "conf/systemd"));

test("systemd-analyze verify has nothing to say", () => {
	const dir = join(service.dir, "home/units");
	mkdirSync(dir);
	for (const unit of units)
		writeFileSync(join(dir, unit), execFileSync(
			join(top, "scripts/render-conf"),
			[join(top, "conf/systemd", unit), `libexec=${service.bin}`]));
	const r = spawnSync("systemd-analyze", ["verify", "--man=no",
		...units.map((unit) => join(dir, unit))], { encoding: "utf8" });
	const about = r.stderr.split("\n").filter((line) => line.includes("probity"));
	assert.deepEqual(about, []);
	assert.equal(r.status, 0, r.stderr);
});

test("the services are shut in", () => {
	for (const unit of units.filter((name) => name.endsWith(".service"))) {
		const r = spawnSync("systemd-analyze", ["security", "--offline=true",
			"--threshold=20", join(top, "conf/systemd", unit)],
		{ encoding: "utf8" });
		assert.equal(r.status, 0, r.stdout.split("\n").slice(-3).join("\n") +
			r.stderr);
	}
});

test("the units leave the calls by which a program gives up more", () => {
	for (const unit of units.filter((name) => name.endsWith(".service"))) {
		const filters = readFileSync(join(top, "conf/systemd", unit), "utf8")
			.split("\n").filter((line) => line.startsWith("SystemCallFilter="));
		const last = filters.findLastIndex((line) => line.includes("=~"));
		assert.ok(filters.slice(last).includes("SystemCallFilter=" +
			"landlock_create_ruleset landlock_add_rule landlock_restrict_self"));
	}
});

// Whose files are whose rests on these lines.
test("front and worker are users of their own, in one group", () => {
	const lines = (name) => readFileSync(join(top, "conf", name), "utf8")
		.split("\n").filter((line) => line && !line.startsWith("#"));
	for (const [unit, name] of [["probity", "probity-front"],
		["probity-worker", "probity-worker"]]) {
		const of = lines(`systemd/${unit}.service`);
		assert.ok(of.includes(`User=${name}`));
		assert.ok(of.includes("Group=probity"));
		assert.ok(of.includes("UMask=0007"));
		// It would give the directories to one of the two.
		assert.ok(!of.some((line) => line.startsWith("StateDirectory")));
		assert.ok(lines("sysusers.d/probity.conf")
			.some((line) => line.startsWith(`u ${name} `)));
	}
	assert.ok(lines("systemd/probity.socket").includes("SocketMode=0600"));
	for (const line of lines("tmpfiles.d/probity.conf"))
		assert.match(line, /^d \/var\/lib\/probity\S* +2770 probity probity$/);
});

// Each way in which a socket is handed over.
for (const [name, flags] of [["LISTEN_FDS", []], ["standard input", ["--inetd"]]])
	test(`a socket handed over by ${name}`, async () => {
		await service.stop();
		service.wantsWorker = false;
		service.startFront = async () => {};
		const log = join(service.dir, "log/fcgi.log");
		const activate = spawn("systemd-socket-activate", ["-l", service.socket,
			...flags, ...Object.entries({ ...service.environment,
				PROBITY_BASE_URL: "http://127.0.0.1" })
				.map(([k, v]) => `--setenv=${k}=${v}`),
			join(service.bin, "probity.fcgi")],
		{ ...user, stdio: ["ignore", "ignore", "ignore"] });
		activate.ended = new Promise((done) => activate.once("exit",
			(code, signal) => done({ code, signal })));
		service.children.set("fcgi", activate);
		await until("the socket is there", () => spawnSync("test",
			["-S", service.socket]).status === 0);
		await service.start();
		if (service.places().length === 0)
			service.key = provision(service, "acme").key;
		// The first request starts it.
		const r = await send(service, "GET", paths.workspace,
			{ key: service.key });
		assert.equal(r.status, 200, r.text + log);
		const ended = await service.end("fcgi");
		assert.deepEqual(ended, { code: 0, signal: null });
	});

test("the ledger verifies, and the read model rebuilds the same", () =>
	finish(service));
