// Requests that must be refused: each with the status, the problem and the name
// of what is wrong, and without a change to the ledger.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { close, paths, rawRequest, send, sendRaw } from "./support/client.mjs";
import { Contract, assertProblem, named } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { Service } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

let service, w, contract, size;

const ledgerSize = () => service.ctl("acme", "ledger status").size;

async function refused(method, path, status, code, options = {}) {
	const reply = await send(service, method, path, { key: w.key, ...options });
	const p = assertProblem(reply, status, code);
	if (contract.declares(method, path)) contract.check(method, path, reply);
	return { ...reply, problem: p };
}

const create = (status, code, body, options = {}) =>
	refused("POST", paths.create, status, code, { body, ...options });

before(async () => {
	service = await new Service({ build: "debug", worker: false }).start();
	w = provision(service, "acme");
	contract = await Contract.of(service);
	size = ledgerSize();
});
after(close);

describe("bodies that cannot be read", () => {
	const cases = {
		"no body": "", "white space": "  \n", "no JSON": "hello",
		"truncated": '{"action_key": "a', "open object": '{"a":1',
		"two values": "{}{}", "trailing comma": '{"a":1,}',
		"single quotes": "{'a':1}", "comment": "{/* */}",
		"NaN": '{"amount": NaN}', "Infinity": '{"amount": -Infinity}',
		"leading zero": '{"amount": 01}', "leading plus": '{"amount": +1}',
		"no digit after the point": '{"amount": 1.}', "hex": '{"amount": 0x1}',
		"duplicate member": '{"action_key":"a","action_key":"b"}',
		"duplicate member, escaped": '{"amount":1,"\\u0061mount":2}',
		"lone surrogate": '{"action_key":"\\ud800"}',
		"control character": '{"action_key":"a\u0001"}',
		"bad escape": '{"action_key":"\\x"}',
		"deeply nested": "[".repeat(100000) + "]".repeat(100000),
		"deeply nested objects": '{"a":'.repeat(50000) + "1" + "}".repeat(50000),
		"byte order mark": "\ufeff{}",
	};
	for (const [name, body] of Object.entries(cases))
		test(name, () => create(400, "malformed_request", body));
	for (const [name, bytes] of Object.entries({
		"invalid UTF-8": Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
		"overlong UTF-8": Buffer.from('{"a":"\xc0\xaf"}', "latin1"),
		"UTF-8 surrogate": Buffer.from('{"a":"\xed\xa0\x80"}', "latin1"),
		"UTF-16": Buffer.from("{}", "utf16le"),
		"zero byte": Buffer.from('{"a":"\0"}'),
	})) test(name, () => create(400, "malformed_request", bytes));
	test("a valid value that is no object", async () => {
		for (const body of ["[]", "1", '"x"', "null", "true"]) {
			const reply = await send(service, "POST", paths.create,
				{ key: w.key, body });
			assert.ok([400, 422].includes(reply.status), `${body}: ${reply.text}`);
			assertProblem(reply, reply.status);
		}
	});
});

