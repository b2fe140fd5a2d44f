// The life of a credential: every order of issue, rotate, revoke, suspend and
// resume that is refused, and what those that are not do to requests.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { close, paths, send } from "./support/client.mjs";
import { finish } from "./support/evidence.mjs";
import { askToken, assertOAuthError, basic, introspect, makeClient, oauthPaths,
	sendForm, tokenOf } from "./support/oauth.mjs";
import { Service } from "./support/service.mjs";

const unknown = "018f0000-0000-7000-8000-000000000000";
let service, watcher, n = 0;

before(async () => {
	service = await new Service({ worker: false }).start();
	service.ctl("acme", "workspace create", { name: "Acme" });
	service.ctl("rival", "workspace create", { name: "Rival" });
	watcher = does("credential issue", { application: application().uid }).key;
});
after(close);

const does = (words, options, workspace = "acme") =>
	service.ctl(workspace, words, options);

const size = async () => (await send(service, "GET", paths.workspace,
	{ key: watcher })).headers["ledger-size"];

// Refused with this problem, and nothing was recorded.
async function refuses(words, options, problem, workspace = "acme") {
	const before = await size();
	assert.throws(() => does(words, options, workspace), (e) => {
		assert.equal(e.code, 1, e.message);
		assert.match(e.stderr, new RegExp(problem));
		return true;
	});
	assert.equal(await size(), before);
}

const application = () => does("application create", { name: `a${n++}`,
	responsible: "a@example.com", scopes: "workspace:read" });
const status = async (key) => (await send(service, "GET", paths.workspace,
	{ key })).status;

test("an application", async () => {
	const { uid } = application();
	await refuses("application resume", { uid }, "conflict");
	does("application suspend", { uid });
	await refuses("application suspend", { uid }, "conflict");
	does("application resume", { uid });
	does("application suspend", { uid });
	does("application revoke", { uid });
	for (const words of ["suspend", "resume", "revoke"])
		await refuses(`application ${words}`, { uid }, "conflict");
	for (const words of ["suspend", "resume", "revoke"])
		await refuses(`application ${words}`, { uid: unknown }, "not-found");
	await refuses("application suspend", { uid }, "not-found", "rival");
});

// What an application owns, by the same rules: an API key, an OAuth client.
const kinds = {
	"an API key": { issue: "credential issue", rotate: "credential rotate",
		revoke: "credential revoke", opens: (made) => status(made.key) },
	"an OAuth client": { issue: "oauth-client create",
		rotate: "oauth-client rotate", revoke: "oauth-client revoke",
		opens: async (made) => (await askToken(service, made)).status },
};

