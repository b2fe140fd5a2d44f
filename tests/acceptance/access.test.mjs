// Who may do what: entitlements of the workspace, production opened and closed
// by a person's signature, and the order in which a request is judged.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { close, paths, send } from "./support/client.mjs";
import { assertProblem, Contract } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { askToken, assertOAuthError, basic as httpBasic, introspect, oauthPaths,
	sendForm, tokenOf } from "./support/oauth.mjs";
import { Service } from "./support/service.mjs";

const entitlementsPath = "/api/v2/infrastructure/data-entitlements";
const posturePath = "/api/v2/infrastructure/posture";
const checkpointPath = "/api/v2/ledger/checkpoint";
const scopes = ["workspace:read", "infrastructure:read", "finance-core:read",
	"actions:create", "trust:read"].join(",");
let service, contract, key, live, ann;

// An application of all entitlements that the workspace has, and its key.
function application(workspace, options = {}, environment = "sandbox") {
	const app = service.ctl(workspace, "application create", { name: "access",
		responsible: "a@example.com", scopes, ...options }, environment);
	const credential = service.ctl(workspace, "credential issue",
		{ application: app.uid }, environment);
	return { uid: app.uid, credential: credential.uid, key: credential.key };
}

async function get(path, bearer) {
	const reply = await send(service, "GET", path, { key: bearer });
	if (contract.declares("GET", path)) contract.check("GET", path, reply);
	return reply;
}

const production = (words, options) =>
	service.ctl("acme", words, options, "production");
const code = (r) => ({ status: r.status, code: r.json.code });
const closed = { status: 403, code: "production_closed" };

before(async () => {
	service = await new Service({ build: "debug", worker: false,
		env: { PROBITY_OUTBOUND_LOOPBACK: "127.0.0.1:8090  [::1]:8091" } })
		.start();
	for (const name of ["acme", "other"]) service.ctl(name, "workspace create");
	key = application("acme").key;
	contract = await Contract.of(service);
});
after(close);

test("entitlements are listed with the operations that they open", async () => {
	const { status, json } = await get(entitlementsPath, key);
	assert.equal(status, 200);
	assert.ok(json.data.every((e) => e.granted && e.since));
	const byKey = Object.fromEntries(json.data.map((e) => [e.key, e]));
	assert.ok(byKey["finance-core"].operations.includes("finance_core.show"));
	// Every published row needs one, but for the workspace itself.
	const listed = new Set(json.data.flatMap((e) => e.operations));
	for (const methods of Object.values(contract.document.paths))
		for (const op of Object.values(methods))
			assert.equal(listed.has(op.operationId),
				op.operationId !== "workspace.show", op.operationId);

	const first = await get(`${entitlementsPath}?limit=10`, key);
	const link = /<([^>]+)>; rel="next"/.exec(first.headers.link)[1];
	const rest = await get(link, key);
	assert.deepEqual([...first.json.data, ...rest.json.data], json.data);
	assert.equal(rest.json.has_more, false);
});

test("what is taken from the workspace is taken from its applications at once",
	async () => {
		assert.equal((await get(paths.financeCore, key)).status, 200);
		service.ctl("acme", "workspace disentitle",
			{ entitlements: "finance-core", reason: "Contract ended" });
		const refused = await get(paths.financeCore, key);
		assertProblem(refused, 403, "forbidden");
		assert.match(refused.json.detail, /workspace .*finance-core/);
		const { json } = await get(paths.workspace, key);
		assert.ok(!json.entitlements.includes("finance-core"));
		const row = (await get(entitlementsPath, key)).json.data
			.find((e) => e.key === "finance-core");
		assert.equal(row.granted, false);
		service.ctl("acme", "workspace entitle", { entitlements: "finance-core" });
		assert.equal((await get(paths.financeCore, key)).status, 200);
	});

test("one workspace's entitlements are not another's", async () => {
	const other = application("other").key;
	service.ctl("other", "workspace disentitle", { entitlements: "infrastructure" });
	assertProblem(await get(posturePath, other), 403, "forbidden");
	assert.equal((await get(posturePath, key)).status, 200);
});

test("the posture of a sandbox", async () => {
	const { status, json } = await get(posturePath, key);
	assert.equal(status, 200);
	assert.equal(json.environment.state, "sandbox");
	assert.equal(json.production_access.state, "sandbox");
	assert.equal(json.key_storage.state, "file");
	assert.deepEqual(json.loopback_allow_list, { state: "set", since: null,
		addresses: ["127.0.0.1:8090", "[::1]:8091"] });
	assert.ok(json.free_space.free_bytes > json.free_space.floor_bytes);
	for (const part of Object.values(json)) {
		assert.equal(typeof part.state, "string");
		assert.ok("since" in part);
	}
});

