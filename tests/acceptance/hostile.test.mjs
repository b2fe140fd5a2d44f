// Clients with ill will, through each web server: header fields that are two
// things at once, requests that do not end, many connections, and bytes that
// would be lines of the log.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { close, paths, rawRequest, send, sendRaw } from "./support/client.mjs";
import { finish } from "./support/evidence.mjs";
import { exchange, record, requestOf } from "./support/fastcgi.mjs";
import { Service } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

after(close);

const refusal = (reply) => assert.ok(reply.status >= 400 && reply.status < 500,
	`${reply.status} ${reply.text}`);

for (const kind of ["lighttpd", "apache", "nginx"])
	describe(kind, () => {
		const service = new Service({ kind, worker: false,
			env: { PROBITY_LOG_LEVEL: "debug" } });
		let w, body;

		const authority = () => `Authorization: Bearer ${w.key}`;
		const get = (lines, target = paths.workspace) =>
			sendRaw(service, rawRequest("GET", target, lines));
		const post = (lines, text = body) => sendRaw(service,
			rawRequest("POST", paths.create, [authority(),
				"Content-Type: application/json", ...lines], text));
		const size = async () => Number((await send(service, "GET",
			paths.workspace, { key: w.key })).headers["ledger-size"]);

		test("starts", async () => {
			await service.start();
			w = provision(service, "acme");
			body = JSON.stringify(actionBody(w));
			assert.equal((await get([authority()])).status, 200);
			assert.equal((await post([`Content-Length: ${body.length}`])).status,
				201);
		});

		// What one server joins, another passes twice, a third drops or refuses
		// by itself: never is it the request of one of the two.
		test("fields that carry authority or integrity, twice", async () => {
			const before = await size();
			const length = `Content-Length: ${body.length}`;
			for (const lines of [[authority()], [`Authorization: Bearer x`],
				["Idempotency-Key: a", "Idempotency-Key: b"],
				["Idempotency-Key: a", "Idempotency-Key: a"],
				["Content-Digest: sha-256=:YQ==:", "Content-Digest: sha-256=:Yg==:"],
				["Signature-Input: a=()", "Signature-Input: b=()"],
				["Signature: a=:YQ==:", "Signature: b=:YQ==:"],
				["Content-Type: text/plain"]])
				if (lines[0].startsWith("Content-Digest") ||
					lines[0].startsWith("Signature")) {
					// Lists: joined they are one field, and mean both.
					const reply = await post([length, ...lines]);
					assert.ok(reply.status === 201 || reply.status === 400,
						`${lines} ${reply.status}`);
				} else {
					refusal(await post([length, ...lines]));
				}
			assert.ok(await size() <= before + 3);
		});

		test("two Host fields, two lengths", async () => {
			const before = await size();
			refusal(await get([authority(), "Host: evil.example"]));
			for (const lines of [
				[`Content-Length: ${body.length}`, "Content-Length: 2"],
				["Content-Length: 2", `Content-Length: ${body.length}`],
				[`Content-Length: ${body.length}, 2`], ["Content-Length: -1"],
				["Content-Length: 0x10"], ["Content-Length: 1e3"]])
				refusal(await post(lines));
			assert.equal(await size(), before);
		});

		test("underscores stand in for no dash", async () => {
			const reply = await get([`Authorization: Bearer x`, `AUTHORIZATION_: ${w.key}`]);
			assert.equal(reply.status, 401);
			for (const [one, two] of [
				["Idempotency_Key: forged", "Idempotency-Key: mine"],
				["Content_Digest: sha-256=:YQ==:", "Content-Digest: sha-256=:Yg==:"],
				["Content_Length: 2", `Content-Length: ${body.length}`]]) {
				const lines = [one, two];
				if (!one.startsWith("Content_Length"))
					lines.push(`Content-Length: ${body.length}`);
				const made = await post(lines);
				// Dropped, or a repeat; never the forged one.
				assert.ok(made.status === 201 || made.status === 400,
					`${one} ${made.status}`);
				if (made.status !== 201 || !two.startsWith("Idem")) continue;
				const key = (name) => send(service, "POST", paths.create,
					{ key: w.key, body, headers: { "Idempotency-Key": name } });
				assert.equal((await key("mine")).headers["idempotency-replayed"],
					"true");
				assert.equal((await key("forged"))
					.headers["idempotency-replayed"], undefined);
			}
		});

		test("Proxy and others that look like settings", async () => {
			for (const line of ["Proxy: http://evil.example",
				"Script-Name: /x", "Request-Uri: /nothing",
				"Path-Info: /nothing", "Request-Method: DELETE",
				"X-Original-Url: /nothing", "X-Http-Method-Override: DELETE",
				"X-Forwarded-Host: evil.example", "Forwarded: host=evil.example",
				"Remote-User: root"]) {
				const reply = await get([authority(), line]);
				assert.equal(reply.status, 200, line);
				assert.ok(!reply.text.includes("evil"), line);
			}
		});

		test("a length and chunks: no second request in the body", async () => {
			const inner = rawRequest("POST", paths.create, [authority(),
				"Content-Type: application/json",
				`Content-Length: ${body.length}`], body);
			const before = await size();
			for (const coding of ["chunked", " chunked", "xchunked",
				"chunked, identity", "identity, chunked", "CHUNKED"]) {
				const text = `0\r\n\r\n${inner}`;
				const reply = await post([`Content-Length: ${text.length}`,
					`Transfer-Encoding: ${coding}`], text);
				// Refused, as a whole or for the empty body that the chunks
				// make; what follows is not read as a request.
				const statuses = `${reply.head}\r\n\r\n${reply.text}`
					.match(/^HTTP\/1\.1 (\d+)/gm).map((s) => Number(s.slice(9)));
				assert.ok(statuses[0] >= 400 && statuses[0] < 600,
					`${coding} ${statuses}`);
				assert.equal(statuses.length, 1, `${coding} ${statuses}`);
			}
			assert.equal(await size(), before);
		});

		test("fields too long, too many, and lines too long", async () => {
			const long = "x".repeat(70000);
			// A server that closes before it has read all may take its reply
			// with it; asked again it refuses again.
			for (const ask of [() => get([authority(), `X-A: ${long}`]),
				() => get([`Authorization: Bearer ${long}`]),
				() => get([authority()], `${paths.workspace}?${long}`),
				() => get([authority(), ...Array.from({ length: 500 },
					(_, i) => `X-${i}: 1`)]),
				() => post(["Content-Length: 99999999999999999999999"])])
				refusal(await ask().catch(ask));
			assert.equal((await get([authority()])).status, 200);
		});

		test("bytes that would be lines of the log", async () => {
			const forged = "request GET /forged 200";
			for (const [lines, target] of [
				[[`X-Request-Id: a\r${forged}`]], [[`X-Request-Id: a\n${forged}`]],
				[[`X-Request-Id: \x1b[31m${forged}`]],
				[[`X-Request-Id: a\0${forged}`]], [[`X-Request-Id: \x7f${forged}`]],
				[[`X-Request-Id: a\u0085${forged}`]],
				[[`X-Request-Id: a\u009b2K${forged}`]],
				[[`X-Request-Id: a\u2028${forged}\u202e`]],
				[["X-A: b"], `/api/v2/%0a${encodeURIComponent(forged)}`],
				[["X-A: b"], `/api/v2/%1b[31m${encodeURIComponent(forged)}`],
				[["X-A: b"], "/api/v2/\x1b[31mforged"],
				[["X-A: b"], "/api/v2/a\rforged"],
				[["X-A: b"], "/api/v2/%00forged"]])
				await get([authority(), ...lines], target).catch(() => null);
			await get([authority(), "X-Request-Id: theirs-1234"]);
			const log = readFileSync(join(service.dir, "log/fcgi.log"), "utf8");
			assert.match(log, /theirs=theirs-1234/);
			for (const line of log.split("\n")) {
				assert.ok(!/^\s*(\S+ )?request GET \/forged/.test(line), line);
				assert.ok(!/[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e]/.test(line),
					JSON.stringify(line));
			}
			assert.ok(!log.includes(w.key.slice(-49)));
		});

		test("clients that leave in the middle", async () => {
			const before = await size();
			const whole = rawRequest("POST", paths.create, [authority(),
				"Content-Type: application/json",
				`Content-Length: ${body.length}`], body);
			const gone = (text) => new Promise((done, fail) => {
				const socket = connect(service.port, "127.0.0.1", () =>
					socket.write(text, () => socket.resetAndDestroy()));
				socket.on("close", done).on("error", fail);
			});
			await Promise.all(Array.from({ length: 40 }, (_, i) => gone(i % 2
				? whole.slice(0, -5) : whole.slice(0, whole.length / 2))));
			// Those that sent all may be answered or not; each did it once.
			await Promise.all(Array.from({ length: 10 }, () => gone(
				rawRequest("GET", paths.statements, [authority()]))));
			const reply = await post([`Content-Length: ${body.length}`]);
			assert.equal(reply.status, 201);
			assert.equal(await size(), before + 1);
		});

		test("1,000 connections that say little, and service meanwhile",
			{ skip: kind === "apache" }, async () => {
				const slow = await Promise.all(Array.from({ length: 1000 },
					() => new Promise((done, fail) => {
						const socket = connect(service.port, "127.0.0.1", () => {
							socket.write("POST / HTTP/1.1\r\nHost: a\r\n");
							done(socket);
						});
						socket.on("error", fail);
					})));
				let open = 0;
				for (const socket of slow) {
					socket.removeAllListeners("error").on("error", () => {});
					socket.write("X-A: b\r\n");
				}
				for (let i = 0; i < 10; i++) {
					assert.equal((await get([authority()])).status, 200);
					assert.equal((await post([`Content-Length: ${body.length}`]))
						.status, 201);
				}
				for (const socket of slow) open += !socket.destroyed;
				assert.equal(open, 1000);
				for (const socket of slow) socket.destroy();
			});

		test("all is well afterwards", async () => {
			assert.equal((await get([authority()])).status, 200);
			assert.ok(service.alive("fcgi"));
			await finish(service, { long: true });
		});
	});