describe("wrong types, in every member", () => {
	const members = ["action_key", "source_uid", "arrangement_uid",
		"connector_id", "counterparty_id", "currency", "amount", "purpose",
		"external_reference", "calculation_source", "calculation_reference",
		"execution_mode"];
	const wrong = [true, [], {}, [1], { a: 1 }];
	for (const name of members)
		test(name, async () => {
			for (const value of wrong) {
				const { problem } = await create(422, "validation_failed",
					actionBody(w, { [name]: value }));
				assert.deepEqual(named(problem), [`#/${name}`],
					JSON.stringify(value));
			}
		});
	test("numbers where text belongs, text where numbers belong", async () => {
		for (const [name, value] of [["action_key", 1], ["currency", 978],
			["source_uid", 5], ["execution_mode", 0], ["purpose", 3],
			["connector_id", "x"], ["connector_id", 1.5],
			["connector_id", 1e300], ["counterparty_id", -1],
			["counterparty_id", 0]]) {
			const { problem } = await create(422, "validation_failed",
				actionBody(w, { [name]: value }));
			assert.deepEqual(named(problem), [`#/${name}`], `${name}=${value}`);
		}
	});
	test("each required member is missed, and all at once", async () => {
		const required = ["action_key", "source_uid", "connector_id",
			"counterparty_id", "currency", "amount", "execution_mode"];
		for (const name of required) {
			const { problem } = await create(422, "validation_failed",
				actionBody(w, { [name]: undefined }));
			assert.deepEqual(named(problem), [`#/${name}`]);
		}
		const { problem } = await create(422, "validation_failed", {});
		assert.deepEqual(named(problem).sort(),
			required.map((name) => `#/${name}`).sort());
	});
	test("null counts as absent or as wrong, never as a value", async () => {
		const { problem } = await create(422, "validation_failed",
			actionBody(w, { amount: null }));
		assert.deepEqual(named(problem), ["#/amount"]);
	});
	test("unknown members are named", async () => {
		const { problem } = await create(422, "validation_failed",
			actionBody(w, { colour: "red", "a/b~c": 1 }));
		assert.deepEqual(named(problem).sort(), ["#/a~1b~0c", "#/colour"]);
	});
	test("bounds of texts", async () => {
		for (const [name, value] of [["action_key", "a".repeat(65)],
			["action_key", ""], ["purpose", "x".repeat(281)],
			["external_reference", "x".repeat(36)],
			["calculation_source", "x".repeat(121)],
			["execution_mode", "LIVE"], ["currency", "EURO"], ["currency", "eur"],
			["currency", "ZZZ"], ["currency", "XAU"], ["source_uid", "not-a-uid"],
			["purpose", "a\u0000b"]]) {
			const { problem } = await create(422, "validation_failed",
				actionBody(w, { [name]: value }));
			assert.ok(named(problem).includes(`#/${name}`),
				`${name}: ${JSON.stringify(problem)}`);
		}
	});
});

describe("amounts", () => {
	const digits20 = "12345678901234567890";
	for (const text of ["1e400", "-0", "-0.0", "0", "0.00", "-1", "0.001",
		"1.005", digits20, `"${digits20}"`, '"NaN"', '"Infinity"', '""', '" 1"',
		'"1,00"', '"1.0.0"', '"0x10"', '"1e400"', '"-0"', "1e-400", "1e19",
		"9".repeat(500), '"٣"'])
		test(text.slice(0, 30), async () => {
			const body = JSON.stringify(actionBody(w, { amount: "AMOUNT" }))
				.replace('"AMOUNT"', text);
			const { problem } = await create(422, "validation_failed", body);
			assert.deepEqual(named(problem), ["#/amount"], problem.detail);
		});
	test("0.001 in JPY, 0.1 in JPY, 0.0001 in KWD", async () => {
		for (const [source, currency, amount] of [["JPY-1", "JPY", "0.001"],
			["JPY-1", "JPY", "0.1"], ["KWD-1", "KWD", "0.0001"]]) {
			const { problem } = await create(422, "validation_failed",
				actionBody(w, { source_uid: w.sources[source].uid, currency, amount }));
			assert.deepEqual(named(problem), ["#/amount"]);
		}
	});
});

describe("the source's scope", () => {
	const failing = (problem) => problem.controls
		.filter((c) => c.outcome === "failed").map((c) => c.id);
	const cases = {
		source_amount: () => ({ source_uid: w.sources["EUR-SMALL"].uid,
			amount: "100.01" }),
		currency_match: () => ({ currency: "USD" }),
		counterparty_match: () => ({ counterparty_id: w.other.id }),
		connector_mode: () => ({ connector_id: 999 }),
		live_permitted: () => ({ execution_mode: "live" }),
		arrangement_match: () => ({ arrangement_uid: w.arrangement.uid }),
		source_sealed: () => ({ source_uid: "018f0000-0000-7000-8000-000000000000" }),
	};
	for (const [id, changes] of Object.entries(cases))
		test(id, async () => {
			const { problem } = await create(422, "control_failed",
				actionBody(w, changes()));
			assert.ok(failing(problem).includes(id), JSON.stringify(problem));
		});
	test("every failing control is named", async () => {
		const { problem } = await create(422, "control_failed", actionBody(w,
			{ currency: "USD", counterparty_id: w.other.id, connector_id: 999 }));
		assert.deepEqual(failing(problem).sort(), ["connector_mode",
			"counterparty_match", "currency_match"]);
	});
});

