// Requests made from the document: valid ones by json-schema-faker, others by
// spoiling those; Ajv says which is which. One seed gives the same requests.
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { generateSync } from "json-schema-faker";

const ajv = addFormats(new Ajv2020({ strict: false }));

// mulberry32
export function random(seed) {
	let state = seed >>> 0;
	const next = () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let t = Math.imul(state ^ (state >>> 15), 1 | state);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
	};
	const below = (n) => Math.floor(next() * n);
	return { below, pick: (list) => list[below(list.length)],
		chance: (p) => next() < p };
}

const oddValues = [null, true, false, 0, -1, 1, 1.5, 1e300, -1e-300, 2 ** 53,
	9007199254740992, "", " ", "0", "-0", "null", "a".repeat(5000), "\u0000", "\u0085",
	"😀".repeat(300), "﷽", "\ud800", "' OR 1=1 --", "../../etc/passwd", "{}", [], {},
	[[]], [null], { a: 1 }, "2026-13-45", "00000000-0000-0000-0000-000000000000",
	"018F0000-0000-7000-8000-000000000000", "1.00", "1e2", "NaN", "٣"];

// What is no JSON object, or not the one that its text seems to be.
const oddBodies = ["", "{", "[]", "null", "1", "\"\"", "{}{}", "{\"a\":1,\"a\":2}",
	"\u0000", "{\"a\":\"\\ud800\"}", "\ufeff{}", "[".repeat(5000), "{\"a\":".repeat(100),
	Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), "{\"a\":01}", "{'a':1}",
	"{\"__proto__\":1}", `{"a":"${"x".repeat(70000)}"}`];

export class Fuzzer {
	// given: values of the tests' workspace that make a request reach further,
	// as [name pattern, value].
	constructor(document, seed, given) {
		Object.assign(this, { seed, given, made: 0, random: random(seed) });
		this.rows = Object.entries(document.paths).flatMap(([path, methods]) =>
			Object.entries(methods).map(([method, op]) => row(path, method, op)));
	}

	value(schema) {
		return generateSync(schema, { seed: this.seed + this.made++ });
	}

	known(name, otherwise) {
		const fit = this.given.filter(([pattern]) => pattern.test(name));
		return fit.length && this.random.chance(this.apt ? 1 : 0.5)
			? this.random.pick(fit)[1] : otherwise();
	}

	// The next request of the row, and whether the document allows it.
	next(row) {
		const request = { method: row.method, headers: {}, valid: true, query: {} };
		let path = row.path;
		// Half of them name nothing but what is there.
		this.apt = this.random.chance(0.5);
		for (const p of row.parameters) this.addParameter(request, p, (v) => {
			path = path.replace(`{${p.name}}`, encodeURIComponent(v));
		});
		if (this.random.chance(0.15)) {
			request.query[this.random.pick(["colour", "Limit", "limit[]", "a.b"])] = "1";
			request.valid = false;
		}
		const search = new URLSearchParams(request.query).toString();
		request.path = search ? `${path}?${search}` : path;
		if (row.validate) this.addBody(request, row);
		return request;
	}

	addParameter(request, { name, in: place, required, schema, validate }, inPath) {
		if (place === "header") return this.addHeader(request, name, schema);
		if (place === "query" && !required && this.random.chance(0.6)) return undefined;
		const value = this.random.chance(0.75)
			? String(this.known(name, () => this.value(schema)))
			: String(this.random.pick(oddValues));
		if (place === "path") {
			// An empty segment is another path.
			const text = value === "" ? "x" : value.toWellFormed?.() ?? value;
			if (!isAllowed(text, schema, validate)) request.valid = false;
			return inPath(text.replace(/[\ud800-\udfff]/g, ""));
		}
		if (required && this.random.chance(0.1)) {
			request.valid = false;
			return undefined;
		}
		request.query[name] = value;
		if (!isAllowed(value, schema, validate)) request.valid = false;
		return undefined;
	}

	addHeader(request, name, schema) {
		if (this.random.chance(0.7)) return;
		const length = this.random.pick([1, 8, 36, schema.maxLength,
			schema.maxLength + 1]);
		request.headers[name] = Array.from({ length }, () =>
			this.random.pick([..."abcdefghijklmnopqrstuvwxyz0123456789-"])).join("");
		if (length > schema.maxLength) request.valid = false;
	}

	addBody(request, row) {
		if (this.random.chance(0.08)) {
			request.body = this.random.pick(oddBodies);
			request.valid = false;
			return;
		}
		const body = this.value(row.schema);
		for (const name of Object.keys(body))
			body[name] = this.known(name, () => body[name]);
		if (this.random.chance(0.5)) this.spoil(body, row.schema);
		if (!row.validate(body)) request.valid = false;
		request.body = JSON.stringify(body);
		if (this.random.chance(0.03)) {
			request.headers["Content-Type"] = this.random.pick(["text/plain",
				"application/xml", "application/json; charset=latin1"]);
			request.valid = false;
		}
	}

	// One change, which may leave it valid.
	spoil(body, schema) {
		const names = Object.keys(body);
		const name = this.random.pick(names.length ? names
			: Object.keys(schema.properties));
		const own = schema.properties[name] ?? {};
		const changes = [
			() => delete body[name],
			() => { body[this.random.pick(["extra", "__proto_", "Amount", ""])] = 1; },
			() => { body[name] = this.random.pick(oddValues); },
			() => { body[name] = [body[name]]; },
			() => { body[name] = (own.maximum ?? 10) + 1; },
			() => { body[name] = (own.minimum ?? 0) - 1; },
			() => { body[name] = "x".repeat((own.maxLength ?? 64) + 1); },
			() => { body[name] = ""; },
		];
		this.random.pick(changes)();
	}
}

function row(path, method, op) {
	const schema = op.requestBody?.content["application/json"].schema;
	return { path, method: method.toUpperCase(), id: op.operationId, schema,
		validate: schema && ajv.compile(schema),
		parameters: (op.parameters ?? []).map((p) => p.$ref
			? { name: "Idempotency-Key", in: "header", schema: { maxLength: 255 } }
			: { ...p, validate: ajv.compile(p.schema) }) };
}

// A parameter is text, whatever its schema says.
function isAllowed(text, schema, validate) {
	if (schema.type === "integer")
		return /^-?(0|[1-9]\d*)$/.test(text) && validate(Number(text));
	if (schema.type === "boolean") return text === "true" || text === "false";
	return validate(text);
}

// What no reply may be, whatever was sent.
export function faultOf(request, reply) {
	if (reply.status >= 500 && ![503, 507].includes(reply.status))
		return `answers ${reply.status}`;
	if (!request.valid && reply.status < 400)
		return `accepts what the document does not allow (${reply.status})`;
	return null;
}
