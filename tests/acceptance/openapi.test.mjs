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

test("redocly finds no error", () => {
	const file = join(service.dir, "openapi.json");
	writeFileSync(file, JSON.stringify(document, null, 2));
	const config = join(here, "redocly.yaml");
	const r = spawnSync(process.execPath, [join(here,
		"node_modules/@redocly/cli/bin/cli.js"), "lint", file, "--config", config],
	{ encoding: "utf8", cwd: service.dir, env: { ...process.env,
		REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", CI: "1" } });
	assert.equal(r.status, 0, r.stdout.slice(-4000) + r.stderr.slice(-4000));
});

test("each row has scope, summary, and a problem for each refusal", () => {
	const rows = Object.entries(document.paths).flatMap(([path, methods]) =>
		Object.entries(methods).map(([method, op]) => ({ path, method, op })));
	assert.ok(rows.length >= 6);
	const ids = rows.map(({ op }) => op.operationId);
	assert.equal(new Set(ids).size, ids.length);
	for (const { path, method, op } of rows) {
		assert.ok(op.summary, path);
		assert.match(op["x-scope"], /^[a-z-]+(:[a-z-]+)+$/);
		assert.deepEqual(op.security, [{ bearer: [op["x-scope"]] }]);
		for (const [status, response] of Object.entries(op.responses))
			if (status >= 400)
				assert.equal(response.$ref, "#/components/responses/Problem",
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
