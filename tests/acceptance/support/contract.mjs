// Replies against the service's own OpenAPI document, and problems against
// RFC 9457.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { buildFolder } from "./places.mjs";

let document, contract;

// The document of the programs under test, which needs no service for it.
export function documentOf() {
	document ??= JSON.parse(execFileSync(
		join(buildFolder, "release/probityctl"), ["openapi"],
		{ encoding: "utf8", maxBuffer: 1 << 26 }));
	return document;
}

// The one of this process.
export const theContract = () => contract ??= new Contract(documentOf());

export class Contract {
	static async of() {
		return theContract();
	}

	constructor(document) {
		this.document = document;
		assert.equal(document.openapi.slice(0, 3), "3.1");
		this.ajv = new Ajv2020({ strict: false, allErrors: true });
		addFormats(this.ajv);
		this.ajv.addSchema(document, "doc");
		this.compiled = new Map();
	}

	// The document's path for a path as sent, and its JSON pointer.
	find(path) {
		const [bare] = path.split("?");
		return Object.keys(this.document.paths).find((template) => {
			const pattern = template.replace(/[.*+?^$()|[\]\\]/g, "\\$&")
				.replace(/\{[^}]+\}/g, "[^/]+");
			return new RegExp(`^${pattern}$`).test(bare);
		});
	}

	declares(method, path) {
		const template = this.find(path);
		return template !== undefined &&
			method.toLowerCase() in this.document.paths[template];
	}

	// The reply has a declared status, media type and shape.
	check(method, path, reply) {
		const template = this.find(path);
		assert.ok(template, `${path} is not in the document`);
		const operation = this.document.paths[template][method.toLowerCase()];
		assert.ok(operation, `${method} ${template} is not in the document`);
		let response = operation.responses[reply.status] ??
			operation.responses.default;
		assert.ok(response, `${method} ${template} declares no ${reply.status}`);
		response = this.resolve(response);
		if (!reply.text) return;
		const type = reply.headers["content-type"].split(";")[0];
		const media = response.content?.[type];
		assert.ok(media, `${method} ${template} ${reply.status} declares no ${type}`);
		if (!/json$/.test(type)) return;
		const validate = this.ajv.compile(this.anchored(media.schema));
		assert.ok(validate(reply.json), `${method} ${template} ${reply.status}: ` +
			this.ajv.errorsText(validate.errors) + "\n" + reply.text);
	}

	resolve(node) {
		if (!node.$ref) return node;
		return node.$ref.slice(2).split("/").reduce((at, name) =>
			at[name.replace(/~1/g, "/").replace(/~0/g, "~")], this.document);
	}

	// "#/…" means the document, also in a schema that is compiled alone.
	anchored(schema) {
		return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/',
			'"$ref":"doc#/'));
	}
}

export function assertProblem(reply, status, code) {
	assert.equal(reply.status, status, reply.text);
	assert.equal(reply.headers?.["content-type"]?.split(";")[0] ??
		/content-type: *([^;\r\n]*)/i.exec(reply.head)[1],
	"application/problem+json");
	const p = reply.json;
	assert.ok(p, reply.text);
	assert.equal(p.status, status);
	assert.equal(typeof p.title, "string");
	assert.match(p.type, /\/problems\/[a-z-]+$/);
	assert.equal(p.type.split("/").at(-1).replaceAll("-", "_"), p.code);
	if (code) assert.equal(p.code, code, reply.text);
	return p;
}

// The pointers, parameters and headers that a problem names.
export const named = (problem) => (problem.errors ?? [])
	.map((e) => e.pointer ?? e.parameter ?? e.header);
