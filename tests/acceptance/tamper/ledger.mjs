// A ledger as parts that can be changed one by one, and written again as a
// repository in which git's own hashes fit. Made from docs/ledger-format.md.
import { execFileSync } from "node:child_process";
import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { indexRoot } from "../support/complete.mjs";
import { leafOf, rootOf, sha256 } from "../support/rfc9162.mjs";

// A key that signs events, checkpoints and commits of a ledger.
export class Key {
	constructor(pem, origin) {
		Object.assign(this, { origin, private: createPrivateKey(pem) });
		const raw = createPublicKey(this.private)
			.export({ format: "der", type: "spki" }).subarray(-32);
		this.blob = Buffer.concat([string("ssh-ed25519"), string(raw)]);
		this.public = `ssh-ed25519 ${this.blob.toString("base64")}`;
		this.id = sha256(`${origin}\n\x01`, raw).subarray(0, 4);
		this.signers = `${origin} namespaces="git" ${this.public}\n`;
	}

	sign(bytes) {
		return sign(null, Buffer.from(bytes), this.private);
	}

	token(bytes) {
		return Buffer.concat([this.id, this.sign(bytes)]).toString("base64");
	}

	// The value of a commit's gpgsig header: PROTOCOL.sshsig.
	commitSignature(commit) {
		const hash = createHash("sha512").update(commit).digest();
		const rest = [string("git"), string(""), string("sha512")];
		const signature = this.sign(Buffer.concat([Buffer.from("SSHSIG"), ...rest,
			string(hash)]));
		const blob = Buffer.concat([Buffer.from("SSHSIG\0\0\0\x01"),
			string(this.blob), ...rest,
			string(Buffer.concat([string("ssh-ed25519"), string(signature)]))]);
		return ["-----BEGIN SSH SIGNATURE-----",
			...blob.toString("base64").match(/.{1,70}/g),
			"-----END SSH SIGNATURE-----"].join("\n ");
	}
}

function string(value) {
	const bytes = Buffer.from(value);
	const length = Buffer.alloc(4);
	length.writeUInt32BE(bytes.length);
	return Buffer.concat([length, bytes]);
}

export const git = (repo, args, input = "") => execFileSync("git",
	["-C", repo, ...args], { input, stdio: ["pipe", "pipe", "pipe"],
		maxBuffer: 1 << 26 });

// The bytes of each object, in their order; null for one that is not there.
function readObjects(repo, names) {
	const all = git(repo, ["cat-file", "--batch"], `${names.join("\n")}\n`);
	let at = 0;
	return names.map(() => {
		const start = all.indexOf("\n", at) + 1;
		const size = all.toString("utf8", at, start).match(/^\w+ \w+ (\d+)\n$/)?.[1];
		at = start + (size === undefined ? 0 : Number(size) + 1);
		return size === undefined ? null
			: all.subarray(start, start + Number(size));
	});
}

function readPayloads(repo, folder, tree) {
	const names = [...(tree?.toString("latin1") ?? "")
		.matchAll(/100644 ([0-9a-f]{64})\0/g)].map(([, name]) => name);
	if (names.length === 0) return [];
	return readObjects(repo, names.map((name) => `${folder}/${name}`))
		.map((content, i) => ({ name: names[i], content: Buffer.from(content) }));
}

// Its batches from the first on. `who` is what a commit has before its signature.
export function readLedger(repo) {
	const commits = git(repo, ["rev-list", "--reverse", "main"]).toString().trim()
		.split("\n");
	const objects = readObjects(repo, commits.flatMap((c) => [c,
		`${c}:allowed_signers`, `${c}:checkpoint`, `${c}:events`, `${c}:payloads`]));
	return commits.map((oid, i) => {
		const [commit, signers, checkpoint, events, tree] =
			objects.slice(i * 5, i * 5 + 5);
		const [, who, signature, message] = commit.toString().match(
			/^(?:(?:tree|parent) .*\n)+((?:.+\n)*?)(?:gpgsig ([^]*?)\n)?\n([^]*)$/);
		return { oid, who, signature, message, mode: "100644",
			signers: signers.toString(), checkpoint: checkpoint.toString(),
			events: events.toString().trimEnd().split("\n").map((line) => {
				const at = line.indexOf(" ");
				return { token: line.slice(0, at), event: line.slice(at + 1) };
			}),
			payloads: readPayloads(repo, `${oid}:payloads`, tree) };
	});
}

