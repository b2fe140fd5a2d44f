// The OAuth endpoints by hand: every error that the standards name, both ways
// to authenticate, and what a token opens, for how long and to whom.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { close, paths, send } from "./support/client.mjs";
import { assertProblem } from "./support/contract.mjs";
import { dump, finish } from "./support/evidence.mjs";
import { askToken, assertOAuthError, basic, basicEscaped, introspect, makeClient,
	oauthPaths, sendForm, tokenOf } from "./support/oauth.mjs";
import { Service } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const grant = { grant_type: "client_credentials" };
const place = { workspace: "acme", environment: "sandbox" };
let service, w, client, other, foreign;

const ask = (params, headers) =>
	sendForm(service, oauthPaths.token, params, headers);
const withSecret = (c = client) => basic(c.client_id, c.client_secret);
const open = (token, path = paths.workspace) =>
	send(service, "GET", path, { key: token });
const size = () => service.ctl("acme", "ledger status").size;

before(async () => {
	service = await new Service({ build: "debug", worker: false }).start();
	w = provision(service, "acme");
	service.ctl("rival", "workspace create", { name: "Rival" });
	client = makeClient(service, "acme", "first");
	other = makeClient(service, "acme", "second");
	foreign = makeClient(service, "rival", "theirs");
});
after(close);

test("secrets and ids are of letters, digits and _ and name their place", () => {
	assert.match(client.client_id, /^pbyc_test_acme_[0-9A-Za-z]{8}$/);
	assert.match(client.client_secret, /^pbys_test_acme_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/);
	assert.equal(client.secret_shown, false);
	const [listed] = service.ctl("acme", "oauth-client list").data;
	assert.equal(listed.client_id, client.client_id);
	assert.ok(!("client_secret" in listed));
});

test("a token, as RFC 6749 has it", async () => {
	const { status, headers, json } = await ask({ ...grant,
		scope: "workspace:read" }, withSecret());
	assert.equal(status, 200);
	assert.equal(headers["content-type"], "application/json");
	assert.equal(headers["cache-control"], "no-store");
	assert.equal(headers.pragma, "no-cache");
	const { access_token: token, ...rest } = json;
	assert.match(token, /^pbyt_test_acme_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/);
	assert.deepEqual(rest, { token_type: "Bearer", expires_in: 900,
		scope: "workspace:read" });
	const seen = (await open(token)).json;
	assert.deepEqual(seen.scopes, ["workspace:read"]);
	const stored = await introspect(service, client, token);
	const { exp, iat, ...fields } = stored;
	assert.equal(exp - iat, 900);
	assert.ok(Math.abs(iat - Date.now() / 1000) < 60);
	const issuer = `${service.baseUrl}/api/v2`;
	assert.deepEqual(fields, { active: true, scope: "workspace:read",
		client_id: client.client_id, token_type: "Bearer",
		sub: client.client_id, aud: issuer, iss: issuer });
});

test("scopes: what was asked for, the client, its application, its products", async () => {
	const scope = async (c, more) => (await askToken(service, c, more)).json.scope;
	assert.equal(await scope(client),
		"workspace:read finance-core:read agent:execution:read");
	assert.equal(await scope(client, { scope: "" }),
		"workspace:read finance-core:read agent:execution:read");
	assert.equal(await scope(client, {
		scope: "trust:write finance-core:read  workspace:read nonsense" }),
	"workspace:read finance-core:read");
	// Of finance-core:read every operation needs a product that is not there.
	const poor = makeClient(service, "acme", "poor",
		{ entitlements: "core-platform" });
	assert.equal(await scope(poor), "workspace:read");
	assertOAuthError(await askToken(service, poor,
		{ scope: "finance-core:read" }), 400, "invalid_scope");
	const narrow = makeClient(service, "acme", "narrow",
		{ scopes: "workspace:read", owned: "workspace:read,finance-core:read" });
	assert.equal(await scope(narrow), "workspace:read");
	assertOAuthError(await askToken(service, narrow,
		{ scope: "finance-core:read" }), 400, "invalid_scope");
	for (const bad of ["a\"b", "workspace:read " + "x".repeat(4100)])
		assertOAuthError(await askToken(service, client, { scope: bad }), 400,
			"invalid_scope");
	assert.throws(() => makeClient(service, "acme", "greedy",
		{ scopes: "trust:write", owned: "workspace:read" }), /scope/);
});

