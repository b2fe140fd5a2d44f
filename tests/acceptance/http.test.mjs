// HTTP as its standards have it, through each web server: conditions, methods,
// media types, paging, browsers of other origins.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import LinkHeader from "http-link-header";
import { auditorKey } from "./support/auditor.mjs";
import { close, paths, rawRequest, send, sendRaw } from "./support/client.mjs";
import { Contract, assertProblem, named } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { Service } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

const origin = "https://app.example.com";
const vary = (reply) => (reply.headers.vary ?? "").split(/, */).sort();
const methods = (reply) => reply.headers.allow.split(/, */).sort();

function importStatements(service) {
	const file = join(service.dir, "more.xml");
	for (let n = 0; n < 2; n++) {
		service.write(file, service.demoStatement(n));
		service.ctl("acme", "source-record import", { format: "camt.053", file });
	}
}

after(close);

for (const kind of ["lighttpd", "apache", "nginx"])
	describe(kind, () => {
		const service = new Service({ kind, worker: false, env: {
			PROBITY_CORS_ORIGINS: `${origin},http://localhost:3000` } });
		let w, contract;

		const get = (path, headers = {}) =>
			send(service, "GET", path, { key: w.key, headers });
		const create = (headers = {}, changes = {}) =>
			send(service, "POST", paths.create,
				{ key: w.key, body: actionBody(w, changes), headers });
		const size = async () =>
			Number((await get(paths.workspace)).headers["ledger-size"]);

		test("starts", async () => {
			await service.start();
			w = provision(service, "acme");
			importStatements(service);
			contract = await Contract.of(service);
		});

		test("every read has a strong ETag: the hash of what is sent",
			async () => {
				const made = await create();
				for (const path of [paths.workspace, paths.financeCore,
					paths.statements, paths.action(made.json.uid),
					paths.assurance(made.json.uid)]) {
					const reply = await get(path);
					assert.equal(reply.status, 200, path);
					assert.equal(reply.headers.etag, '"' + createHash("sha256")
						.update(reply.bytes).digest("hex") + '"', path);
					assert.equal(reply.headers["cache-control"],
						"private, no-cache");
					assert.ok(vary(reply).includes("Authorization"), path);
					assert.equal(reply.headers["x-content-type-options"],
						"nosniff");
				}
			});

		test("Location is where the record is read, and declared there alone",
			async () => {
				const made = await create();
				assert.equal(made.headers.location,
					paths.action(made.json.uid));
				assert.equal((await get(made.headers.location)).json.uid,
					made.json.uid);
				const declared = (path) => Object.keys(contract.document
					.paths[path].post.responses[201].headers);
				assert.ok(declared(paths.create).includes("Location"));
				assert.ok(!declared("/api/v2/agent-execution/webhooks")
					.includes("Location"));
				assert.ok(!declared(paths.create).includes("Ledger-Size"));
			});

		test("If-None-Match on reads", async () => {
			const { headers: { etag } } = await get(paths.financeCore);
			for (const [value, status] of [[etag, 304], [`W/${etag}`, 304],
				["*", 304], [`"x", ${etag}`, 304], [`"a,b",W/"c",${etag}`, 304],
				['"x"', 200], [etag.slice(1, -1), 200]]) {
				const reply = await get(paths.financeCore,
					{ "If-None-Match": value });
				assert.equal(reply.status, status, value);
				assert.equal(reply.headers.etag, etag);
				assert.ok(Number(reply.headers["ledger-size"]) > 0, value);
				assert.ok(vary(reply).includes("Authorization"), value);
				assert.equal(reply.text === "", status === 304, value);
				const head = await send(service, "HEAD", paths.financeCore,
					{ key: w.key, headers: { "If-None-Match": value } });
				assert.equal(head.status, status, value);
				assert.equal(head.headers.etag, etag);
			}
			// Two fields are one list. lighttpd keeps one of them, nginx
			// refuses.
			const two = await sendRaw(service, rawRequest("GET",
				paths.financeCore, [`Authorization: Bearer ${w.key}`,
					'If-None-Match: "x"', `If-None-Match: ${etag}`]));
			assert.equal(two.status,
				{ lighttpd: 200, apache: 304, nginx: 400 }[kind]);
		});

		test("what changed has another ETag", async () => {
			const { headers: { etag } } = await get(paths.workspace);
			await create();
			const reply = await get(paths.workspace, { "If-None-Match": etag });
			assert.equal(reply.status, 200);
			assert.notEqual(reply.headers.etag, etag);
		});

		test("If-Match on reads", async () => {
			const { headers: { etag } } = await get(paths.financeCore);
			for (const [value, status] of [[etag, 200], ["*", 200],
				[`"x", ${etag}`, 200], [`W/${etag}`, 412], ['"x"', 412],
				["x", 412]]) {
				const reply = await get(paths.financeCore, { "If-Match": value });
				if (status === 200) assert.equal(reply.status, 200, value);
				else assertProblem(reply, 412, "precondition_failed");
				contract.check("GET", paths.financeCore, reply);
			}
			// What describes the reply is not sent with its refusal.
			const auditor = auditorKey(service, "acme", { name: "conditions" });
			for (const path of ["/api/v2/ledger/evidence/5",
				"/api/v2/ledger/packs/5", "/api/v2/ledger/events?limit=1"]) {
				const reply = await send(service, "GET", path,
					{ key: auditor, headers: { "If-Match": '"x"' } });
				assertProblem(reply, 412, "precondition_failed");
				for (const name of ["content-disposition", "link", "etag"])
					assert.equal(reply.headers[name], undefined, path);
			}
			// If-Match is judged first.
			assertProblem(await get(paths.financeCore, { "If-Match": '"x"',
				"If-None-Match": etag }), 412, "precondition_failed");
		});

		test("a refusal is answered without regard to conditions", async () => {
			assertProblem(await get("/api/v2/nothing", { "If-Match": '"x"' }),
				404, "not_found");
			assertProblem(await create({ "If-Match": '"x"' }, { amount: "x" }),
				422, "validation_failed");
			assertProblem(await create({ "If-Match": '"x"' },
				{ currency: "USD" }), 422, "control_failed");
		});

		test("If-Match on a write whose path has nothing to compare", async () => {
			const before = await size();
			for (const value of ["*", '"x"', 'W/"x"']) {
				const reply = await create({ "If-Match": value });
				assertProblem(reply, 412, "precondition_failed");
				contract.check("POST", paths.create, reply);
			}
			assert.equal(await size(), before);
			// There is nothing that If-None-Match could name.
			assert.equal((await create({ "If-None-Match": "*" })).status, 201);
			assert.equal(await size(), before + 1);
		});

		test("a replay is answered whatever is expected by now", async () => {
			const key = { "Idempotency-Key": "conditional" };
			const first = await create(key);
			const again = await create({ ...key, "If-Match": '"x"' });
			assert.equal(again.status, 201, again.text);
			assert.equal(again.text, first.text);
		});

		test("HEAD is GET without its body", async () => {
			for (const path of [paths.workspace, paths.statements,
				"/api/v2/openapi.json", "/problems/not-found", "/docs/changes"]) {
				const full = await get(path);
				const head = await send(service, "HEAD", path, { key: w.key });
				assert.equal(head.status, 200, path);
				assert.equal(head.text, "");
				for (const name of ["etag", "content-type", "vary",
					"cache-control"])
					assert.equal(head.headers[name], full.headers[name],
						`${path} ${name}`);
			}
			assert.equal((await send(service, "HEAD", paths.create,
				{ key: w.key })).status, 405);
			assert.equal((await send(service, "HEAD", paths.workspace)).status,
				401);
		});

		test("OPTIONS and 405 name the methods of the path", async () => {
			for (const [path, allow] of [[paths.workspace,
				["GET", "HEAD", "OPTIONS"]], [paths.create, ["OPTIONS", "POST"]]]) {
				const options = await send(service, "OPTIONS", path);
				assert.equal(options.status, 204);
				assert.deepEqual(methods(options), allow);
				for (const method of ["PUT", "DELETE", "PATCH", "BREW"]) {
					const reply = await sendRaw(service, rawRequest(method, path,
						[`Authorization: Bearer ${w.key}`]));
					// Some servers know no BREW.
					if (method === "BREW" && reply.status === 501) continue;
					assertProblem(reply, 405, "method_not_allowed");
					assert.deepEqual(/^allow: *(.*)$/im.exec(reply.head)[1]
						.trim().split(/, */).sort(), allow);
				}
			}
			assert.equal((await send(service, "OPTIONS", "/nothing")).status, 404);
		});

		test("a target that names the origin first", async () => {
			const reply = await sendRaw(service, [
				`GET ${service.baseUrl}${paths.workspace} HTTP/1.1`,
				`Host: 127.0.0.1:${service.port}`, "Connection: close",
				`Authorization: Bearer ${w.key}`, "", ""].join("\r\n"));
			assert.equal(reply.status, 200, reply.text);
		});

		test("406: no type that the operation has", async () => {
			for (const accept of ["text/html", "application/xml",
				"application/json;q=0", "*/*;q=0", "image/*, text/plain"]) {
				const before = await size();
				assertProblem(await get(paths.workspace, { Accept: accept }), 406,
					"not_acceptable");
				assertProblem(await create({ Accept: accept }), 406,
					"not_acceptable");
				assert.equal(await size(), before);
			}
			for (const accept of ["*/*", "application/*", "APPLICATION/JSON",
				"text/html, application/json;q=0.1", "application/json;v=1", ""])
				assert.equal((await get(paths.workspace, { Accept: accept })).status,
					200, accept);
		});

		test("415: a coded body, with what would be taken", async () => {
			const reply = await create({ "Content-Encoding": "gzip" });
			assertProblem(reply, 415, "unsupported_media_type");
			assert.equal(reply.headers["accept-encoding"], "identity");
			assert.equal(reply.headers.accept, "application/json");
			assert.equal((await create({ "Content-Encoding": "identity" })).status,
				201);
		});

		test("Expect and TE change nothing", async () => {
			const body = JSON.stringify(actionBody(w));
			const reply = await sendRaw(service, rawRequest("POST", paths.create, [
				`Authorization: Bearer ${w.key}`, "Content-Type: application/json",
				`Content-Length: ${body.length}`, "TE: trailers, deflate;q=0.5",
				"Expect: 100-continue"], body));
			const last = reply.head.startsWith("HTTP/1.1 100") ? reply.text
				: reply.head;
			assert.match(last, /^HTTP\/1.1 201/);
		});

		test("Range is passed over", async () => {
			for (const path of [paths.workspace, "/api/v2/openapi.json"]) {
				const reply = await get(path, { Range: "bytes=0-9" });
				assert.equal(reply.status, 200, path);
				assert.ok(reply.json, path);
			}
		});

		test("writes and refusals are kept by nobody", async () => {
			for (const reply of [await create(), await get("/nothing"),
				await send(service, "GET", paths.workspace)])
				assert.equal(reply.headers["cache-control"], "no-store");
		});

		test("the document and the pages are for all caches", async () => {
			for (const path of ["/api/v2/openapi.json", "/docs/changes",
				"/docs/changes.json"]) {
				const reply = await send(service, "GET", path);
				assert.equal(reply.status, 200, path);
				assert.match(reply.headers["cache-control"], /^public/);
				const same = await send(service, "GET", path,
					{ headers: { "If-None-Match": reply.headers.etag } });
				assert.equal(same.status, 304);
			}
		});

		describe("paging", () => {
			const list = (query) => get(`${paths.statements}${query}`);

			test("next leads through all, and the filter stays", async () => {
				const whole = await list("?limit=200");
				assert.equal(whole.headers.link, undefined);
				const seen = [];
				let path = `${paths.statements}?limit=1&status=imp%6frted`;
				while (path) {
					const reply = await get(path);
					assert.equal(reply.status, 200, reply.text);
					assert.equal(reply.json.data.length, 1);
					seen.push(...reply.json.data);
					const link = LinkHeader.parse(reply.headers.link ?? "");
					assert.equal(link.has("rel", "next"), reply.json.has_more);
					[path] = link.get("rel", "next").map(({ uri }) => uri);
					if (!path) break;
					const url = new URL(path, service.baseUrl);
					assert.equal(url.origin, service.baseUrl);
					assert.equal(url.searchParams.get("after_id"),
						String(reply.json.next_after_id));
					assert.equal(url.searchParams.get("status"), "imported");
					assert.equal(url.searchParams.get("limit"), "1");
				}
				assert.ok(seen.length > 1);
				assert.deepEqual(seen, whole.json.data);
				assert.deepEqual(seen.map((r) => r.id),
					[...seen.map((r) => r.id)].sort((a, b) => a - b));
			});

			test("a 304 keeps the link", async () => {
				const reply = await list("?limit=1");
				const same = await get(`${paths.statements}?limit=1`,
					{ "If-None-Match": reply.headers.etag });
				assert.equal(same.status, 304);
				assert.equal(same.headers.link, reply.headers.link);
			});

			test("limit has bounds; others are refused by name", async () => {
				for (const [query, name] of [["limit=0", "limit"],
					["limit=201", "limit"], ["limit=1.0", "limit"],
					["limit=", "limit"], ["after_id=x", "after_id"],
					["after_id=-1", "after_id"], ["colour=red", "colour"],
					["Limit=1", "Limit"], ["a%26b=1", "a&b"]]) {
					const p = assertProblem(await list(`?${query}`), 422,
						"validation_failed");
					assert.deepEqual(named(p), [name], query);
				}
				for (const query of ["limit=1&limit=1", "limit=1&lim%69t=2"])
					assert.deepEqual(named(assertProblem(await list(`?${query}`),
						400, "malformed_request")), ["limit"], query);
				for (const query of ["?limit=1", "?limit=200", "?after_id=0", "?",
					"?limit=1&"])
					assert.equal((await list(query)).status, 200, query);
			});
		});

		describe("browsers of other origins", () => {
			const preflight = (from, path, method = "POST") =>
				send(service, "OPTIONS", path, { headers: { Origin: from,
					"Access-Control-Request-Method": method,
					"Access-Control-Request-Headers":
						"authorization,content-type,idempotency-key" } });

			test("one that is listed may ask, and may read the reply",
				async () => {
					const reply = await preflight(origin, paths.create);
					assert.equal(reply.status, 204);
					assert.equal(reply.headers["access-control-allow-origin"],
						origin);
					assert.match(reply.headers["access-control-allow-methods"],
						/\bPOST\b/);
					const allowed = reply.headers["access-control-allow-headers"]
						.toLowerCase().split(/, */);
					for (const name of ["authorization", "content-type",
						"idempotency-key", "if-match", "traceparent"])
						assert.ok(allowed.includes(name), name);
					assert.ok(vary(reply).includes("Origin"));
					for (const made of [await create({ Origin: origin }),
						await get("/nothing", { Origin: origin }),
						await get(paths.workspace, { Origin: origin })]) {
						assert.equal(made.headers["access-control-allow-origin"],
							origin);
						const shown = made.headers["access-control-expose-headers"]
							.split(", ");
						for (const name of ["Accept", "Accept-Encoding", "Allow",
							"ETag", "Location", "X-Request-Id"])
							assert.ok(shown.includes(name), name);
						assert.equal(made.headers[
							"access-control-allow-credentials"], undefined);
						assert.ok(vary(made).includes("Origin"));
					}
				});

			test("one that is not listed may neither", async () => {
				for (const from of ["https://evil.example", "null", "*",
					`${origin}.evil.example`, `${origin}:8443`,
					"http://app.example.com", "https://APP.example.com",
					`${origin}, https://evil.example`]) {
					for (const reply of [await preflight(from, paths.create),
						await get(paths.workspace, { Origin: from })]) {
						assert.equal(Object.keys(reply.headers).filter((name) =>
							name.startsWith("access-control")).length, 0, from);
						assert.ok(vary(reply).includes("Origin"), from);
					}
				}
			});
		});

		// servers.test.mjs verifies what came through each of them.
		test("ends", async () => {
			await service.stop();
			service.remove();
		});
	});

