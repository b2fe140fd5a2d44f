// Builds the verifier that main.go is, once, and asks it.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { buildFolder, top } from "../support/places.mjs";

const program = join(buildFolder, "tlog/verifier");

// From Debian's own packages, without a network.
export function build() {
	execFileSync("go", ["build", "-o", program, "."], {
		cwd: join(top, "tests/acceptance/tlog"),
		env: { ...process.env, GO111MODULE: "off", GOPROXY: "off",
			GOPATH: "/usr/share/gocode", GOFLAGS: "",
			GOCACHE: join(buildFolder, "tlog/cache") } });
}

// One answer for each question, in their order.
export async function ask(questions) {
	const child = spawn(program, { stdio: ["pipe", "pipe", "inherit"] });
	const parts = [];
	child.stdout.on("data", (part) => parts.push(part));
	child.stdin.end(questions.map((q) => JSON.stringify(q)).join("\n"));
	const code = await new Promise((done, fail) => {
		child.once("error", fail);
		child.once("close", done);
	});
	assert.equal(code, 0);
	const answers = Buffer.concat(parts).toString().trimEnd().split("\n");
	assert.equal(answers.length, questions.length);
	return answers;
}

// All are good; what each shows.
export async function accepted(questions) {
	const answers = await ask(questions);
	answers.forEach((answer, i) => assert.match(answer, /^good/,
		`${answer}: ${JSON.stringify(questions[i]).slice(0, 1000)}`));
	return answers.map((answer) => answer.slice(5));
}

// All are refused, for a reason of that kind: not because of a bad question.
export async function refused(questions, reason) {
	assert.ok(questions.length > 0);
	const answers = await ask(questions);
	answers.forEach((answer, i) => assert.match(answer, reason,
		`${answer}: ${JSON.stringify(questions[i]).slice(0, 1000)}`));
	answers.forEach((answer) => assert.match(answer, /^refused /));
}

// As C2SP's signed-note has it, from an OpenSSH key.
export function verifierKey(origin, publicKey) {
	const raw = Buffer.from(publicKey.split(" ")[1], "base64").subarray(-32);
	const key = Buffer.concat([Buffer.from([1]), raw]);
	const id = createHash("sha256").update(`${origin}\n`).update(key).digest("hex");
	return `${origin}+${id.slice(0, 8)}+${key.toString("base64")}`;
}