describe("credentials", () => {
	const challenge = (reply) => reply.headers["www-authenticate"];
	test("none", async () => {
		const r = await refused("GET", paths.workspace, 401, "unauthorized",
			{ key: null });
		assert.equal(challenge(r), 'Bearer realm="probity"');
	});
	test("not a key", async () => {
		const key = w.key;
		const flip = (s, i) => s.slice(0, i) + (s[i] === "a" ? "b" : "a") +
			s.slice(i + 1);
		for (const bad of ["x", "", "pby_test_", key + "a", key.slice(0, -1),
			flip(key, key.length - 1), flip(key, key.length - 10), key + " " + key,
			key.replace("_test_", "_live_"), "pby_test_other_" +
			key.slice("pby_test_acme_".length), "x".repeat(7000)]) {
			const r = await refused("GET", paths.workspace, 401, "unauthorized",
				{ key: null, headers: { Authorization: `Bearer ${bad}` } });
			assert.match(challenge(r), /^Bearer realm="probity"/, bad);
		}
	});
	test("other schemes", async () => {
		// RFC 6750, 3.1: an error is of a bearer token alone.
		for (const [value, error] of [["Basic YTpi", ""], [`Token ${w.key}`, ""],
			["bearer", ', error="invalid_token"']]) {
			const r = await refused("GET", paths.workspace, 401, "unauthorized",
				{ key: null, headers: { Authorization: value } });
			assert.equal(challenge(r), `Bearer realm="probity"${error}`, value);
		}
	});
	test("the scheme's case does not matter", async () => {
		const r = await send(service, "GET", paths.workspace,
			{ headers: { Authorization: `bEARER ${w.key}` } });
		assert.equal(r.status, 200);
	});
	test("a key that was revoked, one that was rotated", async () => {
		const issue = () => service.ctl("acme", "credential issue",
			{ application: w.application.uid });
		const one = issue(), two = issue();
		service.ctl("acme", "credential revoke", { uid: one.uid });
		const renewed = service.ctl("acme", "credential rotate", { uid: two.uid });
		for (const { key } of [one, two])
			await refused("GET", paths.workspace, 401, "unauthorized", { key });
		const r = await send(service, "GET", paths.workspace, { key: renewed.key });
		assert.equal(r.status, 200);
		size += 4;
	});
	test("a scope that is missing", async () => {
		const narrow = service.ctl("acme", "credential issue",
			{ application: w.application.uid, scopes: "workspace:read" });
		size += 1;
		const r = await refused("GET", paths.financeCore, 403, "forbidden",
			{ key: narrow.key });
		assert.equal(challenge(r), 'Bearer realm="probity", ' +
			'error="insufficient_scope", scope="finance-core:read"');
		// Whether it may is judged before what it sent.
		await refused("POST", paths.create, 403, "forbidden",
			{ key: narrow.key, body: "not json" });
	});
	test("an entitlement that is missing", async () => {
		const app = service.ctl("acme", "application create", { name: "reader",
			responsible: "b@example.com", entitlements: "core-platform",
			scopes: "workspace:read,finance-core:read" });
		const { key } = service.ctl("acme", "credential issue",
			{ application: app.uid });
		size += 2;
		await refused("GET", paths.financeCore, 403, "forbidden", { key });
	});
	test("an application that is suspended, and resumed", async () => {
		const app = service.ctl("acme", "application create", { name: "paused",
			responsible: "b@example.com", entitlements: "core-platform",
			scopes: "workspace:read" });
		const { key } = service.ctl("acme", "credential issue",
			{ application: app.uid });
		service.ctl("acme", "application suspend", { uid: app.uid });
		const r = await send(service, "GET", paths.workspace, { key });
		assert.ok([401, 403].includes(r.status), r.text);
		service.ctl("acme", "application resume", { uid: app.uid });
		assert.equal((await send(service, "GET", paths.workspace, { key })).status,
			200);
		service.ctl("acme", "application revoke", { uid: app.uid });
		assert.ok([401, 403].includes(
			(await send(service, "GET", paths.workspace, { key })).status));
		size += 5;
	});
	test("no key is in a reply or in a log", async () => {
		const key = w.key + "Z";
		const r = await refused("GET", paths.workspace, 401, "unauthorized", { key });
		assert.ok(!r.text.includes(key.slice(-40)));
		assert.ok(!service.log("fcgi").includes(w.key.slice(-49)));
	});
});

