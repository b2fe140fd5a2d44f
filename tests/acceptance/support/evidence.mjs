// What must hold of a service after anything was done to it: the ledgers verify
// by our tool, by stock git and by the shell script without a network, and a
// read model made again from the repository is the same row for row.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRoot, top } from "./places.mjs";

export const dump = (service, { workspace, environment }) => {
	const file = join(service.state, "ledgers", workspace, environment, "state.db");
	const r = service.run("sqlite3", [file, ".dump"]);
	assert.equal(r.code, 0, r.stderr);
	return r.stdout;
};

// Names the first line that differs: a whole dump says nothing to anybody.
export function assertSame(actual, expected) {
	if (actual === expected) return;
	const a = actual.split("\n"), b = expected.split("\n");
	const i = a.findIndex((line, n) => line !== b[n]);
	assert.fail(`line ${i} of ${a.length} and ${b.length}: ${a[i]}\n` +
		`where there was: ${b[i]}`);
}

export function publicKey(service, { workspace, environment }) {
	return service.ctl(workspace, "ledger status", {}, environment)
		.public_key.trim();
}

export function gitVerify(service, place, repo) {
	const status = service.ctl(place.workspace, "ledger status", {},
		place.environment);
	const signers = join(service.dir, "home", `signers-${place.workspace}`);
	const git = (...args) => service.run("git", ["-C", repo,
		"-c", "gpg.format=ssh", "-c", `gpg.ssh.allowedSignersFile=${signers}`,
		...args]);
	const key = status.public_key.trim().split(" ").slice(0, 2).join(" ");
	// Of a ledger whose keys changed each has its own time; the last is ours.
	const lines = git("cat-file", "blob", "main:allowed_signers").stdout
		.trim().split("\n");
	if (lines.length > 1) assert.ok(lines.at(-1).endsWith(` ${key}`));
	writeFileSync(signers, lines.length > 1 ? `${lines.join("\n")}\n`
		: `${status.origin} namespaces="git" ${key}\n`);
	const commits = git("rev-list", "main").stdout.trim().split("\n");
	const r = git("verify-commit", ...commits);
	assert.equal(r.code, 0, r.stderr.slice(-2000));
	return commits.length;
}

// scripts/verify.sh, in a network namespace with nothing in it.
export function verifyOffline(service, place, repo = null, more = []) {
	const script = join(service.dir, "verify.sh");
	service.copy(join(top, "scripts/verify.sh"), script);
	const command = [script, repo ?? service.ledger(place.workspace,
		place.environment), publicKey(service, place), ...more];
	const args = isRoot
		? ["-n", "setpriv", "--reuid=www-data", "--regid=www-data",
			"--init-groups", ...command]
		: ["-rn", ...command];
	const r = spawnSync("unshare", args, { encoding: "utf8",
		env: service.environment, cwd: service.dir, maxBuffer: 1 << 28 });
	return { code: r.status, stdout: r.stdout, stderr: r.stderr };
}

export function audit(service, place, repo = null, more = []) {
	const r = service.run(join(service.bin, "probity-audit"), ["verify",
		repo ?? service.ledger(place.workspace, place.environment),
		"--key", publicKey(service, place), "--json", ...more]);
	return { code: r.code, report: r.stdout ? JSON.parse(r.stdout) : null,
		stderr: r.stderr };
}

// The batches of the ledger, by our tool; and by git what that leaves to it.
function checkLedger(service, place) {
	const { code, report, stderr } = audit(service, place);
	assert.equal(code, 0, JSON.stringify(report) + stderr);
	const repo = service.ledger(place.workspace, place.environment);
	gitVerify(service, place, repo);
	const fsck = service.run("git", ["-C", repo, "fsck", "--strict", "--full"]);
	assert.equal(fsck.code, 0, fsck.stdout + fsck.stderr);
	return report.batches;
}

// The shell script starts a hundred programs for each batch: of a service's
// ledgers it goes through the longest that is no longer than this.
const scriptBatches = 50;

function checkByScript(service, ledgers) {
	const [one] = ledgers.filter(({ batches }) => batches <= scriptBatches)
		.sort((x, y) => y.batches - x.batches);
	if (!one) return;
	const offline = verifyOffline(service, one.place);
	assert.equal(offline.code, 0, offline.stdout.slice(-1000) + offline.stderr);
}

function checkRebuild(service, place) {
	const before = dump(service, place);
	service.ctl(place.workspace, "ledger rebuild", {}, place.environment);
	assertSame(dump(service, place), before);
}

// The last test of every file. long: without the script, in a file that is long
// enough.
export async function finish(service, { long = false } = {}) {
	try {
		await service.stop();
		const ledgers = service.places().map((place) =>
			({ place, batches: checkLedger(service, place) }));
		if (!long) checkByScript(service, ledgers);
		for (const { place } of ledgers) checkRebuild(service, place);
		assert.equal(service.sanitizerReports(), "");
	} finally {
		await service.stop();
		service.remove();
	}
}
