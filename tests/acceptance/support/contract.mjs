// Replies against the service's own OpenAPI document, and problems against
// RFC 9457.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { buildFolder } from "./places.mjs";

let document, contract;

// Below /api/v2, and no operation.
const pages = ["/api/v2/openapi.json"];

// Fields of HTTP itself, of its connections and caches, which a description of
// an API does not name.
const ofHttp = new Set(["date", "server", "connection", "keep-alive",
	"transfer-encoding", "content-length", "content-type", "cache-control",
	"x-content-type-options", "vary"]);
// CORS is the browser's affair.
const isOfHttp = (name) => ofHttp.has(name) || name.startsWith("access-control-");

// RFC 6749 and its family have replies and refusals of their own.
const ofOAuth = "/api/v2/oauth/";

function checkHeaders(what, declared, reply) {
	const names = new Set(Object.keys(declared ?? {}).map((n) => n.toLowerCase()));
	for (const name of Object.keys(reply.headers))
		assert.ok(isOfHttp(name) || names.has(name),
			`${what}: the header field ${name} is not declared`);
	assert.match(reply.headers["x-request-id"] ?? "", /^[0-9a-f-]{36}$/, what);
}

// A type with parameters may be declared by itself.
function mediaOf(content, type) {
	const same = (a, b) => a.replaceAll(" ", "") === b.replaceAll(" ", "");
	return content[Object.keys(content).find((name) => same(name, type))] ??
		content[type.split(";")[0]];
}

// Types that are registered have their page there (RFC 9457, 4.2).
const registered = "https://iana.org/assignments/http-problem-types#";

// RFC 9457, as every refusal has it.
function checkProblem(what, reply) {
	const type = reply.headers["content-type"]?.split(";")[0];
	assert.equal(type, "application/problem+json", `${what}: ${reply.text}`);
	if (!reply.text) return;
	const { status, type: page } = reply.json ?? {};
	assert.equal(status, reply.status, `${what}: ${reply.text}`);
	// problems.test.mjs reads the page of each.
	assert.ok(page.startsWith(registered) || problemKinds().some(({ slug, status }) => status === reply.status &&
		page.endsWith(`/problems/${slug}`)), `${what}: no page is ${page}`);
}

let kinds;

// Every kind of problem that the programs know.
export function problemKinds() {
	kinds ??= execFileSync(join(buildFolder, "release/probity.fcgi"),
		["--print-errors"], { encoding: "utf8" }).split("\n")
		.map((line) => line.split(" | ")).filter((cells) => cells.length === 5)
		.map(([slug, status, , title, remedy]) => ({ slug: slug.slice(3, -1),
			status: Number(status), title, remedy: remedy.slice(0, -2) }))
		.filter(({ status }) => status);
	return kinds;
}

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
		// A literal segment wins over a parameter, as in the router.
		this.templates = Object.keys(document.paths).map((template) => ({ template,
			pattern: new RegExp(`^${template.replace(/[.*+?^$()|[\]\\]/g, "\\$&")
				.replace(/\{[^}]+\}/g, "[^/]+")}$`) }))
			.sort((a, b) => a.template.split("{").length - b.template.split("{").length);
	}

	// The document's path for a path as sent.
	find(path) {
		const [bare] = path.split("?");
		return this.templates.find(({ pattern }) => pattern.test(bare))?.template;
	}

	declares(method, path) {
		const template = this.find(path);
		return template !== undefined &&
			method.toLowerCase() in this.document.paths[template];
	}

	// The reply has a declared status, media type, shape and header fields.
	check(method, path, reply) {
		const template = this.find(path);
		assert.ok(template, `${path} is not in the document`);
		const operation = this.document.paths[template][method.toLowerCase()];
		assert.ok(operation, `${method} ${template} is not in the document`);
		const what = `${method} ${template} ${reply.status}`;
		const declared = operation.responses[reply.status] ??
			operation.responses.default;
		assert.ok(declared, `${what}: the status is not declared: ${reply.text}`);
		const response = this.resolve(declared);
		checkHeaders(what, response.headers, reply);
		if (reply.status >= 400) checkProblem(what, reply);
		if (reply.text) this.checkBody(what, response, reply);
	}

	checkBody(what, response, reply) {
		const type = reply.headers["content-type"];
		const media = mediaOf(response.content ?? {}, type);
		assert.ok(media, `${what} declares no ${type}`);
		if (!media.schema) return;
		let validate = this.compiled.get(media);
		if (!validate) {
			validate = this.ajv.compile(this.anchored(media.schema));
			this.compiled.set(media, validate);
		}
		assert.ok(validate(reply.json), `${what}: ` +
			this.ajv.errorsText(validate.errors) + "\n" + reply.text);
	}

	// Any reply of the service: of an operation as it is declared, and of
	// another path or method below /api/v2 at least a problem.
	checkAny(method, path, reply) {
		if (!path.startsWith("/api/v2/") || path.startsWith(ofOAuth) ||
			method === "OPTIONS") return;
		if (this.declares(method, path)) this.check(method, path, reply);
		else if (method === "HEAD" && this.declares("GET", path))
			this.checkHead(path, reply);
		else if (reply.status >= 400) checkProblem(`${method} ${path}`, reply);
		else assert.ok(pages.includes(path.split("?")[0]) &&
			[200, 304].includes(reply.status),
		`${method} ${path} answers ${reply.status} and is not in the document`);
	}

	checkHead(path, reply) {
		assert.equal(reply.text, "", `HEAD ${path} has a body`);
		const declared = this.document.paths[this.find(path)].get
			.responses[reply.status];
		assert.ok(declared, `HEAD ${path} declares no ${reply.status}`);
		checkHeaders(`HEAD ${path}`, this.resolve(declared).headers, reply);
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