describe("paths, methods, headers", () => {
	test("no such path, no such record", async () => {
		await refused("GET", "/api/v2/nothing", 404, "not_found");
		await refused("GET", "/", 404, "not_found");
		await refused("GET", "/api/v1/workspace", 404, "not_found");
		for (const uid of ["018f0000-0000-7000-8000-000000000000",
			"00000000-0000-0000-0000-000000000000",
			"ffffffff-ffff-ffff-ffff-ffffffffffff"])
			await refused("GET", paths.action(uid), 404, "not_found");
	});
	test("a path's uid that is none", async () => {
		const r = await send(service, "GET", paths.action("1"), { key: w.key });
		assert.ok([404, 422].includes(r.status), r.text);
		assertProblem(r, r.status);
	});
	test("405 says what is offered", async () => {
		for (const [method, path, allow] of [["DELETE", paths.create, "POST"],
			["GET", paths.create, "POST"], ["PUT", paths.workspace, "GET"],
			["POST", paths.financeCore, "GET"]]) {
			const r = await refused(method, path, 405, "method_not_allowed");
			assert.ok(r.headers.allow.split(/, */).includes(allow), r.headers.allow);
		}
	});
	test("unknown, repeated and bad query parameters", async () => {
		for (const [query, name] of [["colour=red", "colour"], ["limit=0", "limit"],
			["limit=201", "limit"], ["limit=x", "limit"], ["limit=", "limit"],
			["after_id=-1", "after_id"], ["uid=1", "uid"],
			["limit=99999999999999999999", "limit"]]) {
			const { problem } = await refused("GET", `${paths.statements}?${query}`,
				422, "validation_failed");
			assert.deepEqual(named(problem), [name], query);
		}
		const { problem } = await refused("GET",
			`${paths.statements}?limit=1&limit=2`, 400, "malformed_request");
		assert.deepEqual(named(problem), ["limit"]);
		await refused("GET", `${paths.statements}?uid=%ff`, 400,
			"malformed_request");
	});
	test("415: a body of another type", async () => {
		for (const type of ["text/plain", "application/xml",
			"application/x-www-form-urlencoded", "application/json; charset=latin1",
			"application/jsonx", undefined])
			await create(415, "unsupported_media_type", actionBody(w),
				{ headers: { "Content-Type": type } });
		const r = await send(service, "POST", paths.create, { key: w.key,
			body: actionBody(w, { amount: "oops" }),
			headers: { "Content-Type": 'Application/JSON; charset="UTF-8"' } });
		assert.equal(r.status, 422);
	});
	test("413: a body above the limit, by length and by content", async () => {
		const body = JSON.stringify(actionBody(w, { purpose: "x".repeat(1048576) }));
		await create(413, "too_large", body);
		await create(413, "too_large", undefined, {
			headers: { "Content-Type": "application/json",
				"Transfer-Encoding": "chunked" },
			raw: (req) => req.end(body) });
	});
	test("a body just within the limit is read", async () => {
		const start = JSON.stringify(actionBody(w, { purpose: "" })).slice(0, -2);
		const body = start + "x".repeat(1048576 - start.length - 2) + '"}';
		assert.equal(Buffer.byteLength(body), 1048576);
		await create(422, "validation_failed", body);
	});
	test("a body where none belongs", async () => {
		const r = await send(service, "GET", paths.workspace,
			{ key: w.key, body: '{"a":1}' });
		assertProblem(r, 400, "malformed_request");
	});
	test("431: header fields above the limit", async () => {
		const field = "x".repeat(5000);
		const r = await send(service, "GET", paths.workspace, { key: w.key,
			unchecked: "lighttpd refuses so much by itself",
			headers: Object.fromEntries([..."abcdefgh"].map((c) =>
				[`X-${c}`, field])) });
		assert.equal(r.status, 431);
		await refused("GET", paths.workspace, 431, "headers_too_large",
			{ headers: Object.fromEntries(Array.from({ length: 200 },
				(_, i) => [`X-${i}`, "1"])) });
	});
	for (const [name, lines] of Object.entries({
		"Authorization": (key) => [`Authorization: Bearer ${key}`],
		"Content-Type": (key) => [`Authorization: Bearer ${key}`,
			"Content-Type: text/plain"],
		"Idempotency-Key": (key) => [`Authorization: Bearer ${key}`,
			"Idempotency-Key: a", "Idempotency-Key: b"],
	}))
		test(`a repeated ${name}`, async () => {
			const body = JSON.stringify(actionBody(w));
			const r = await sendRaw(service, rawRequest("POST", paths.create, [
				`Authorization: Bearer ${w.key}`, "Content-Type: application/json",
				`Content-Length: ${body.length}`,
				...lines(w.key).slice(name === "Authorization" ? 0 : 1)], body));
			// Joined by the web server, two credentials are none.
			assert.equal(r.status, name === "Authorization" ? 401 : 400, r.text);
		});
	test("an underscore does not stand in for a dash", async () => {
		const r = await sendRaw(service, rawRequest("GET", paths.workspace, [
			`Authorization: Bearer ${w.key}`, "Idempotency_Key: a",
			"Idempotency-Key: b"]));
		assert.equal(r.status, 400, r.text);
	});
	test("a bad Idempotency-Key", async () => {
		for (const value of ["x".repeat(256), "é", '"open', "a,b"]) {
			const { problem } = await create(400, "malformed_request",
				actionBody(w), { headers: { "Idempotency-Key":
					Buffer.from(value).toString("latin1") } });
			assert.deepEqual(named(problem), ["Idempotency-Key"]);
		}
	});
	test("the path is judged as it was sent", async () => {
		for (const target of ["/api/v2/x/../workspace", "/api/v2/%2e%2e/workspace",
			"/api//v2/workspace", "/api/v2/./workspace", "/api/v2/work%00space",
			"/api/v2/work%fespace", "/api/v2/work%2", "/api%2Fv2%2Fworkspace"]) {
			const r = await sendRaw(service, rawRequest("GET", target,
				[`Authorization: Bearer ${w.key}`]));
			assert.ok([400, 404].includes(r.status), `${target}: ${r.status}`);
			assertProblem(r, r.status);
		}
		const r = await sendRaw(service, rawRequest("GET", "/api/v2/w%6Frkspace",
			[`Authorization: Bearer ${w.key}`]));
		assert.equal(r.status, 200, r.text);
	});
	test("a body that ends before its length", async () => {
		const before = ledgerSize();
		const r = await sendRaw(service, rawRequest("POST", paths.create, [
			`Authorization: Bearer ${w.key}`, "Content-Type: application/json",
			"Content-Length: 500"], '{"action_key":'), { end: true })
			.catch(() => ({ status: 400 }));
		assert.ok(!(r.status < 400), `${r.status}`);
		assert.equal(ledgerSize(), before);
	});
});

test("nothing that was refused is in the ledger", () => {
	assert.equal(ledgerSize(), size);
});

test("the ledger verifies, and the read model rebuilds the same", () =>
	finish(service));