for (const [name, kind] of Object.entries(kinds)) {
	const refused = name === "an API key"
		? { wrong: 401, owner: 403 } : { wrong: 401, owner: 400 };

	test(`${name}: rotated, it opens by its new secret alone`, async () => {
		const owner = application();
		const first = does(kind.issue, { application: owner.uid });
		assert.equal(await kind.opens(first), 200);
		const second = does(kind.rotate, { uid: first.uid });
		assert.equal(await kind.opens(first), refused.wrong);
		assert.equal(await kind.opens(second), 200);
		const third = does(kind.rotate, { uid: first.uid });
		assert.equal(await kind.opens(second), refused.wrong);
		assert.equal(await kind.opens(third), 200);
	});

	test(`${name}: revoked, it stays so`, async () => {
		const owner = application();
		const made = does(kind.issue, { application: owner.uid });
		const beside = does(kind.issue, { application: owner.uid });
		does(kind.revoke, { uid: made.uid, reason: "lost" });
		assert.equal(await kind.opens(made), refused.wrong);
		assert.equal(await kind.opens(beside), 200);
		await refuses(kind.rotate, { uid: made.uid }, "conflict");
		await refuses(kind.revoke, { uid: made.uid }, "conflict");
	});

	test(`${name}: of a suspended application`, async () => {
		const owner = application();
		const made = does(kind.issue, { application: owner.uid });
		does("application suspend", { uid: owner.uid });
		assert.equal(await kind.opens(made), refused.owner);
		await refuses(kind.issue, { application: owner.uid }, "conflict");
		const renewed = does(kind.rotate, { uid: made.uid });
		assert.equal(await kind.opens(renewed), refused.owner);
		does("application resume", { uid: owner.uid });
		assert.equal(await kind.opens(made), refused.wrong);
		assert.equal(await kind.opens(renewed), 200);
	});

	test(`${name}: of a revoked application`, async () => {
		const owner = application();
		const made = does(kind.issue, { application: owner.uid });
		does("application revoke", { uid: owner.uid });
		assert.equal(await kind.opens(made), refused.owner);
		await refuses(kind.issue, { application: owner.uid }, "conflict");
		await refuses(kind.rotate, { uid: made.uid }, "conflict");
		does(kind.revoke, { uid: made.uid });
		assert.equal(await kind.opens(made), refused.wrong);
	});

	test(`${name}: what is not there, here`, async () => {
		const { uid } = application();
		const made = does(kind.issue, { application: uid });
		for (const words of [kind.rotate, kind.revoke]) {
			await refuses(words, { uid: unknown }, "not-found");
			await refuses(words, { uid: made.uid }, "not-found", "rival");
		}
		await refuses(kind.issue, { application: unknown }, "validation-failed");
		await refuses(kind.issue, { application: uid }, "validation-failed", "rival");
	});
}

// Every command in every state that a credential and its owner can be in.
const ways = { active: [], suspended: ["suspend"], revoked: ["revoke"] };
const permitted = (what, owner, own) => ({
	suspend: owner === "active", resume: owner === "suspended",
	"revoke owner": owner !== "revoked", issue: owner === "active",
	rotate: own === "active" && owner !== "revoked", revoke: own === "active",
})[what];

for (const [name, kind] of Object.entries(kinds))
	for (const [owner, way] of Object.entries(ways))
		for (const own of ["active", "revoked"])
			test(`${name} that is ${own}, of an owner that is ${owner}`, async () => {
				const { uid } = application();
				const made = does(kind.issue, { application: uid });
				for (const verb of way) does(`application ${verb}`, { uid });
				if (own === "revoked") does(kind.revoke, { uid: made.uid });
				if (owner !== "active" || own !== "active")
					assert.notEqual(await kind.opens(made), 200);
				const commands = { issue: [kind.issue, { application: uid }],
					suspend: ["application suspend", { uid }],
					resume: ["application resume", { uid }],
					rotate: [kind.rotate, { uid: made.uid }],
					revoke: [kind.revoke, { uid: made.uid }],
					"revoke owner": ["application revoke", { uid }] };
				const may = (what) => permitted(what, owner, own);
				for (const [what, command] of Object.entries(commands))
					if (!may(what)) await refuses(...command, "conflict");
				// Each leaves the next one permitted, and in the end nothing is.
				for (const what of ["rotate", "revoke", "revoke owner"].filter(may))
					does(...commands[what]);
				for (const command of Object.values(commands))
					await refuses(...command, "conflict");
				assert.notEqual(await kind.opens(made), 200);
			});

test("a write by a key that is no longer in force leaves nothing", async () => {
	const { uid } = application();
	const made = does("credential issue", { application: uid });
	const write = async () => (await send(service, "POST", paths.create,
		{ key: made.key, body: {} })).status;
	const renewed = does("credential rotate", { uid: made.uid });
	let before = await size();
	assert.equal(await write(), 401, "rotated");
	assert.equal(await size(), before);
	made.key = renewed.key;
	for (const [words, options, expected] of [
		["application suspend", { uid }, 403],
		["credential revoke", { uid: made.uid }, 401],
		["application revoke", { uid }, 401]]) {
		does(words, options);
		before = await size();
		assert.equal(await write(), expected, words);
		assert.equal(await size(), before);
	}
});

