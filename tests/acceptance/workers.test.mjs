// Several worker processes over one state, one of them killed in the middle of
// a job: another takes the job when the lease is over, and each job has exactly
// one end. Leases last minutes to an hour, so the workers' clock is put forward.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { auditorKey } from "./support/auditor.mjs";
import { Authority } from "./support/authority.mjs";
import { close, send } from "./support/client.mjs";
import { Clock } from "./support/clock.mjs";
import { finish } from "./support/evidence.mjs";
import { Service, until } from "./support/service.mjs";

const workspaces = ["north", "south"];
const exportsEach = 8; // as many may wait
const names = ["one", "two", "three"];
const longestLease = 3600;
const keys = {};
const folder = mkdtempSync(join(tmpdir(), "probity-workers-"));
const held = []; // requests of the workers that nobody has answered yet
let service, server, authority, clock, holding = true;

const answer = ({ query, response }) => {
	response.writeHead(200, { "content-type": "application/timestamp-reply" });
	response.end(authority.reply(query));
};

async function startAuthority() {
	authority = new Authority(folder);
	server = createServer(async (request, response) => {
		const parts = [];
		for await (const part of request) parts.push(part);
		const one = { query: Buffer.concat(parts), response };
		if (holding) held.push(one);
		else answer(one);
	});
	await new Promise((done) => server.listen(0, "127.0.0.1", done));
	return `http://127.0.0.1:${server.address().port}/`;
}

const jobs = (workspace, options = {}) =>
	service.ctl(workspace, "job list", { limit: 200, ...options }).data;
const show = (workspace, { uid }) => service.ctl(workspace, "job show", { uid });

// What the ledger itself says, one page after the other.
async function eventsOf(workspace) {
	const all = [];
	for (let page, id = 0; !page || page.has_more; id = page.next_after_id) {
		const reply = await send(service, "GET",
			`/api/v2/ledger/events?limit=200&after_id=${id}`,
			{ key: keys[workspace] });
		assert.equal(reply.status, 200, reply.text);
		page = reply.json;
		all.push(...page.data);
	}
	return all;
}

before(async () => {
	service = new Service({ worker: false });
	Object.assign(service.settings, { PROBITY_LINEAGE_EVENTS_AT_ONCE: "1",
		PROBITY_TIMESTAMP_URL: await startAuthority() });
	await service.start();
	for (const name of workspaces) {
		service.ctl(name, "workspace create", {});
		keys[name] = auditorKey(service, name,
			{ scopes: "trust:read,infrastructure:lineage" });
	}
});
after(() => {
	server.closeAllConnections();
	server.close();
	rmSync(folder, { recursive: true, force: true });
	return close();
});

test("jobs are asked for while nobody works", async () => {
	for (const name of workspaces)
		for (let i = 0; i < exportsEach; i++) {
			const reply = await send(service, "POST",
				"/api/v2/infrastructure/lineage-exports", { key: keys[name],
					body: { scope_type: "workspace", scope_id: name } });
			assert.equal(reply.status, 202, reply.text);
		}
});

let victim, victimsJob, place;

test("three processes take them, and one is killed at work", async () => {
	clock = new Clock(service);
	for (const name of names)
		service.launch(name, [join(service.bin, "probity-worker")],
			clock.environment);
	await until("a worker waits for the authority", () => held.length > 0);
	const claimed = await until("its claim is there", () => workspaces
		.flatMap((name) => jobs(name, { kind: "ledger.timestamp",
			status: "claimed" }).map((job) => ({ job, name })))[0]);
	({ job: victimsJob, name: place } = claimed);
	const pid = Number(/-(\d+)$/.exec(victimsJob.worker)[1]);
	victim = names.find((name) => service.children.get(name).pid === pid);
	assert.ok(victim, victimsJob.worker);
	assert.deepEqual(await service.end(victim, "SIGKILL"),
		{ code: null, signal: "SIGKILL" });
	assert.equal(show(place, victimsJob).attempts.at(-1).outcome, null);
});

test("when its lease is over, others end what it had begun", async () => {
	holding = false;
	clock.putForward(longestLease + 1);
	for (const one of held.splice(0)) answer(one);
	await until("all jobs are done", () => workspaces.every((name) =>
		jobs(name).every(({ status }) => status === "completed") &&
		jobs(name, { kind: "ledger.timestamp" }).length > 0), 60);
	const { attempts } = show(place, victimsJob);
	const lost = attempts.find((one) => one.worker === victimsJob.worker);
	assert.equal(lost.outcome, "lost");
	assert.equal(attempts.at(-1).outcome, "completed");
	assert.notEqual(attempts.at(-1).worker, victimsJob.worker);
});

test("each job has one result, and more than one process worked", async () => {
	const workers = new Set([victimsJob.worker]);
	for (const name of workspaces) {
		const events = await eventsOf(name);
		const ends = events.filter(({ type }) => type === "job.completed");
		const all = jobs(name);
		assert.equal(all.filter(({ kind }) => kind === "lineage.export").length,
			exportsEach);
		assert.deepEqual(ends.map((e) => e.subject.uid).sort(),
			all.map(({ uid }) => uid).sort());
		for (const [type, kind] of [["lineage_export.sealed", "lineage.export"],
			["checkpoint.timestamped", "ledger.timestamp"]])
			assert.equal(events.filter((e) => e.type === type).length,
				all.filter((job) => job.kind === kind).length, type);
		for (const { worker } of all) workers.add(worker);
	}
	assert.ok(workers.size >= 2, [...workers].join());
});

test("everything holds", async () => {
	for (const name of names) await service.end(name);
	await finish(service, { long: true });
});
