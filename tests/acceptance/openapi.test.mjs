// The document itself: lints clean, is the one that probityctl prints, and
// holds what the specification asks of each row.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, test } from "node:test";
import { close, send } from "./support/client.mjs";
import { finish } from "./support/evidence.mjs";
import { top } from "./support/places.mjs";
import { Service } from "./support/service.mjs";
import { provision } from "./support/workspace.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const service = new Service();
let document;
after(close);

test("is served and printed alike", async () => {
	await service.start();
	provision(service, "acme");
	const { status, json } = await send(service, "GET", "/api/v2/openapi.json");
	assert.equal(status, 200);
	document = json;
	const printed = service.run(join(service.bin, "probityctl"), ["openapi"]);
	assert.deepEqual(JSON.parse(printed.stdout), document);
});

// A package's command, over the document in a file.
function run(command, ...args) {
	return spawnSync(process.execPath, [join(here, "node_modules", command), ...args],
		{ encoding: "utf8", cwd: service.dir, env: { ...process.env,
			REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
			CI: "1" } });
}
const said = (r) => r.stdout.slice(-4000) + r.stderr.slice(-4000);
function inFile(name, v) {
	const file = join(service.dir, name);
	writeFileSync(file, JSON.stringify(v, null, 2));
	return file;
}
const redocly = (file) => run("@redocly/cli/bin/cli.js", "lint", file, "--config",
	join(here, "redocly.yaml"));
const spectral = (file) => run("@stoplight/spectral-cli/dist/index.js", "lint", file,
	"--ruleset", join(here, ".spectral.yaml"), "--fail-severity", "warn");

test("redocly finds no error", () => {
	const r = redocly(inFile("openapi.json", document));
	assert.equal(r.status, 0, said(r));
});

test("spectral finds no error, by its rules and ours", () => {
	const r = spectral(inFile("openapi.json", document));
	assert.equal(r.status, 0, said(r));
});

test("both find what is wrong", () => {
	const wrong = structuredClone(document);
	const op = wrong.paths["/api/v2/actions/credit-corporate"].post;
	op.requestBody.content["application/json"].examples.created.value.amount = [];
	delete op["x-scope"];
	op.responses[422].content = { "application/json": { schema: {} } };
	const file = inFile("wrong.json", wrong);
	const one = redocly(file), other = spectral(file);
	assert.notEqual(one.status, 0);
	assert.match(said(one), /no-invalid-media-type-examples/);
	assert.notEqual(other.status, 0);
	for (const rule of ["oas3-valid-media-example", "operation-names-its-scope",
		"refusals-are-problems"])
		assert.ok(other.stdout.includes(rule), rule);
});

test("types for TypeScript are made of it, and hold", () => {
	const types = join(service.dir, "api.d.ts");
	const made = run("openapi-typescript/bin/cli.js",
		inFile("openapi.json", document), "-o", types);
	assert.equal(made.status, 0, said(made));
	const use = join(service.dir, "use.ts");
	writeFileSync(use, `import type { paths } from "./api";
type Post = paths["/api/v2/actions/credit-corporate"]["post"];
type Body = Post["requestBody"]["content"]["application/json"];
const good: Body = { action_key: "supplier-payment", source_uid: "x", connector_id: 1,
	counterparty_id: 1, currency: "EUR", amount: "1.00", execution_mode: "sandbox" };
// @ts-expect-error
export const bad: Body = { ...good, amount: true };\n`);
	const r = run("typescript/bin/tsc", "--noEmit", "--strict", "--lib", "es2022",
		use, types);
	assert.equal(r.status, 0, said(r));
});

const problemOf = (response) => (response.$ref
	? document.components.responses[response.$ref.split("/").at(-1)]
	: response).content["application/problem+json"].schema;

test("each row has scope, summary, and a problem for each refusal", () => {
	const flow = document.components.securitySchemes.oauth2.flows.clientCredentials;
	assert.equal(flow.tokenUrl, `${service.baseUrl}/api/v2/oauth/token`);
	const rows = Object.entries(document.paths).flatMap(([path, methods]) =>
		Object.entries(methods).map(([method, op]) => ({ path, method, op })));
	assert.ok(rows.length >= 6);
	const ids = rows.map(({ op }) => op.operationId);
	assert.equal(new Set(ids).size, ids.length);
	for (const { path, method, op } of rows) {
		assert.ok(op.summary, path);
		assert.match(op["x-scope"], /^[a-z-]+(:[a-z-]+)+$/);
		assert.deepEqual(op.security, [{ bearer: [op["x-scope"]] },
			{ oauth2: [op["x-scope"]] }]);
		assert.ok(flow.scopes[op["x-scope"]].includes(op.summary));
		for (const [status, response] of Object.entries(op.responses))
			if (status >= 400)
				assert.deepEqual(problemOf(response),
					{ $ref: "#/components/schemas/Problem" },
					`${method} ${path} ${status}`);
	}
});

// tests/vectors/operations.tsv: the rows of the specification.
test("every row agrees with the published list",
	{ skip: !existsSync(join(top, "tests/vectors/operations.tsv")) }, () => {
		const lines = readFileSync(join(top, "tests/vectors/operations.tsv"),
			"utf8").split("\n").slice(1).filter(Boolean);
		const known = new Map(lines.map((line) => {
			const cells = line.split("\t");
			const method = cells.find((c) => /^(GET|POST|PUT|DELETE|PATCH)$/.test(c));
			const path = cells.find((c) => c.startsWith("/"));
			return [`${method} ${path.replace(/\{[^}]+\}/g, "{}")}`, line];
		}));
		for (const [path, methods] of Object.entries(document.paths))
			for (const [method, op] of Object.entries(methods)) {
				// The auditors' reads stand beside the specification.
				if (path.startsWith("/api/v2/ledger/")) {
					assert.equal(op["x-scope"], "trust:read", path);
					continue;
				}
				const bare = path.replace(/\{[^}]+\}/g, "{}");
				const line = known.get(`${method.toUpperCase()} ${bare}`) ??
					known.get(`${method.toUpperCase()} ${bare.replace("/api/v2", "")}`);
				assert.ok(line, `${method} ${path} is not in the specification`);
				assert.ok(line.includes(op["x-scope"]), `${path}: ${line}`);
			}
	});

test("the ledger verifies, and the read model rebuilds the same", () =>
	finish(service));
