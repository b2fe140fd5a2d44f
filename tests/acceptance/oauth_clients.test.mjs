// Well-known client libraries, as they are, against a real server: they find
// everything by the metadata, get a token and use it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as mcp2 from "@modelcontextprotocol/client";
import { auth } from "@modelcontextprotocol/sdk/client/auth.js";
import { ClientCredentialsProvider } from
	"@modelcontextprotocol/sdk/client/auth-extensions.js";
import * as oauth from "oauth4webapi";
import * as openid from "openid-client";
import { ClientCredentials } from "simple-oauth2";
import { close, paths, send } from "./support/client.mjs";
import { finish } from "./support/evidence.mjs";
import { makeClient, oauthPaths } from "./support/oauth.mjs";
import { Service } from "./support/service.mjs";

let service, client, issuer;

before(async () => {
	service = await new Service({ build: "debug", worker: false }).start();
	service.ctl("acme", "workspace create", { name: "Acme" });
	client = makeClient(service, "acme", "integration");
	issuer = `${service.baseUrl}/api/v2`;
});
after(close);

async function assertOpens(token) {
	const reply = await send(service, "GET", paths.workspace, { key: token });
	assert.equal(reply.status, 200, reply.text);
	assert.equal(reply.json.name, "acme");
}

const discover = (authentication) => openid.discovery(new URL(issuer),
	client.client_id, undefined, authentication(client.client_secret),
	{ algorithm: "oauth2", execute: [openid.allowInsecureRequests] });

for (const way of ["ClientSecretBasic", "ClientSecretPost"])
	test(`openid-client with ${way}`, async () => {
		const config = await discover(openid[way]);
		const grant = await openid.clientCredentialsGrant(config,
			{ scope: "workspace:read" });
		assert.equal(grant.scope, "workspace:read");
		assert.equal(grant.expires_in, 900);
		await assertOpens(grant.access_token);
		const resource = await openid.fetchProtectedResource(config,
			grant.access_token, new URL(service.baseUrl + paths.workspace), "GET");
		assert.equal(resource.status, 200);
		const seen = await openid.tokenIntrospection(config, grant.access_token);
		assert.equal(seen.active, true);
		assert.equal(seen.client_id, client.client_id);
		await openid.tokenRevocation(config, grant.access_token);
		assert.deepEqual(
			await openid.tokenIntrospection(config, grant.access_token),
			{ active: false });
	});

test("openid-client is told what was wrong", async () => {
	const config = await discover(openid.ClientSecretPost);
	await assert.rejects(openid.clientCredentialsGrant(config,
		{ scope: "lqm:promote:write" }), { error: "invalid_scope" });
	const wrong = await openid.discovery(new URL(issuer), client.client_id,
		undefined, openid.ClientSecretPost("not-the-secret"),
		{ algorithm: "oauth2", execute: [openid.allowInsecureRequests] });
	await assert.rejects(openid.clientCredentialsGrant(wrong, {}),
		{ error: "invalid_client", status: 401 });
});

test("oauth4webapi", async () => {
	const insecure = { [oauth.allowInsecureRequests]: true };
	const resource = await oauth.processResourceDiscoveryResponse(new URL(issuer),
		await oauth.resourceDiscoveryRequest(new URL(issuer), insecure));
	const server = new URL(resource.authorization_servers[0]);
	const as = await oauth.processDiscoveryResponse(server,
		await oauth.discoveryRequest(server, { algorithm: "oauth2", ...insecure }));
	const us = { client_id: client.client_id };
	for (const way of ["ClientSecretBasic", "ClientSecretPost"]) {
		const secret = oauth[way](client.client_secret);
		const grant = await oauth.processClientCredentialsResponse(as, us,
			await oauth.clientCredentialsGrantRequest(as, us, secret,
				{ scope: "workspace:read", resource: resource.resource }, insecure));
		await assertOpens(grant.access_token);
		const look = async () => oauth.processIntrospectionResponse(as, us,
			await oauth.introspectionRequest(as, us, secret, grant.access_token,
				insecure));
		const seen = await look();
		assert.equal(seen.active, true);
		assert.equal(seen.aud, issuer);
		assert.equal(seen.iss, issuer);
		assert.equal(seen.exp - seen.iat, 900);
		await oauth.processRevocationResponse(await oauth.revocationRequest(as, us,
			secret, grant.access_token, insecure));
		assert.deepEqual(await look(), { active: false });
	}
});

for (const [encoding, method] of [["strict", "header"], ["loose", "header"],
	["strict", "body"]])
	test(`simple-oauth2: ${method}, ${encoding}`, async () => {
		const simple = new ClientCredentials({
			client: { id: client.client_id, secret: client.client_secret },
			auth: { tokenHost: service.baseUrl, tokenPath: oauthPaths.token,
				revokePath: oauthPaths.revoke },
			options: { credentialsEncodingMode: encoding,
				authorizationMethod: method },
		});
		const grant = await simple.getToken({ scope: ["workspace:read",
			"finance-core:read"] }, { json: true });
		assert.equal(grant.token.scope, "workspace:read finance-core:read");
		assert.equal(grant.expired(), false);
		await assertOpens(grant.token.access_token);
		await grant.revoke("access_token");
		const ended = await send(service, "GET", paths.workspace,
			{ key: grant.token.access_token });
		assert.equal(ended.status, 401);
		await assert.rejects(simple.getToken({ scope: "trust:write" },
			{ json: true }), (e) => e.data.payload.error === "invalid_scope");
	});

// Either SDK finds the authorization server by the resource's metadata and
// asks for all its scopes, of which it gets what the client has.
for (const [name, authorize, Provider] of [
	["@modelcontextprotocol/sdk", auth, ClientCredentialsProvider],
	["@modelcontextprotocol/client", mcp2.auth, mcp2.ClientCredentialsProvider]])
	test(name, async () => {
		const provider = new Provider({ clientId: client.client_id,
			clientSecret: client.client_secret, expectedIssuer: issuer });
		assert.equal(await authorize(provider, { serverUrl: issuer }),
			"AUTHORIZED");
		const tokens = await provider.tokens();
		assert.deepEqual(tokens.scope.split(" ").sort(), ["agent:execution:read",
			"finance-core:read", "workspace:read"]);
		await assertOpens(tokens.access_token);
		const wrong = new Provider({ clientId: client.client_id,
			clientSecret: "not-the-secret", expectedIssuer: issuer });
		await assert.rejects(authorize(wrong, { serverUrl: issuer }));
	});

test("the ledger verifies", () => finish(service));