// A person with stock ssh-keygen, on another machine than the service.
class Person {
	constructor(name) {
		Object.assign(this, { name, signed: 0 });
		this.file = join(service.dir, "home", name);
		this.keygen("-t", "ed25519", "-N", "", "-C", `${name}@example.com`,
			"-f", this.file);
		this.line = readFileSync(`${this.file}.pub`, "utf8");
	}

	keygen(...args) {
		const r = service.run("ssh-keygen", ["-q", ...args]);
		assert.equal(r.code, 0, r.stderr);
	}

	register(roles, full) {
		this.uid = production("approver add", { name: full, roles,
			"public-key": `${this.file}.pub` }).uid;
	}

	// The printed statement in a file, and its signature beside it.
	sign(decision, reason = "Board of 3 June") {
		const r = service.run(join(service.bin, "probityctl"), ["production",
			"statement", "--workspace", "acme", "--environment", "production",
			"--decision", decision, "--reason", reason]);
		assert.equal(r.code, 0, r.stderr);
		const statement = join(service.dir, "home", `${++this.signed}-${this.name}`);
		service.write(statement, r.stdout);
		this.keygen("-Y", "sign", "-n", "probity-approval", "-f", this.file,
			statement);
		return { statement, signature: `${statement}.sig` };
	}

	decide(decision, approver = this.uid) {
		return production(`production ${decision}`,
			{ approver, ...this.sign(decision) });
	}
}

test("production starts closed and a signature opens it", () => {
	production("workspace create");
	ann = new Person("ann");
	ann.register("production", "Ann Approver");
	const app = production("application create", { name: "early",
		responsible: "a@example.com", scopes });
	const issue = () => production("credential issue", { application: app.uid });
	assert.throws(issue, /Production is not open/);
	assert.throws(() => ann.decide("close"), /closed already/);

	const bob = new Person("bob");
	bob.register("action,hold", "Bob Approver");
	assert.throws(() => bob.decide("open"), /not registered for the role/);
	assert.throws(() => production("production open", { approver: ann.uid,
		...bob.sign("open") }), /another key/);

	assert.equal(ann.decide("open", "Ann Approver").state, "open");
	assert.match(issue().key, /^pby_live_acme_/);
	assert.throws(() => ann.decide("open"), /open already/);
	live = application("acme", {}, "production");
});

// All events, from the repository alone.
function events() {
	const git = (...args) => service.run("git", ["-C",
		service.ledger("acme", "production"), ...args]).stdout;
	return git("rev-list", "--reverse", "main").trim().split("\n")
		.flatMap((commit) => git("cat-file", "blob", `${commit}:events`)
			.trimEnd().split("\n"))
		.map((line) => JSON.parse(line.slice(line.indexOf("{"))));
}

test("who opened it is verified with stock ssh-keygen", () => {
	const all = events();
	const { data } = all.find((e) => e.type === "production.opened");
	assert.equal(data.approver, ann.uid);
	assert.ok(ann.line.startsWith(data.public_key));
	const signers = join(service.dir, "home/approvers");
	const signature = join(service.dir, "home/opened.sig");
	service.write(signers, `ann namespaces="probity-approval" ${data.public_key}\n`);
	service.write(signature, data.signature);
	const verify = (statement) => service.run("ssh-keygen", ["-Y", "verify",
		"-n", "probity-approval", "-I", "ann", "-f", signers, "-s", signature],
	{ input: statement }).code;
	assert.equal(verify(data.statement), 0);
	assert.notEqual(verify(data.statement.replace("open_", "close_")), 0);
	const statement = JSON.parse(data.statement);
	assert.deepEqual(Object.keys(statement),
		["at", "decision", "ledger", "reason", "workspace"]);
	assert.equal(statement.decision, "open_production");
	assert.ok(statement.ledger.endsWith("/acme/production"));
	assert.equal(statement.reason, "Board of 3 June");
	// A person's name is encrypted, and the key's comment left out.
	assert.ok(!/Ann Approver|ann@example/.test(JSON.stringify(all)));
});

