// OAuth as a client makes it by hand: forms, and both ways to authenticate.
import assert from "node:assert/strict";
import { send } from "./client.mjs";

export const oauthPaths = {
	token: "/api/v2/oauth/token",
	introspect: "/api/v2/oauth/introspect",
	revoke: "/api/v2/oauth/revoke",
	authorize: "/api/v2/oauth/authorize",
	server: "/.well-known/oauth-authorization-server/api/v2",
	resource: "/.well-known/oauth-protected-resource/api/v2",
};

export const basic = (id, secret) => ({ Authorization: "Basic " +
	Buffer.from(`${id}:${secret}`).toString("base64") });

// As RFC 6749, 2.3.1 has it, every character escaped that may be.
const escaped = (text) => [...Buffer.from(text)]
	.map((byte) => "%" + byte.toString(16).padStart(2, "0")).join("");
export const basicEscaped = (id, secret) => basic(escaped(id), escaped(secret));

// params: an object, a list of pairs, or the body as it is.
export const sendForm = (service, path, params, headers = {}) =>
	send(service, "POST", path, {
		body: typeof params === "string" ? params
			: new URLSearchParams(params).toString(),
		headers: { "Content-Type": "application/x-www-form-urlencoded",
			...headers } });

export const askToken = (service, client, more = {}) =>
	sendForm(service, oauthPaths.token,
		{ grant_type: "client_credentials", ...more },
		basic(client.client_id, client.client_secret));

export async function tokenOf(service, client, more = {}) {
	const reply = await askToken(service, client, more);
	assert.equal(reply.status, 200, reply.text);
	return reply.json.access_token;
}

export const introspect = async (service, client, token) =>
	(await sendForm(service, oauthPaths.introspect, { token },
		basic(client.client_id, client.client_secret))).json;

// An application with an OAuth client; `scopes` are the client's.
export function makeClient(service, workspace, name, {
	scopes = "workspace:read,finance-core:read,agent:execution:read",
	owned = scopes,
	entitlements = "core-platform,finance-core,agents" } = {}) {
	const application = service.ctl(workspace, "application create", { name,
		responsible: "a@example.com", scopes: owned, entitlements });
	const client = service.ctl(workspace, "oauth-client create",
		{ application: application.uid, scopes });
	return { ...client, application: application.uid, workspace };
}

export function assertOAuthError(reply, status, error) {
	assert.equal(reply.status, status, reply.text);
	assert.equal(reply.json?.error, error, reply.text);
	assert.match(reply.json.error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
	assert.equal(reply.headers["content-type"], "application/json");
	assert.equal(reply.headers["cache-control"], "no-store");
	assert.equal(reply.headers.pragma, "no-cache");
	return reply;
}