// Sequence numbers, hash chain, roots and trailers made to fit; no signature.
export function rehash(batches) {
	const leaves = [], events = [];
	let prev = "0".repeat(64);
	for (const batch of batches) {
		for (const it of batch.events) {
			it.event = it.event
				.replace(/,"prev":"[0-9a-f]{64}"/, `,"prev":"${prev}"`)
				.replace(/"seq":\d+,"subject"/, `"seq":${leaves.length},"subject"`);
			prev = sha256(it.event).toString("hex");
			leaves.push(leafOf(it.event));
			events.push(it.event);
		}
		const root = rootOf(leaves);
		batch.checkpoint = batch.checkpoint.replace(/\n\d+\n.*\n/,
			`\n${leaves.length}\n${root.toString("base64")}\n`);
		batch.message = batch.message
			.replace(/(Ledger-Size: ).*/, `$1${leaves.length}`)
			.replace(/(Ledger-Root: ).*/, `$1${root.toString("hex")}`)
			.replace(/(Ledger-Head: ).*/, `$1${prev}`)
			.replace(/(Ledger-Index: ).*/, (_, name) => name + indexRoot(events))
			.replace(/(Ledger-Signers: ).*/,
				`$1${sha256(batch.signers).toString("hex")}`);
	}
}

// Events, checkpoints and commits signed by the key.
export function resign(batches, key) {
	for (const batch of batches) {
		for (const it of batch.events) it.token = key.token(it.event);
		const text = batch.checkpoint.slice(0, batch.checkpoint.indexOf("\n\n") + 1);
		batch.checkpoint = `${text}\n— ${key.origin} ${key.token(text)}\n`;
		batch.signer = key;
	}
}

class Repository {
	constructor(dir) {
		this.dir = dir;
		for (const folder of ["refs/heads", "objects"])
			mkdirSync(join(dir, folder), { recursive: true });
		writeFileSync(join(dir, "HEAD"), "ref: refs/heads/main\n");
		writeFileSync(join(dir, "config"), "[core]\n\tbare = true\n" +
			"\trepositoryFormatVersion = 0\n");
	}

	add(type, content) {
		const bytes = Buffer.from(content);
		const whole = Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes]);
		const oid = createHash("sha1").update(whole).digest("hex");
		const file = objectFile(this.dir, oid);
		mkdirSync(join(file, ".."), { recursive: true });
		// Not compressed: a byte changed in the file is one of the content.
		writeFileSync(file, deflateSync(whole, { level: 0 }));
		return oid;
	}

	tree(entries) {
		return this.add("tree", Buffer.concat(entries.flatMap(([mode, name, oid]) =>
			[Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, "hex")])));
	}
}

export const objectFile = (dir, oid) =>
	join(dir, "objects", oid.slice(0, 2), oid.slice(2));

function writeBatch(repository, batch, parent) {
	const blob = (content) => repository.add("blob", content);
	const lines = batch.events.map((it) => `${it.token} ${it.event}\n`).join("");
	const entries = [["100644", "allowed_signers", blob(batch.signers)],
		["100644", "checkpoint", blob(batch.checkpoint)],
		[batch.mode, "events", blob(lines)]];
	if (batch.payloads.length > 0)
		entries.push(["40000", "payloads", repository.tree(batch.payloads.map((p) =>
			["100644", p.name, blob(p.content)]))]);
	const head = `tree ${repository.tree(entries)}\n` +
		(parent ? `parent ${parent}\n` : "") + batch.who;
	const rest = `\n${batch.message}`;
	const signature = batch.signer
		? batch.signer.commitSignature(head + rest) : batch.signature;
	return repository.add("commit", head +
		(signature ? `gpgsig ${signature}\n` : "") + rest);
}

// A bare repository of these batches; its last commit.
export function writeLedger(dir, batches) {
	const repository = new Repository(dir);
	let parent = null;
	for (const batch of batches) parent = writeBatch(repository, batch, parent);
	writeFileSync(join(dir, "refs/heads/main"), `${parent}\n`);
	return parent;
}

// One bit of one byte of a file, counted from its end if negative.
export function flipFile(file, at) {
	const bytes = readFileSync(file);
	bytes[at < 0 ? bytes.length + at : at] ^= 1;
	writeFileSync(file, bytes, { mode: 0o644 });
}