test("a live key works while production is open, and no longer", async () => {
	assert.equal((await get(paths.workspace, live.key)).json.environment,
		"production");
	const posture = (await get(posturePath, live.key)).json.production_access;
	assert.deepEqual([posture.state, posture.approver_uid], ["open", ann.uid]);

	const client = production("oauth-client create", { application: live.uid });
	assert.match(client.client_id, /^pbyc_live_acme_/);
	const token = await tokenOf(service, client);
	assert.match(token, /^pbyt_live_acme_/);
	assert.equal((await get(paths.workspace, token)).status, 200);
	assert.equal((await introspect(service, client, token)).active, true);

	const used = ann.sign("close");
	production("production close", { approver: ann.uid, ...used });
	assert.deepEqual(code(await get(paths.workspace, token)), closed);
	assertOAuthError(await askToken(service, client), 400, "unauthorized_client");
	// Nobody is kept from ending a token; one that opens nothing is not active.
	assert.deepEqual(await introspect(service, client, token), { active: false });
	const revoked = await sendForm(service, oauthPaths.revoke, { token },
		httpBasic(client.client_id, client.client_secret));
	assert.equal(revoked.status, 200, revoked.text);
	assert.equal((await get(paths.workspace, token)).status, 401);
	for (const path of [paths.workspace, posturePath, checkpointPath])
		assert.deepEqual(code(await get(path, live.key)), closed, path);
	const wrong = await send(service, "POST", paths.create,
		{ key: live.key, body: "{", headers: { "Content-Type": "text/plain" } });
	assert.deepEqual(code(wrong), closed);
	const basic = Buffer.from(`x:${live.key}`).toString("base64");
	assert.equal((await send(service, "GET", "/ledger/acme/production/checkpoint",
		{ headers: { Authorization: `Basic ${basic}` } })).status, 403);
	// The sandbox is another environment.
	assert.equal((await get(paths.workspace, key)).status, 200);
});

test("it stays so over a restart, and the keys come back with an opening",
	async () => {
		await service.restart();
		assert.deepEqual(code(await get(paths.workspace, live.key)), closed);
		const kept = ann.sign("open");
		ann.decide("open");
		assert.equal((await get(paths.workspace, live.key)).status, 200);
		ann.decide("close");
		// Signed before the close, so it is over, though nobody used it.
		assert.throws(() => production("production open",
			{ approver: ann.uid, ...kept }), /before the last decision/);
		ann.decide("open");
		production("approver revoke", { uid: ann.uid, reason: "Left" });
		assert.throws(() => ann.decide("close"), /revoked/);
		assert.equal((await get(paths.workspace, live.key)).status, 200);
	});

// One request that is wrong in every way. What is mended is mended from the
// first check on, so each time the next one speaks.
const wrongest = (bearer) => send(service, "POST",
	`${paths.create}?unknown=1&unknown=2&bad=%ff`, { key: bearer, body: "{\"amount\":",
		headers: { "Content-Type": "text/plain", "Idempotency-Key": " " } });

test("checks are made in their order", async () => {
	const app = application("other", { name: "order", scopes: "workspace:read",
		entitlements: "knowledge" });
	const detail = async () => {
		const { json, status, headers } = await wrongest(app.key);
		assert.equal(status, 403);
		// The scope lacks, too, and would not be enough.
		assert.equal(headers["www-authenticate"], undefined);
		return json.detail;
	};

	assertProblem(await wrongest(undefined), 401, "unauthorized");
	assertProblem(await wrongest(`${app.key.slice(0, -1)}_`), 401, "unauthorized");
	const ctl = (words, options) => service.ctl("other", words, options);
	ctl("workspace disentitle", { entitlements: "financial-actions" });
	ctl("application suspend", { uid: app.uid });
	assert.match(await detail(), /the application is suspended/);
	ctl("application resume", { uid: app.uid });
	assert.match(await detail(), /the workspace has no entitlement/);
	ctl("workspace entitle", { entitlements: "financial-actions" });
	assert.match(await detail(), /the application has no entitlement/);
	ctl("credential revoke", { uid: app.credential });
	ctl("application suspend", { uid: app.uid });
	assertProblem(await wrongest(app.key), 401, "unauthorized");
});

test("then scope, and only then what is wrong with the request", async () => {
	const narrow = application("other", { name: "narrow",
		scopes: "workspace:read", entitlements: "financial-actions" });
	const scope = await wrongest(narrow.key);
	assertProblem(scope, 403, "forbidden");
	assert.match(scope.headers["www-authenticate"], /insufficient_scope/);

	const wide = application("other", { name: "wide" });
	const post = (body, headers, query = "") => send(service, "POST",
		paths.create + query, { key: wide.key, body, headers });
	assertProblem(await wrongest(wide.key), 400, "malformed_request");
	for (const query of ["x=1&x=2", "x=%ff", "x=%"]) {
		const refused = (bearer) => get(`${paths.workspace}?${query}`, bearer);
		assertProblem(await refused(undefined), 401, "unauthorized");
		const reply = await refused(wide.key);
		assertProblem(reply, 400, "malformed_request");
		assert.ok(reply.headers.ratelimit);
	}
	assert.equal((await post("{", { "Content-Type": "text/plain" })).status, 415);
	assert.equal((await post("{")).status, 400);
	assertProblem(await post({ amount: "1" }), 422, "validation_failed");
});

test("the ledgers verify, and the read models rebuild the same", () =>
	finish(service));
