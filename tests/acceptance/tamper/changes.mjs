// What is changed, and in what words docs/auditing.md names it. The ledger's
// batches hold events 0, 1-2, 3, 4-5 (with a payload), 6, 7; what was kept, a
// checkpoint and a clone, is of the time before event 7.
import { chmodSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { flip } from "../tlog/altered.mjs";
import { flipFile, git, objectFile, rehash, resign } from "./ledger.mjs";

export const keptBatches = 5;
const withPayload = 3;

const other = (text, from, to) => {
	if (!text.includes(from)) throw new Error(`no ${from} in ${text}`);
	return text.replace(from, to);
};
const flipToken = (token) => flip(Buffer.from(token, "base64"), 20)
	.toString("base64");
const event = (b, change) => {
	b[2].events[0].event = change(b[2].events[0].event);
};
const rename = (b) => event(b, (text) => other(text, "HWUPKR", "HWUPKS"));
const allEvents = (b) => b.flatMap((batch) => batch.events);

// In the batch that has two events and a payload.
const parts = {
	"a commit's message": (b) => {
		b.message = other(b.message, "Ledger-Head", "Ledger-Heae");
	},
	"a tree: the mode of `events`": (b) => { b.mode = "100755"; },
	"an event": (b) => {
		b.events[1].event = other(b.events[1].event, '"1.00"', '"7.00"');
	},
	"an event's signature": (b) => {
		b.events[1].token = flipToken(b.events[1].token);
	},
	"two events in the other order": (b) => { b.events.reverse(); },
	"an event left out": (b) => { b.events.pop(); },
	"an event there twice": (b) => { b.events.push(b.events[1]); },
	"a payload": (b) => {
		b.payloads[0].content = flip(b.payloads[0].content, 40);
	},
	"a payload left out": (b) => { b.payloads = []; },
	"the root of the index": (b) => {
		b.message = b.message.replace(/(Ledger-Index: ).*/, `$1${"0".repeat(64)}`);
	},
	"another key in `allowed_signers`": (b, { stranger }) => {
		b.signers += stranger.signers;
	},
	"a checkpoint's size": (b) => {
		b.checkpoint = b.checkpoint.replace(/\n(\d+)\n/, (_, n) => `\n${n - 1}\n`);
	},
	"a checkpoint's root": (b) => {
		b.checkpoint = b.checkpoint.replace(/\n(\S+)\n\n/, (_, root) =>
			`\n${flip(Buffer.from(root, "base64"), 9).toString("base64")}\n\n`);
	},
	"a checkpoint's signature": (b) => {
		b.checkpoint = b.checkpoint.replace(/(\S+)\n$/, (_, token) =>
			`${flipToken(token)}\n`);
	},
};

// Git's hashes fit again, the signatures are the old ones: one of each object.
const rewritten = ["a commit's message", "a tree: the mode of `events`", "an event",
	"an event's signature", "a payload", "another key in `allowed_signers`",
	"a checkpoint's root"].map((name) => ({ name,
	batches: (b, keys) => parts[name](b[withPayload], keys) }));
const signed = Object.entries(parts).map(([name, change]) => ({
	name: `${name}; re-signed`,
	batches: (b, keys) => {
		change(b[withPayload], keys);
		for (const batch of b.slice(withPayload)) batch.signer = keys.key;
	} }));

function strangersHistory(b, { key, stranger }) {
	for (const batch of b) batch.signers = stranger.signers;
	b[0].events[0].event = other(b[0].events[0].event, key.public, stranger.public);
	rehash(b);
	resign(b, stranger);
}

// What was kept is by the key that came next, of which nothing is left.
function byAnotherKey(note, { stranger }) {
	const text = note.slice(0, note.indexOf("\n\n") + 1);
	return `${text}\n— ${stranger.origin} ${stranger.token(text)}\n`;
}

const histories = [
	{ name: "a commit without its signature",
		batches: (b) => { b[withPayload].signature = ""; } },
	{ name: "an event changed, all hashes after it made to fit, old signatures",
		batches: (b) => { rename(b); rehash(b); } },
	{ name: "the same, signed from there on by another key",
		batches: (b, { stranger }) => {
			rename(b);
			rehash(b);
			resign(b.slice(2), stranger);
		} },
	{ name: "the whole history made anew with another key",
		batches: strangersHistory },
	{ name: "an event changed and all after it signed anew by the ledger's key",
		batches: (b, { key }) => {
			rename(b);
			rehash(b);
			resign(b.slice(2), key);
		} },
	{ name: "the same with an event that is newer than what was kept",
		nobody: true, batches: (b, { key }) => {
			const last = allEvents(b).at(-1);
			last.event = other(last.event, "529900T8", "529900T9");
			rehash(b);
			resign(b.slice(keptBatches), key);
		} },
	{ name: "the branch moved back, to before what was kept",
		batches: (b) => { b.length = keptBatches - 1; } },
	{ name: "the branch moved back, to before a change of the key; what was kept is newer",
		batches: (b) => { b.length = keptBatches - 1; }, kept: byAnotherKey },
	{ name: "the branch moved back, to what was kept",
		nobody: true, batches: (b) => { b.length = keptBatches; } },
];

const oidOf = (repo, path) => git(repo, ["rev-parse", `main~2${path}`])
	.toString().trim();
const kinds = { "a commit": "", "a tree": "^{tree}", "an `events`": ":events",
	"a `checkpoint`": ":checkpoint", "a payload": ":payloads" };
function fileOf(repo, path) {
	if (path !== ":payloads") return objectFile(repo, oidOf(repo, path));
	const [name] = git(repo, ["ls-tree", "--name-only", oidOf(repo, path)])
		.toString().trim().split("\n");
	return objectFile(repo, oidOf(repo, `:payloads/${name}`));
}
const damages = Object.entries(kinds).map(([kind, path]) => ({
	name: `a byte of the file of ${kind}`,
	files: (repo) => flipFile(fileOf(repo, path), -12) }));
const losses = ["a commit", "an `events`", "a payload"].map((kind) => ({
	name: `the file of ${kind} gone`,
	files: (repo) => rmSync(fileOf(repo, kinds[kind])) }));

// Where the pack holds the events of the batch with two.
function flipPack(repo) {
	git(repo, ["repack", "-q", "-a", "-d"]);
	const folder = join(repo, "objects/pack");
	const pack = join(folder, readdirSync(folder).find((n) => n.endsWith(".pack")));
	const oid = oidOf(repo, ":events");
	const [, size, at] = git(repo, ["verify-pack", "-v", pack]).toString()
		.match(new RegExp(`^${oid} blob +\\d+ (\\d+) (\\d+)`, "m"));
	chmodSync(pack, 0o644);
	flipFile(pack, Number(at) + (Number(size) >> 1));
}

export const changes = [...rewritten, ...signed, ...histories, ...damages,
	{ name: "a byte of a pack file", files: flipPack }, ...losses];
