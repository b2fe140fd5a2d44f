// Who looks at a changed thing. Each answers with what it noticed, or null; an
// answer that is neither good nor bad is a failure of the test.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { verify } from "node:crypto";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRoot, top } from "../support/places.mjs";
import { ask } from "../tlog/verifier.mjs";
import { readLedger } from "./ledger.mjs";

const run = (program, args, env = {}) => new Promise((done) =>
	execFile(program, args, { env: { ...process.env, GIT_CONFIG_NOSYSTEM: "1",
		GIT_CONFIG_GLOBAL: "/dev/null", ...env }, maxBuffer: 1 << 26 },
	(error, stdout, stderr) => done({ code: error?.code ?? 0, stdout, stderr })));
const offline = (command, env) =>
	run("unshare", [isRoot ? "-n" : "-rn", ...command], env);

// The name of the check, from a verdict in words.
function checkOf({ code, stdout, stderr }) {
	if (code === 0) return null;
	const [, check] = stdout.match(/^BAD: (?:event \d+: )?([a-z]+): /) ?? [];
	assert.ok(code === 1 && check, `${code}: ${stdout}${stderr}`);
	return `\`${check}\``;
}
const commandOf = (answer) => {
	assert.doesNotMatch(answer.stderr, /usage|not a git command/i);
	return answer.code !== 0;
};

// world: dir, program, env, key, origin, goKey, kept (a checkpoint's file),
// keptClone, signers (the auditor's own file).
export const ledgerVerifiers = {
	"`probity-audit verify`": async ({ program, env, key }, repo) => checkOf(
		await offline([program, "verify", repo, "--key", key.public], env)),
	"… with `--checkpoint`": async ({ program, env, key, kept }, repo) => checkOf(
		await offline([program, "verify", repo, "--key", key.public,
			"--checkpoint", kept], env)),
	"`verify.sh` with it": async ({ key, kept }, repo) => checkOf(await offline(
		[join(top, "scripts/verify.sh"), repo, key.public, kept])),
	"git alone": stockGit,
	"`git fetch`": fetchInto,
	"Go's `tlog`": goLedger,
};

async function stockGit({ signers }, repo) {
	const found = [];
	if (commandOf(await run("git", ["-C", repo, "fsck", "--full", "--strict"])))
		found.push("`fsck`");
	const list = await run("git", ["-C", repo, "rev-list", "main"]);
	const commits = list.stdout.trim().split("\n");
	if (list.code !== 0 || commandOf(await run("git", ["-C", repo,
		"-c", "gpg.format=ssh", "-c", `gpg.ssh.allowedSignersFile=${signers}`,
		"verify-commit", ...commits])))
		found.push("`verify-commit`");
	return found.length > 0 ? found.join(", ") : null;
}

// Into a copy of the clone that was kept, set up as docs/auditing.md says.
async function fetchInto({ keptClone }, repo) {
	const clone = `${repo}.clone`;
	cpSync(keptClone, clone, { recursive: true });
	const reply = await run("git", ["-C", clone, "-c", "fetch.fsckObjects=true",
		"fetch", `file://${repo}`, "refs/heads/main:refs/heads/main"]);
	return commandOf(reply) ? "refused" : null;
}

async function goLedger({ goKey }, repo) {
	let batches;
	try {
		batches = readLedger(repo);
	} catch {
		return "unreadable";
	}
	const events = batches.flatMap((b) => b.events);
	const leaves = (size) => ({ check: "root", events: events.slice(0, size)
		.map((it) => Buffer.from(it.event).toString("base64")) });
	let size = 0;
	const questions = batches.flatMap((b) => [{ check: "checkpoint", key: goKey,
		checkpoint: b.checkpoint }, leaves(size += b.events.length)]);
	const answers = await ask(questions);
	const bad = answers.some((answer, i) => i % 2 === 0 &&
		(!answer.startsWith("good") || answer !== answers[i + 1]));
	return bad ? "refused" : null;
}

export const fileVerifiers = {
	"`check-proof --key`": async ({ program, env, key }, file) => checkOf(
		await offline([program, "check-proof", file, "--key", key.public], env)),
	"`check-proof` without": async ({ program, env }, file) => checkOf(
		await offline([program, "check-proof", file], env)),
	"`check-proof.sh`": async ({ key }, file) => checkOf(await offline(
		[join(top, "scripts/check-proof.sh"), file, key.public])),
	"Go's `tlog`": async ({ goKey }, file, evidence) => {
		const [answer] = await ask([{ check: "evidence", key: goKey,
			evidence: JSON.stringify(evidence) }]);
		return answer.startsWith("good") ? null : "refused";
	},
};

// What stands beside a ledger: ours first, then a program of others that reads
// the same, if there is one. Each thing says how it is asked: { ours, theirs }.
export const besideVerifiers = {
	"`probity-audit`": async ({ program, env, key }, { ours }) => checkOf(
		await offline([program, ...ours, "--key", key.public], env)),
	others: async (world, { theirs }) => theirs ? await theirs() ? null : "refused"
		: undefined,
};

export const manifestVerifiers = {
	"`check-manifest`": async ({ program, env, key }, file) => checkOf(
		await offline([program, "check-manifest", file, "--key", key], env)),
	"`check-manifest.sh`": async ({ key }, file) => checkOf(await offline(
		[join(top, "scripts/check-manifest.sh"), file, key])),
	"the signature alone": async ({ manifestKey }, file, { payload, signatures }) => {
		const bytes = Buffer.from(payload, "base64");
		const head = `DSSEv1 28 application/vnd.in-toto+json ${bytes.length} `;
		return verify(null, Buffer.concat([Buffer.from(head), bytes]), manifestKey,
			Buffer.from(signatures[0].sig, "base64")) ? null : "refused";
	},
};

export const packVerifiers = {
	"`check-proof --key`": fileVerifiers["`check-proof --key`"],
	"`check-proof` without": fileVerifiers["`check-proof` without"],
	"git alone": async ({ signers }, file, commit) => {
		const repo = `${file}.git`;
		const git = (...args) => run("git", ["-C", repo, "-c", "gpg.format=ssh",
			"-c", `gpg.ssh.allowedSignersFile=${signers}`, ...args]);
		await run("git", ["init", "-q", "--bare", repo]);
		const unpack = `git -C ${repo} unpack-objects -q <${file}`;
		if (commandOf(await run("sh", ["-c", unpack])))
			return "`unpack-objects`";
		return commandOf(await git("verify-commit", commit)) ? "`verify-commit`"
			: null;
	},
};

// What each verifier says of one thing, in their order.
export const outcome = async (verifiers, ...args) => {
	const found = [];
	for (const verify of Object.values(verifiers)) found.push(await verify(...args));
	return found;
};

export const saveEvidence = (file, evidence) =>
	writeFileSync(file, JSON.stringify(evidence));
