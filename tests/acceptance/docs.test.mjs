// The pages for people, in headless Chromium: all that the document holds is
// there, nothing comes from elsewhere or needs a script, and they can be read
// by keyboard, on a narrow screen, in light and in dark.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, describe, test } from "node:test";
import puppeteer from "puppeteer-core";
import { close, send } from "./support/client.mjs";
import { documentOf } from "./support/contract.mjs";
import { finish } from "./support/evidence.mjs";
import { isRoot } from "./support/places.mjs";
import { Service } from "./support/service.mjs";
import { provision } from "./support/workspace.mjs";

let service, browser, page, w;
const noise = [], visited = new Map();
const rows = Object.entries(documentOf().paths).flatMap(([path, methods]) =>
	Object.entries(methods).map(([method, op]) => ({ path, method, op })));

before(async () => {
	service = await new Service({ build: "debug", worker: false }).start();
	w = provision(service, "acme");
	// Chromium's own sandbox does not start as root; nothing is visited but us.
	browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium",
		args: isRoot ? ["--no-sandbox"] : [], timeout: 120000,
		protocolTimeout: 120000 });
	page = await browser.newPage();
	page.setDefaultTimeout(120000);
	listen(page);
	await visitAll("/docs/");
});
after(async () => {
	await browser?.close();
	close();
});

// Whatever the browser has to complain about.
function listen(at) {
	at.on("console", (m) => noise.push(`${m.type()}: ${m.text()}`));
	at.on("pageerror", (e) => noise.push(`error: ${e.message}`));
	at.on("requestfailed", (r) => noise.push(`failed: ${r.url()}`));
	at.on("request", (r) => {
		if (!r.url().startsWith(`${service.baseUrl}/`) && r.url() !== "data:,")
			noise.push(`elsewhere: ${r.url()}`);
	});
}

const go = async (path) => {
	const reply = await page.goto(service.baseUrl + path);
	assert.ok([200, 304].includes(reply.status()), `${path} ${reply.status()}`);
};

// Every page that the first one leads to, with what the tests look at.
async function visitAll(first) {
	const waiting = [first];
	while (waiting.length) {
		const path = waiting.shift();
		if (visited.has(path)) continue;
		await go(path);
		await page.setViewport({ width: 320, height: 640 });
		const seen = await page.evaluate(look);
		visited.set(path, seen);
		waiting.push(...seen.links.map((href) => new URL(href).pathname)
			.filter((p) => p !== "/api/v2/openapi.json"));
	}
}

// Within the page.
function look() {
	const all = (selector) => [...document.querySelectorAll(selector)];
	return {
		text: document.body.innerText, title: document.title,
		language: document.documentElement.lang,
		wide: document.documentElement.scrollWidth,
		scripts: all("script, iframe, object, embed, form, img").length,
		inline: all("[style], style, [onclick], [onload]").length,
		landmarks: ["header", "nav", "main"].map((name) => all(name).length),
		headings: all("h1, h2, h3, h4, h5, h6").map((h) => Number(h.tagName[1])),
		ids: all("[id]").map((e) => e.id),
		links: all("a[href]").map((a) => a.href),
		sections: Object.fromEntries(all("section").map((s) =>
			[s.querySelector("h2").id, s.textContent])),
		commands: Object.fromEntries(all("section").map((s) =>
			[s.querySelector("h2").id,
				s.querySelector("[aria-label=Command]").textContent])),
	};
}

test("every page is reached from the first, and none complains", () => {
	assert.ok(visited.size > 30, [...visited.keys()].join(" "));
	assert.ok(visited.has("/docs/changes"));
	assert.deepEqual(noise, []);
});

test("every link leads somewhere", () => {
	for (const [path, { links }] of visited)
		for (const href of links) {
			const url = new URL(href);
			if (url.pathname === "/api/v2/openapi.json") continue;
			const target = visited.get(url.pathname);
			assert.ok(target, `${path}: ${href}`);
			if (url.hash)
				assert.ok(target.ids.includes(decodeURIComponent(url.hash.slice(1))),
					`${path}: ${href}`);
		}
});

test("each page has its landmarks, headings in order, and no script", () => {
	const titles = new Set();
	for (const [path, page] of visited) {
		assert.deepEqual(page.landmarks, [1, 1, 1], path);
		assert.equal(page.headings.filter((n) => n === 1).length, 1, path);
		page.headings.forEach((n, i) =>
			assert.ok(i === 0 ? n === 1 : n <= page.headings[i - 1] + 1, path));
		assert.equal(page.language, "en");
		assert.equal(page.scripts + page.inline, 0, path);
		assert.equal(new Set(page.ids).size, page.ids.length, path);
		titles.add(page.title);
	}
	assert.equal(titles.size, visited.size);
});

test("the first page says where an access token comes from", () => {
	const { text } = visited.get("/docs/");
	const flow = documentOf().components.securitySchemes.oauth2.flows
		.clientCredentials;
	assert.ok(text.includes("grant_type=client_credentials"), text);
	assert.ok(text.includes(`'${service.baseUrl}` +
		`${new URL(flow.tokenUrl).pathname}'`), text);
	assert.match(text, /An application reads the actions that it made itself/);
});

test("nothing is wider than a narrow screen", () => {
	for (const [path, { wide }] of visited) assert.ok(wide <= 320, `${path}: ${wide}`);
});

// Everything of a schema that has a name, within nested ones too.
function* names(schema) {
	for (const [name, member] of Object.entries(schema?.properties ?? {})) {
		yield name;
		yield* names(member.items ?? member);
	}
}