test("what is taken from the workspace is granted no more", async () => {
	const scope = async () => (await askToken(service, foreign)).json.scope;
	service.ctl("rival", "workspace disentitle", { entitlements: "finance-core",
		reason: "Contract ended" });
	assert.equal(await scope(), "workspace:read agent:execution:read");
	service.ctl("rival", "workspace entitle", { entitlements: "finance-core" });
	assert.equal(await scope(),
		"workspace:read finance-core:read agent:execution:read");
});

test("both encodings of Basic, and the form", async () => {
	const { client_id: id, client_secret: secret } = client;
	for (const headers of [basic(id, secret), basicEscaped(id, secret),
		{ Authorization: basic(id, secret).Authorization
			.replace("Basic", "bAsIc") }])
		assert.equal((await ask(grant, headers)).status, 200);
	assert.equal((await ask({ ...grant, client_id: id,
		client_secret: secret })).status, 200);
	assert.equal((await ask({ ...grant, client_id: id },
		basic(id, secret))).status, 200);
	assert.equal((await ask(grant, { ...basic(id, secret), "Content-Type":
		"application/x-www-form-urlencoded;charset=UTF-8" })).status, 200);
});

test("who does not authenticate: 401, challenged if it used the header", async () => {
	const { client_id: id, client_secret: secret } = client;
	const swapped = secret.slice(0, -1) + (secret.endsWith("0") ? "1" : "0");
	for (const value of [basic(id, swapped), basic(id, other.client_secret),
		basic(other.client_id, secret), basic(foreign.client_id, secret),
		basic(id, foreign.client_secret), basic("", ""), basic(id, ""),
		basic(id, "%"), basic("%zz", secret), basic(id, "%00"),
		basic(id, "a%"), basic(id, secret + ":"), basic(id + "%", secret),
		{ Authorization: "Basic" }, { Authorization: "Basic !" },
		{ Authorization: `Basic ${btoa("no colon")}` },
		{ Authorization: `Bearer ${secret}` },
		basic(id, secret.replace("acme", "nobody"))]) {
		const reply = assertOAuthError(await ask(grant, value), 401,
			"invalid_client");
		assert.equal(reply.headers["www-authenticate"], 'Basic realm="probity"');
	}
	for (const form of [grant, { ...grant, client_id: id },
		{ ...grant, client_id: id, client_secret: swapped },
		{ ...grant, client_id: "x".repeat(5000), client_secret: secret },
		{ ...grant, client_id: id, client_secret: "" }]) {
		const reply = assertOAuthError(await ask(form), 401, "invalid_client");
		assert.equal(reply.headers["www-authenticate"], undefined);
	}
	for (const path of [oauthPaths.introspect, oauthPaths.revoke])
		assertOAuthError(await sendForm(service, path, { token: "x" },
			basic(id, swapped)), 401, "invalid_client");
	// Who may not is told so before what else is wrong.
	assertOAuthError(await ask("%", basic(id, swapped)), 401, "invalid_client");
});

test("a request that is wrong: 400", async () => {
	const secret = { client_id: client.client_id,
		client_secret: client.client_secret };
	const bad = [
		["invalid_request", {}],
		["invalid_request", { grant_type: "" }],
		["invalid_request", "grant_type=client_credentials&scope=%"],
		["invalid_request", "grant_type=client_credentials&scope=%ff"],
		["invalid_request", [["grant_type", "client_credentials"],
			["grant_type", "client_credentials"]]],
		["invalid_request", [...Object.entries(grant), ["x", "1"], ["x", "1"]]],
		["invalid_request", { ...grant, ...secret }],
		["invalid_request", { ...grant, client_id: other.client_id }],
		["invalid_request", Array.from({ length: 65 }, (_, n) => [`p${n}`, "1"])],
		["unsupported_grant_type", { grant_type: "password" }],
		["unsupported_grant_type", { grant_type: "authorization_code" }],
		["invalid_target", { ...grant, resource: "https://elsewhere.example/" }],
		["invalid_target", { ...grant, resource: service.baseUrl + "@evil/" }],
		["invalid_target", { ...grant, resource: service.baseUrl + "/a#b" }],
	];
	for (const [error, form] of bad)
		assertOAuthError(await ask(form, withSecret()), 400, error);
	assertOAuthError(await ask(grant, { ...withSecret(),
		"Content-Type": "application/json" }), 400, "invalid_request");
	assertOAuthError(await ask([...Object.entries({ ...grant, ...secret }),
		["client_secret", client.client_secret]]), 400, "invalid_request");
	assertOAuthError(await ask({ ...grant, pad: "x".repeat(20000) },
		withSecret()), 413, "invalid_request");
	for (const path of [oauthPaths.introspect, oauthPaths.revoke])
		assertOAuthError(await sendForm(service, path, {}, withSecret()), 400,
			"invalid_request");
	assertProblem(await send(service, "GET", oauthPaths.token), 405,
		"method_not_allowed");
});