test("rotating a client's secret ends its tokens, and no others", async () => {
	const c = makeClient(service, "acme", "rotating");
	const beside = makeClient(service, "acme", "beside");
	const sibling = { ...does("oauth-client create",
		{ application: c.application }) };
	const ended = [await tokenOf(service, c), await tokenOf(service, c)];
	const kept = [await tokenOf(service, beside), await tokenOf(service, sibling)];
	const list = does("access-token list", { client: c.uid }).data;
	const renewed = does("oauth-client rotate", { uid: c.uid });
	assert.equal(renewed.client_id, c.client_id);
	assert.equal(renewed.tokens_revoked, 2);
	for (const token of ended) {
		assert.equal(await status(token), 401);
		assert.deepEqual(await introspect(service, renewed, token),
			{ active: false });
	}
	for (const token of kept) assert.equal(await status(token), 200);
	for (const { uid } of list)
		await refuses("access-token revoke", { uid }, "conflict");
	assert.deepEqual(does("access-token list", { client: c.uid }).data
		.map((t) => t.status), ["revoked", "revoked"]);
	const after = await tokenOf(service, renewed);
	assert.equal(await status(after), 200);
	assert.equal(does("oauth-client rotate", { uid: c.uid }).tokens_revoked, 1);
});

test("one token is revoked, and no other", async () => {
	const c = makeClient(service, "acme", "one of two");
	const [first, second] = [await tokenOf(service, c), await tokenOf(service, c)];
	const [{ uid, public_id: id }] = does("access-token list",
		{ client: c.uid }).data;
	assert.ok(first.startsWith(`${id}_`));
	does("access-token revoke", { uid, reason: "seen in a log" });
	assert.equal(await status(first), 401);
	assert.equal(await status(second), 200);
	await refuses("access-token revoke", { uid }, "conflict");
	await refuses("access-token revoke", { uid: unknown }, "not-found");
	await refuses("access-token revoke", { uid }, "not-found", "rival");
	const active = service.run(`${service.bin}/probityctl`, ["access-token",
		"list", "--workspace", "acme", "--client", c.uid, "--active",
		"--json"]);
	assert.equal(JSON.parse(active.stdout).data.length, 1, active.stderr);
	assert.equal((await sendForm(service, oauthPaths.revoke, { token: second },
		basic(c.client_id, c.client_secret))).status, 200);
	assert.equal(await status(second), 401);
});

test("a revoked client's tokens end with it", async () => {
	const c = makeClient(service, "acme", "leaving");
	const token = await tokenOf(service, c);
	const [{ uid }] = does("access-token list", { client: c.uid }).data;
	assert.equal(does("oauth-client revoke", { uid: c.uid }).tokens_revoked, 1);
	assert.equal(await status(token), 401);
	await refuses("access-token revoke", { uid }, "conflict");
	assertOAuthError(await askToken(service, c), 401, "invalid_client");
});

test("an application's tokens open as long as it is active", async () => {
	const c = makeClient(service, "acme", "on leave");
	const token = await tokenOf(service, c);
	does("application suspend", { uid: c.application });
	assert.equal(await status(token), 403);
	assertOAuthError(await askToken(service, c), 400, "unauthorized_client");
	assert.deepEqual(await introspect(service, c, token), { active: false });
	does("application resume", { uid: c.application });
	assert.equal(await status(token), 200);
	does("application revoke", { uid: c.application });
	assert.equal(await status(token), 403);
	assertOAuthError(await askToken(service, c), 400, "unauthorized_client");
});

test("production is closed to OAuth clients too", () => {
	service.ctl("acme", "workspace create", {}, "production");
	const { uid } = service.ctl("acme", "application create", { name: "live",
		responsible: "a@example.com", scopes: "workspace:read" }, "production");
	assert.throws(() => service.ctl("acme", "oauth-client create",
		{ application: uid }, "production"), /production/);
});

test("the ledgers verify, and the read models rebuild the same", () =>
	finish(service, { long: true }));