describe("the reference has all that the document says of", () => {
	const sections = () => Object.assign({}, ...[...visited.values()]
		.map((p) => p.sections));
	for (const { path, method, op } of rows)
		test(op.operationId, () => {
			const text = sections()[op.operationId];
			assert.ok(text, "it has no section");
			const has = (part) => assert.ok(text.includes(part), part);
			for (const part of [`${method} ${path}`, op.summary, op["x-scope"],
				op["x-since"], op.description]) has(part);
			for (const p of op.parameters ?? [])
				if (p.name) [p.name, p.description, p.in].forEach(has);
			const body = op.requestBody?.content["application/json"].schema;
			for (const name of names(body)) has(name);
			for (const [status, { content }] of Object.entries(op.responses)) {
				has(status);
				for (const [type, media] of Object.entries(content ?? {})) {
					if (status < 400) has(type);
					if (status < 400) for (const name of names(media.schema)) has(name);
					for (const { summary } of Object.values(media.examples ?? {}))
						has(`${status} · ${summary}`);
				}
			}
			for (const status of Object.keys(op.responses).filter((s) => s >= 400))
				assert.ok(visited.get("/problems/").ids.includes(`status-${status}`));
		});
});

test("each command is one that a shell and the service take", () => {
	for (const { op } of rows) {
		const command = [...visited.values()]
			.map((p) => p.commands[op.operationId]).find(Boolean);
		const r = spawnSync("bash", ["-c",
			`${command} -s -o /dev/null -w '%{http_code}'`],
		{ encoding: "utf8", env: { ...process.env, API_KEY: w.key } });
		assert.equal(r.status, 0, command + r.stderr);
		assert.match(r.stdout, /^(200|201|403|404|422)$/, command);
		if (op.operationId === "workspace.show") assert.equal(r.stdout, "200");
	}
});

test("the policy stops a script that got in", async () => {
	await go("/docs/");
	const before = noise.length;
	const ran = await page.evaluate(() => {
		const script = document.createElement("script");
		script.textContent = "window.ran = true";
		document.body.append(script);
		return window.ran === true;
	});
	assert.equal(ran, false);
	const said = noise.splice(before).join("\n");
	assert.match(said, /Content Security Policy/);
	const { headers } = await send(service, "GET", "/docs/");
	assert.match(headers["content-security-policy"],
		/^default-src 'none'; style-src 'self'; /);
	assert.equal(headers["x-content-type-options"], "nosniff");
});

test("without scripts at all it is the same", async () => {
	await page.setJavaScriptEnabled(false);
	await page.setViewport({ width: 320, height: 640 });
	await go("/docs/financial-actions");
	const { text } = await page.evaluate(look);
	await page.setJavaScriptEnabled(true);
	assert.equal(text, visited.get("/docs/financial-actions").text);
});

test("the keyboard reaches the content, links and replies", async () => {
	await page.setViewport({ width: 1000, height: 800 });
	await go("/docs/financial-actions");
	const focus = () => page.evaluate(() => {
		const e = document.activeElement;
		const box = e.getBoundingClientRect(), style = getComputedStyle(e);
		return { tag: e.tagName, text: e.innerText.slice(0, 60), left: box.left,
			id: e.id, outline: style.outlineStyle, open: e.parentNode.open };
	});
	await page.keyboard.press("Tab");
	const skip = await focus();
	assert.match(skip.text, /^Skip/);
	assert.ok(skip.left >= 0 && skip.outline !== "none");
	await page.keyboard.press("Enter");
	assert.equal((await focus()).id, "main");
	const reached = new Set();
	for (let i = 0; i < 40; i++) {
		await page.keyboard.press("Tab");
		const at = await focus();
		reached.add(at.tag);
		assert.notEqual(at.outline, "none", `${at.tag} ${at.text}`);
		if (at.tag === "SUMMARY" && !at.open) {
			await page.keyboard.press("Enter");
			assert.equal((await focus()).open, true);
		}
		if (reached.size === 3) break;
	}
	assert.deepEqual([...reached].sort(), ["A", "PRE", "SUMMARY"]);
});

// WCAG 2.2, 1.4.3: text against what is behind it.
function contrasts() {
	const parse = (c) => c.match(/[\d.]+/g).map(Number);
	const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255)
		.map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = (e) => {
		for (; e; e = e.parentElement) {
			const c = parse(getComputedStyle(e).backgroundColor);
			if (c.length === 3 || c[3] > 0) return c;
		}
		return [255, 255, 255];
	};
	return [...document.querySelectorAll("body *")].filter((e) =>
		[...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
		.map((e) => {
			const [a, b] = [luminance(parse(getComputedStyle(e).color)),
				luminance(behind(e))].sort((x, y) => y - x);
			return [e.tagName, (a + 0.05) / (b + 0.05)];
		});
}

test("text stands out, in light and in dark", async () => {
	const papers = new Set();
	for (const value of ["light", "dark"]) {
		await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value }]);
		for (const path of ["/docs/", "/docs/financial-actions", "/docs/changes",
			"/problems/conflict"]) {
			await go(path);
			const found = await page.evaluate(contrasts);
			assert.ok(found.length > 10);
			for (const [tag, ratio] of found)
				assert.ok(ratio >= 4.5, `${value} ${path} ${tag}: ${ratio}`);
			papers.add(await page.evaluate(() =>
				getComputedStyle(document.body).backgroundColor));
		}
	}
	assert.equal(papers.size, 2);
	assert.deepEqual(noise, []);
});

test("the ledger verifies, and the read model rebuilds the same", () =>
	finish(service));
