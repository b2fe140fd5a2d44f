// The same service behind every web server whose configuration is shipped.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { close, paths, rawRequest, send, sendRaw } from "./support/client.mjs";
import { assertProblem } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { load } from "./support/load.mjs";
import { askToken, assertOAuthError, makeClient, oauthPaths, tokenOf } from
	"./support/oauth.mjs";
import { Service, serverKinds } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

after(close);

for (const kind of serverKinds)
	describe(kind, () => {
		// One process per request, and a sanitizer's start is slow.
		const service = new Service({ kind });
		const cgi = kind === "apache-cgi";
		let w;

		const create = (changes = {}, options = {}) => send(service, "POST",
			paths.create, { key: w.key, body: actionBody(w, changes), ...options });

		test("starts", async () => {
			await service.start();
			w = provision(service, "acme");
		});

		test("all six operations", async () => {
			const made = await create({ purpose: "Grüße" });
			assert.equal(made.status, 201, made.text);
			assert.equal(made.json.purpose, "Grüße");
			for (const path of [paths.workspace, paths.financeCore,
				`${paths.statements}?limit=1`, paths.action(made.json.uid),
				paths.assurance(made.json.uid)]) {
				const { status, text } = await send(service, "GET", path,
					{ key: w.key });
				assert.equal(status, 200, `${path}: ${text}`);
			}
		});

		test("refusals are ours, byte for byte", async () => {
			const none = await send(service, "GET", paths.workspace);
			assertProblem(none, 401, "unauthorized");
			assert.equal(none.headers["www-authenticate"],
				'Bearer realm="probity"');
			const method = await send(service, "DELETE", paths.create,
				{ key: w.key });
			assertProblem(method, 405, "method_not_allowed");
			assert.match(method.headers.allow, /POST/);
			assertProblem(await send(service, "GET", "/nothing",
				{ key: w.key }), 404, "not_found");
			assertProblem(await create({ amount: "x" }), 422,
				"validation_failed");
			assertProblem(await create({}, { body: "{" }), 400,
				"malformed_request");
			assertProblem(await create({}, { headers:
				{ "Content-Type": "text/plain" } }), 415,
			"unsupported_media_type");
		});

		test("OAuth: what is well known, and a token by Basic", async () => {
			const client = makeClient(service, "acme", "oauth");
			const server = await send(service, "GET", oauthPaths.server);
			assert.match(server.json.issuer, /^http:.*\/api\/v2$/);
			const token = await tokenOf(service, client);
			assert.equal((await send(service, "GET", paths.workspace,
				{ key: token })).status, 200);
			const wrong = await askToken(service,
				{ ...client, client_secret: "%" });
			assert.equal(wrong.headers["www-authenticate"],
				'Basic realm="probity"');
			assertOAuthError(wrong, 401, "invalid_client");
		});

		test("a body above our limit gets our 413", async () => {
			const body = JSON.stringify({ purpose: "x".repeat(1100000) });
			assertProblem(await create({}, { body }), 413, "too_large");
		});

		test("a chunked body", async () => {
			const made = await create({}, {
				headers: { "Content-Length": undefined,
					"Transfer-Encoding": "chunked" },
				raw: (req, bytes) => {
					req.write(bytes.subarray(0, 10));
					setTimeout(() => req.end(bytes.subarray(10)), 20);
				} });
			assert.equal(made.status, 201, made.text);
		});

		test("headers come through: idempotency, conditions, request id",
			async () => {
				const headers = { "Idempotency-Key": "k" };
				const one = await create({}, { headers });
				const two = await create({}, { headers });
				assert.equal(two.text, one.text);
				assert.equal(two.headers["idempotency-replayed"], "true");
				const get = await send(service, "GET", paths.financeCore,
					{ key: w.key });
				const same = await send(service, "GET", paths.financeCore,
					{ key: w.key, headers: { "If-None-Match": get.headers.etag } });
				assert.equal(same.status, 304);
				assert.match(get.headers["x-request-id"], /^[0-9a-f-]{36}$/);
			});

		test("HEAD", async () => {
			const { status, text } = await send(service, "HEAD",
				paths.workspace, { key: w.key });
			assert.equal(status, 200);
			assert.equal(text, "");
		});

		test("the path is judged as it was sent", async () => {
			const lines = [`Authorization: Bearer ${w.key}`];
			for (const target of ["/api%2Fv2%2Fworkspace",
				"/api//v2/workspace", "/api/v2/workspace%00",
				"/api/v2/x/../workspace"]) {
				const r = await sendRaw(service, rawRequest("GET", target, lines));
				assert.ok([400, 404].includes(r.status), `${target} ${r.status}`);
			}
			const query = await sendRaw(service, rawRequest("GET",
				`${paths.statements}?status=imp%6Frted`, lines));
			assert.equal(query.status, 200, query.text);
			assert.ok(query.text.includes("imported"));
		});

		test("repeated credentials are none", async () => {
			const r = await sendRaw(service, rawRequest("GET", paths.workspace,
				[`Authorization: Bearer ${w.key}`,
					`Authorization: Bearer ${w.key}`]));
			assert.ok([400, 401].includes(r.status), `${r.status}`);
		});

		test("a Proxy header sets nothing", async () => {
			const { status } = await send(service, "GET", paths.workspace,
				{ key: w.key, headers: { Proxy: "http://evil.example" } });
			assert.equal(status, 200);
		});

		test("64 clients, reads and writes: every reply is a success",
			async () => {
				let i = 0;
				const result = await load(service, {
					clients: cgi ? 8 : 64, seconds: 3,
					make: () => i++ % 2
						? { method: "GET", path: paths.financeCore, key: w.key }
						: { method: "POST", path: paths.create, key: w.key,
							again: true,
							body: actionBody(w, { amount: "0.01" }) } });
				assert.deepEqual(result.errors, []);
				assert.deepEqual(Object.keys(result.statuses).sort(),
					["200", "201"], JSON.stringify(result.statuses));
				assert.ok(result.total > (cgi ? 20 : 100), `${result.total}`);
				// Each is there, under its own number.
				const made = result.replies.filter((r) => r.status === 201);
				assert.equal(new Set(made.map((r) => r.json.evidence.seq)).size,
					made.length);
				console.log(`${kind}: ${result.total} requests in 3 s`);
			});

		test("the program is replaced, and nobody is refused for long",
			{ skip: kind.includes("cgi") || kind.includes("fcgid") },
			async () => {
				await service.end("fcgi");
				await service.startFront();
				const r = await send(service, "GET", paths.workspace,
					{ key: w.key });
				assert.equal(r.status, 200, r.text);
			});

		test("verifies and rebuilds", () => finish(service, { long: true }));
	});
