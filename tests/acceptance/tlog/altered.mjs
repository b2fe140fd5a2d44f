// What is served, with one thing in it changed: nothing of it may be accepted.
import { accepted, refused } from "./verifier.mjs";

export const base64 = (buffers) => buffers.map((b) => b.toString("base64"));

// The bytes with one bit of byte `at` changed.
export function flip(bytes, at) {
	const copy = Buffer.from(bytes);
	copy[at < 0 ? copy.length + at : at] ^= 1;
	return copy;
}

const flip64 = (text, at) => flip(Buffer.from(text, "base64"), at)
	.toString("base64");
const cut = (text, at) => [text.slice(0, text.indexOf(at)),
	text.slice(text.indexOf(at) + at.length)];

// The note with one byte of its signature changed; its first four are the id.
const flipSignature = (note, at) =>
	note.replace(/ (\S+)\n$/, (_, token) => ` ${flip64(token, at)}\n`);

// An OpenSSH key that is another.
export const otherKey = (publicKey) => {
	const [kind, text] = publicKey.split(" ");
	return `${kind} ${flip64(text, -7)}`;
};

// Each byte of the text, each of the signature; another key.
export async function refuseCheckpoints(note, key, others) {
	const text = Buffer.from(note);
	const end = note.lastIndexOf("\n\n") + 1;
	const ask = (checkpoint, by = key) => ({ check: "checkpoint", key: by,
		checkpoint: checkpoint.toString() });
	await accepted([ask(note)]);
	await refused(Array.from({ length: end }, (_, i) => ask(flip(text, i))),
		/invalid signature|malformed note/);
	await refused(Array.from({ length: 64 }, (_, i) =>
		ask(flipSignature(note, 4 + i))), /invalid signature/);
	await refused([...[0, 1, 2, 3].map((i) => ask(flipSignature(note, i))),
		...others.map((by) => ask(note, by))], /no verifiable signatures/);
}

// A bit of each hash, each hash left out, one more.
const lists = (hashes) => [
	...hashes.map((h, i) => hashes.with(i, flip64(h, i % 32))),
	...hashes.map((_, i) => hashes.toSpliced(i, 1)),
	[...hashes, Buffer.alloc(32).toString("base64")],
];

// Another place, event, root or hash; and another size with its own root.
export async function refuseInclusions(question, otherSize, otherRoot) {
	const { index, size } = question;
	await accepted([question]);
	await refused([
		...lists(question.hashes).map((hashes) => ({ ...question, hashes })),
		...[index - 1, index + 1, index ^ 2, size].filter((i) => i >= 0)
			.map((i) => ({ ...question, index: i })),
		{ ...question, event: flip64(question.event, 20) },
		{ ...question, root: flip64(question.root, 31) },
		{ ...question, size: otherSize, root: otherRoot },
		{ ...question, size: 0 },
	], /invalid/);
}

export async function refuseConsistencies(question) {
	const { old } = question;
	await accepted([question]);
	await refused([
		...lists(question.hashes).map((hashes) => ({ ...question, hashes })),
		{ ...question, oldRoot: flip64(question.oldRoot, 0) },
		{ ...question, root: flip64(question.root, 31) },
		...[old + 1, old - 1, 0].map((n) => ({ ...question, old: n })),
		{ ...question, size: old - 1 },
	], /invalid/);
}

// The file with its line, or a part of its proof, changed.
function files(file, other) {
	const [tokens, event] = cut(file.line, " ");
	const [head, note] = cut(file.proof, "\n\n");
	const [first, index, ...hashes] = head.split("\n");
	const seq = Number(index.slice(6));
	const proof = (lines, text = note) => ({ ...file,
		proof: [first, ...lines].join("\n") + `\n\n${text}` });
	return [
		{ ...file, line: other.line }, { ...file, proof: other.proof },
		{ ...file, line: `${tokens} ${flip(event, 20)}` },
		...[0, 4, 35, 67].map((i) => ({ ...file,
			line: `${flip64(tokens, i)} ${event}` })),
		...lists(hashes).map((list) => proof([index, ...list])),
		...[seq + 1, seq ^ 2].map((i) => proof([`index ${i}`, ...hashes])),
		proof([index, ...hashes], flipSignature(note, 40)),
		proof([index, ...hashes], note.replace(/\n\d+\n/, (size) =>
			`\n${Number(size) + 1}\n`)),
		{ ...file, ledger: `${file.ledger}x` },
		{ ...file, format: "probity-evidence/v2" },
	];
}

export async function refuseEvidence(file, other, key, anotherKey) {
	const ask = (evidence, by) => ({ check: "evidence", key: by,
		evidence: JSON.stringify(evidence) });
	await refused([...files(file, other).map((f) => ask(f, key)),
		ask(file, anotherKey)], /invalid|signature|signed|not evidence/);
}