describe("as it is shipped, behind a path of its own", () => {
	const prefix = "/finance/ledger";
	const service = new Service({ build: "debug",
		env: { PROBITY_BASE_URL: `https://api.example.com${prefix}` } });
	let w;

	test("starts", async () => {
		await service.start();
		w = provision(service, "acme");
		importStatements(service);
	});

	test("no CORS header is sent", async () => {
		const headers = { Origin: origin, "Access-Control-Request-Method": "GET" };
		for (const method of ["OPTIONS", "GET"]) {
			const reply = await send(service, method, prefix + paths.workspace,
				{ key: w.key, headers });
			assert.ok(reply.status < 300);
			assert.equal(Object.keys(reply.headers).filter((name) =>
				name.startsWith("access-control")).length, 0);
			assert.ok(!vary(reply).includes("Origin"));
		}
	});

	test("links keep the prefix", async () => {
		const reply = await send(service, "GET",
			`${prefix}${paths.statements}?limit=1`, { key: w.key });
		const [{ uri }] = LinkHeader.parse(reply.headers.link).get("rel", "next");
		assert.ok(uri.startsWith(`${prefix}${paths.statements}?`), uri);
		assert.equal((await send(service, "GET", uri, { key: w.key })).status, 200);
		assertProblem(await send(service, "GET", paths.statements, { key: w.key,
			unchecked: "without the prefix it is no operation" }), 404, "not_found");
		const problem = assertProblem(await send(service, "GET",
			`${prefix}/nothing`, { key: w.key }), 404);
		assert.equal(problem.type,
			`https://api.example.com${prefix}/problems/not-found`);
	});

	test("an origin that is none stops the program, and says which", () => {
		const r = service.run(`${service.bin}/probityctl`, ["openapi"],
			{ env: { PROBITY_CORS_ORIGINS: "*" } });
		assert.notEqual(r.code, 0);
		assert.match(r.stderr, /cors_origins.*exact origin/);
	});

	describe("traceparent", () => {
		const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
		const create = (headers) => send(service, "POST", prefix + paths.create,
			{ key: w.key, body: actionBody(w), headers });
		const git = (...args) => service.run("git",
			["-C", service.ledger("acme"), ...args]);

		test("stands beside the event, under the commit's signature",
			async () => {
				const { evidence } = (await create({ traceparent: trace,
					tracestate: "a=b" })).json;
				const list = git("cat-file", "blob", `${evidence.commit}:x-traces`);
				assert.equal(list.stdout, `${evidence.seq} ${trace}\n`);
				const hash = createHash("sha256").update(list.stdout).digest("hex");
				assert.match(git("log", "-1", "--format=%B", evidence.commit).stdout,
					new RegExp(`^Ledger-X: x-traces ${hash}$`, "m"));
			});

		test("stands in the auditors' reads of the event", async () => {
			const key = auditorKey(service, "acme");
			const shown = async (made) => {
				const reply = await send(service, "GET",
					`${prefix}/api/v2/ledger/events/${made.json.evidence.seq}`,
					{ key });
				assert.equal(reply.status, 200, reply.text);
				return reply.json.traceparent;
			};
			assert.equal(await shown(await create({ traceparent: trace })), trace);
			assert.equal(await shown(await create({})), null);
		});

		test("each of a batch has its own, and others none", async () => {
			const replies = await Promise.all(Array.from({ length: 24 }, (_, i) =>
				create(i % 3 ? { traceparent: trace.replace(/b7../,
					(100 + i).toString().padStart(4, "f")) } : {})));
			for (const [i, { json: { evidence } }] of replies.entries()) {
				const lines = git("cat-file", "blob",
					`${evidence.commit}:x-traces`).stdout.split("\n");
				const own = lines.filter((l) => l.startsWith(`${evidence.seq} `));
				assert.equal(own.length, i % 3 ? 1 : 0);
				if (i % 3) assert.ok(own[0].includes(`-f${100 + i}`), own[0]);
			}
		});

		test("one that is not well-formed is as none", async () => {
			for (const traceparent of [trace.toUpperCase(), `${trace}-x`,
				trace.replace(/0af\w+/, "0".repeat(32)), "x", ""]) {
				const reply = await create({ traceparent });
				assert.equal(reply.status, 201, traceparent);
				assert.notEqual(git("cat-file", "-e",
					`${reply.json.evidence.commit}:x-traces`).code, 0, traceparent);
			}
		});

		test("the request's own id is not the client's to choose", async () => {
			const theirs = "018f0000-0000-7000-8000-000000000000";
			const reply = await create({ "X-Request-Id": theirs });
			const id = reply.headers["x-request-id"];
			assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
			assert.notEqual(id, theirs);
			const { commit, seq } = reply.json.evidence;
			const line = git("cat-file", "blob", `${commit}:events`).stdout
				.split("\n").find((l) => l.includes(`"seq":${seq},`));
			assert.equal(JSON.parse(line.slice(line.indexOf(" "))).request, id);
		});
	});

	describe("the change ledger", () => {
		const page = (path, headers = {}) =>
			send(service, "GET", prefix + path, { headers });

		test("each row of the document, aligned", async () => {
			const { json, headers } = await page("/docs/changes.json");
			assert.match(headers["content-type"], /^application\/json/);
			const document = (await page("/api/v2/openapi.json")).json;
			const rows = Object.entries(document.paths).flatMap(([path, ops]) =>
				Object.entries(ops).map(([method, op]) =>
					[`${method.toUpperCase()} ${path}`, op]));
			assert.equal(document.info.version, "2.0.0");
			assert.equal(json.version, "2.0.0");
			assert.deepEqual(json.totals, { operations: rows.length,
				catalog_mappings: rows.length, scope_mismatches: 0,
				deprecated: 0 });
			assert.equal(json.data.length, rows.length);
			for (const [name, op] of rows) {
				const row = json.data.find((r) => r.operation === name);
				assert.equal(row.scope, op["x-scope"]);
				assert.equal(row.alignment, "aligned");
				for (const member of ["product", "stability", "lifecycle",
					"since"]) {
					assert.equal(row[member], op[`x-${member}`], name);
					assert.ok(row[member], name);
				}
				assert.equal(row.stability, "Stable");
				assert.equal(row.lifecycle, "Published");
				assert.equal(row.summary, `Published in 2.0.0: ${op.summary}`);
				assert.equal(op.deprecated, undefined);
			}
		});

		test("for people, and for programs by Accept", async () => {
			const html = await page("/docs/changes",
				{ Accept: "text/html,application/xhtml+xml,*/*;q=0.8" });
			assert.match(html.headers["content-type"], /^text\/html/);
			assert.ok(vary(html).includes("Accept"));
			assert.match(html.headers["content-security-policy"],
				/^default-src 'none'; style-src 'self'; /);
			assert.ok(!/<script|<style|<img|style=|\son[a-z]+=/.test(html.text));
			assert.ok(html.text.includes(`href="${prefix}/docs/style.css"`));
			const json = await page("/docs/changes",
				{ Accept: "application/json" });
			assert.equal(json.text, (await page("/docs/changes.json")).text);
			for (const row of json.json.data)
				assert.ok(html.text.includes(`<code>${row.operation}</code>`));
			assert.notEqual(json.headers.etag, html.headers.etag);
		});
	});

	test("verifies and rebuilds", () => finish(service, { long: true }));
});
