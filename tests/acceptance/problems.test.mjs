// What stands behind the type of a problem: a page for each kind, as text or as
// HTML, and a list of them all.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { close, send } from "./support/client.mjs";
import { assertProblem, problemKinds } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { Service } from "./support/service.mjs";

// RFC 9457 has a registry, and two of ours are in it.
const registered = { "rate-limited": "quota-exceeded",
	"reduced-capacity": "temporary-reduced-capacity" };
let service;
const kinds = problemKinds();
const page = (path, accept, more = {}) => send(service, "GET", path,
	{ headers: { Accept: accept, ...more } });
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
	.replaceAll(">", "&gt;").replaceAll('"', "&quot;").replaceAll("'", "&#39;");

before(async () => {
	service = await new Service({ build: "debug", worker: false }).start();
});
after(close);

test("every kind has a page that says what it is and what to do", async () => {
	assert.ok(kinds.length >= 30);
	for (const { slug, status, title, remedy } of kinds) {
		const html = await page(`/problems/${slug}`, "text/html");
		assert.equal(html.status, 200, slug);
		assert.equal(html.headers["content-type"], "text/html; charset=utf-8");
		assert.equal(html.headers.vary, "Accept");
		for (const part of [title, remedy, `<dd>${status}</dd>`])
			assert.ok(html.text.includes(part.startsWith("<") ? part
				: escaped(part)), `${slug}: ${part}`);
		const text = await page(`/problems/${slug}`, "*/*");
		assert.equal(text.headers["content-type"], "text/plain; charset=utf-8");
		for (const part of [title, remedy, String(status)])
			assert.ok(text.text.includes(part), `${slug}: ${part}`);
	}
});

test("the example on each page is such a problem", async () => {
	for (const { slug, status, title } of kinds) {
		const { text } = await page(`/problems/${slug}`, "text/html");
		const json = /<pre[^>]*><code>([^]*?)<\/code>/.exec(text)[1]
			.replaceAll("&quot;", '"').replaceAll("&#39;", "'")
			.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
		const problem = JSON.parse(json);
		assert.equal(problem.type, registered[slug]
			? `https://iana.org/assignments/http-problem-types#${registered[slug]}`
			: `${service.baseUrl}/problems/${slug}`);
		assert.equal(problem.status, status);
		assert.equal(problem.title, title);
		assert.equal(problem.code, slug.replaceAll("-", "_"));
	}
});

test("the list names each", async () => {
	for (const path of ["/problems", "/problems/"]) {
		const html = (await page(path, "text/html")).text;
		const text = (await page(path, "text/plain")).text;
		for (const { slug, status } of kinds) {
			assert.ok(html.includes(`href="/problems/${slug}"`), slug);
			assert.ok(html.includes(`id="status-${status}"`), slug);
			assert.match(text, new RegExp(`^${slug}  ${status}  `, "m"));
		}
	}
});

test("who gets HTML", async () => {
	for (const [accept, type] of [["text/html", "html"], ["text/plain", "plain"],
		["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "html"],
		["text/plain, text/html", "plain"], ["text/html;q=0.5, text/plain", "plain"],
		["text/plain;q=0.4,text/html;q=0.5", "html"], ["text/html;q=0", "plain"],
		["application/json", "plain"], [undefined, "plain"]]) {
		const { headers } = await page("/problems/conflict", accept);
		assert.equal(headers["content-type"], `text/${type}; charset=utf-8`, accept);
	}
});

test("a page is not sent twice", async () => {
	for (const path of ["/problems/", "/problems/conflict", "/docs/",
		"/docs/style.css", "/docs/core-platform"]) {
		const { headers } = await page(path, "text/html");
		const again = await page(path, "text/html",
			{ "If-None-Match": headers.etag });
		assert.equal(again.status, 304, path);
		assert.equal(again.text, "");
	}
});

test("what is not there is a problem itself", async () => {
	for (const path of ["/problems/no-such-thing", "/docs/no-such-product",
		"/problems/conflict/", "/docs/core-platform/x", "/docs//", "/problems//",
		"/docs/%3Cscript%3E"])
		assertProblem(await page(path, "text/html"),
			/\/\/$/.test(path) ? 400 : 404);
});

test("the ledger verifies, and the read model rebuilds the same", () =>
	finish(service));