test("resources of our own are taken, several too", async () => {
	const mcp = `${service.baseUrl}/api/mcp`;
	const token = await tokenOf(service, client, { resource: mcp });
	assert.equal((await introspect(service, client, token)).aud, mcp);
	const reply = await ask([...Object.entries(grant), ["resource", mcp],
		["resource", service.baseUrl]], withSecret());
	assert.deepEqual((await introspect(service, client,
		reply.json.access_token)).aud, [mcp, service.baseUrl]);
});

test("nobody is asked for consent here", async () => {
	for (const method of ["GET", "POST"])
		assertOAuthError(await send(service, method,
			`${oauthPaths.authorize}?response_type=code&client_id=x`), 400,
		"unsupported_response_type");
});

test("metadata: the issuer is the URL that leads there", async () => {
	const issuer = `${service.baseUrl}/api/v2`;
	const server = (await send(service, "GET", oauthPaths.server)).json;
	assert.equal(server.issuer, issuer);
	for (const [name, end] of [["authorization_endpoint", "authorize"],
		["token_endpoint", "token"], ["introspection_endpoint", "introspect"],
		["revocation_endpoint", "revoke"]])
		assert.equal(server[name], `${issuer}/oauth/${end}`);
	assert.deepEqual(server.grant_types_supported, ["client_credentials"]);
	assert.deepEqual(server.response_types_supported, []);
	assert.equal(server.scopes_supported.length, 71);
	for (const name of ["token", "introspection", "revocation"])
		assert.deepEqual(server[`${name}_endpoint_auth_methods_supported`],
			["client_secret_basic", "client_secret_post"]);
	const { headers, json } = await send(service, "GET", oauthPaths.resource);
	assert.equal(json.resource, issuer);
	assert.deepEqual(json.authorization_servers, [issuer]);
	assert.deepEqual(json.bearer_methods_supported, ["header"]);
	const again = await send(service, "GET", oauthPaths.resource,
		{ headers: { "If-None-Match": headers.etag } });
	assert.equal(again.status, 304);
	assertProblem(await send(service, "GET",
		"/.well-known/openid-configuration"), 404);
});

test("a token writes, and another of the application asks again", async () => {
	const writer = makeClient(service, "acme", "writer",
		{ scopes: "actions:create,trust:read",
			entitlements: "core-platform,financial-actions" });
	const create = async () => send(service, "POST", paths.create, {
		key: await tokenOf(service, writer), body: actionBody(w),
		headers: { "Idempotency-Key": "by token" } });
	const one = await create();
	assert.equal(one.status, 201, one.text);
	const again = await create();
	assert.equal(again.headers["idempotency-replayed"], "true");
	assert.equal(again.text, one.text);
	const token = await tokenOf(service, writer, { scope: "trust:read" });
	const event = await open(token,
		`/api/v2/ledger/events/${one.json.evidence.seq}`);
	assert.equal(event.status, 200, event.text);
	assert.ok(event.text.includes(writer.client_id));
	// Auditors' tools know Basic alone.
	const page = "/ledger/acme/sandbox/checkpoint";
	const read = (key) => send(service, "GET", page, { headers: basic("x", key) });
	assert.equal((await read(token)).status, 200);
	assert.equal((await read(token.slice(0, -1))).status, 401);
	assert.equal((await read(await tokenOf(service, client))).status, 403);
});