// A web server that keeps its connections to the program, and lets larger bodies
// through than the shipped configurations do.
describe("a kept FastCGI connection", () => {
	const service = new Service({ build: "debug", worker: false });

	test("starts", () => service.start());

	test("carries one request after the other", async () => {
		assert.deepEqual(await exchange(service, requestOf("GET", "/healthz"), 1),
			[200]);
		// What is read of a refused body is dropped.
		const body = Array(20).fill(Buffer.alloc(60000, "x"));
		assert.deepEqual(await exchange(service,
			requestOf("POST", "/nothing", body), 1), [404]);
	});

	test("no request is found in what was left of a body", async () => {
		// Wherever reading stops, records that are skipped lead to a request.
		const inner = requestOf("GET", "/healthz");
		const parts = [0, 8].map((shift) => {
			const part = Buffer.alloc(65528, record(5, Buffer.from(
				[1, 5, 0, 9, 0, 8, 0, 0]), 9));
			inner.copy(part, part.length - inner.length - shift);
			return part;
		});
		for (const part of parts) {
			const bytes = requestOf("POST", "/nothing", Array(262).fill(part));
			let seen = [];
			// A close while we still send may take the reply with it.
			for (let i = 0; i < 20 && seen.length === 0; i++)
				seen = await exchange(service, bytes);
			assert.deepEqual(seen, [404]);
		}
	});

	test("all is well afterwards", () => finish(service));
});