test("what a client asks for counts towards its application's limits", async () => {
	const few = makeClient(service, "acme", "few");
	service.ctl("acme", "application set-limits",
		{ uid: few.application, monthly: 2 });
	const token = await tokenOf(service, few);
	const last = await askToken(service, few);
	assert.equal(last.status, 200);
	assert.ok(last.headers.ratelimit);
	for (const reply of [await askToken(service, few), await sendForm(service,
		oauthPaths.introspect, { token }, withSecret(few))]) {
		assertOAuthError(reply, 429, "temporarily_unavailable");
		assert.ok(Number(reply.headers["retry-after"]) > 0);
	}
});

test("challenges of RFC 6750", async () => {
	const token = await tokenOf(service, client, { scope: "workspace:read" });
	const challenge = async (key, path = paths.workspace) =>
		(await open(key, path)).headers["www-authenticate"];
	assert.equal(await challenge(undefined), 'Bearer realm="probity"');
	for (const wrong of [token.slice(0, -1), token.replace("pbyt", "pbys"),
		client.client_secret, token.replace("acme", "rival")])
		assert.equal(await challenge(wrong),
			'Bearer realm="probity", error="invalid_token"');
	assert.equal(await challenge(token, paths.financeCore), 'Bearer ' +
		'realm="probity", error="insufficient_scope", scope="finance-core:read"');
	assertProblem(await open(token, paths.financeCore), 403, "forbidden");
});

test("a token of somebody else is like none: exactly {\"active\":false}", async () => {
	const token = await tokenOf(service, client);
	for (const [asking, text] of [[other, token], [foreign, token],
		[client, await tokenOf(service, foreign)], [client, "nonsense"],
		[client, client.client_secret], [client, token + "0"]])
		assert.deepEqual(await introspect(service, asking, text),
			{ active: false });
	for (const stranger of [other, foreign]) {
		const reply = await sendForm(service, oauthPaths.revoke, { token },
			withSecret(stranger));
		assert.equal(reply.status, 200);
		assert.equal(reply.text, "");
	}
	assert.equal((await open(token)).status, 200);
});

test("asking about tokens writes nothing, and so does giving up none", async () => {
	const token = await tokenOf(service, client);
	const before = size();
	await introspect(service, client, token);
	await introspect(service, other, token);
	await sendForm(service, oauthPaths.revoke, { token: "nonsense" }, withSecret());
	await sendForm(service, oauthPaths.revoke, { token }, withSecret(other));
	await ask({ ...grant, scope: "trust:write" }, withSecret());
	assert.equal(size(), before);
	for (let i = 0; i < 2; i++)
		assert.equal((await sendForm(service, oauthPaths.revoke,
			{ token, token_type_hint: "refresh_token" }, withSecret())).status, 200);
	assert.equal(size(), before + 1);
	assertProblem(await open(token), 401, "unauthorized");
	assert.deepEqual(await introspect(service, client, token), { active: false });
});

test("restart and rebuild keep clients and tokens", async () => {
	const kept = await tokenOf(service, client);
	const gone = await tokenOf(service, client);
	await sendForm(service, oauthPaths.revoke, { token: gone }, withSecret());
	await service.stop();
	service.ctl("acme", "ledger rebuild");
	service.settings = { PROBITY_ACCESS_TOKEN_MINUTES: "1" };
	await service.start();
	assert.equal((await open(kept)).status, 200);
	assert.equal((await open(gone)).status, 401);
	const reply = await askToken(service, client);
	assert.equal(reply.json.expires_in, 60);
});

test("no secret and no token is stored in clear", async () => {
	const token = await tokenOf(service, client);
	const kept = dump(service, place) + service.run("git", ["-C",
		service.ledger("acme"), "log", "-p", "--text", "main"]).stdout +
		service.log("fcgi");
	assert.ok(kept.includes("access_token.issued"));
	for (const secret of [token, client.client_secret])
		assert.ok(!kept.includes(secret.slice(-49)));
});

test("the ledgers verify, and the read models rebuild the same", () =>
	finish(service, { long: true }));
