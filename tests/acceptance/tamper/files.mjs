// What is changed in what is handed out: evidence files, and the tiles.
import { createServer } from "node:http";
import { leafOf } from "../support/rfc9162.mjs";
import { flip, otherKey } from "../tlog/altered.mjs";

const flip64 = (text, at) => flip(Buffer.from(text, "base64"), at)
	.toString("base64");
const inProof = (pattern, by) => ({ good }) => ({ ...good,
	proof: good.proof.replace(pattern, by) });
const ofLine = (by) => ({ good }) => ({ ...good,
	line: good.line.replace(/^(\S+) (.*)$/, (_, token, event) => by(token, event)) });
const flipLast = (_, token) => ` ${flip64(token, 40)}\n`;

// Each from { good, another, stranger, operator }: evidence of an event, of
// another one, and of the event in the ledgers that were made anew.
export const fileChanges = [
	{ name: "an event's text",
		file: ofLine((token, event) => `${token} ${event.replace("HWUPKR", "HWUPKS")}`) },
	{ name: "an event's signature",
		file: ofLine((token, event) => `${flip64(token, 20)} ${event}`) },
	{ name: "another event's line",
		file: ({ good, another }) => ({ ...good, line: another.line }) },
	{ name: "another event's proof",
		file: ({ good, another }) => ({ ...good, proof: another.proof }) },
	{ name: "the proof's index", file: inProof(/\nindex 3\n/, "\nindex 4\n") },
	{ name: "a hash of the proof", file: inProof(/(index 3\n)(\S+)/,
		(_, before, hash) => before + flip64(hash, 9)) },
	{ name: "a hash left out", file: inProof(/(index 3\n)\S+\n/, "$1") },
	{ name: "its checkpoint's size", file: inProof(/\n8\n/, "\n9\n") },
	{ name: "its checkpoint's root", file: inProof(/(\n8\n)(\S+)/,
		(_, before, hash) => before + flip64(hash, 9)) },
	{ name: "its checkpoint's signature", file: inProof(/ (\S+)\n$/, flipLast) },
	{ name: "the ledger's name",
		file: ({ good }) => ({ ...good, ledger: `${good.ledger}x` }) },
	{ name: "another key among its keys", file: ({ good }) => ({ ...good,
		keys: [{ ...good.keys[0], public_key: otherKey(good.keys[0].public_key) }] }) },
	{ name: "evidence of a history made anew with another key",
		file: ({ stranger }) => stranger },
	{ name: "evidence of a history made anew with the ledger's key",
		nobody: true, file: ({ operator }) => operator },
];

const tile = (name) => `tile/${name}/000.p/8`;
export const tileChanges = [
	{ name: "a served checkpoint", path: "checkpoint", at: -10 },
	{ name: "a tile of entries", path: tile("entries"), at: 30 },
	{ name: "the length of an entry", path: tile("entries"), at: 0 },
	{ name: "a tile of hashes", path: tile("0"), at: -1 },
];

const entry = (event) => {
	const length = Buffer.alloc(2);
	length.writeUInt16BE(Buffer.byteLength(event));
	return Buffer.concat([length, Buffer.from(event)]);
};

// The tiles of a small ledger, of which one may have a bit changed.
export function tilesOf({ events, checkpoint }, change) {
	const served = { checkpoint: Buffer.from(checkpoint),
		[tile("entries")]: Buffer.concat(events.map(entry)),
		[tile("0")]: Buffer.concat(events.map(leafOf)) };
	if (change) served[change.path] = flip(served[change.path], change.at);
	return served;
}

export async function serveTiles(served, use) {
	const server = createServer((req, res) => {
		const body = served[req.url.slice(1)];
		res.writeHead(body ? 200 : 404);
		res.end(body);
	});
	await new Promise((done) => server.listen(0, "127.0.0.1", done));
	try {
		return await use(`http://127.0.0.1:${server.address().port}`);
	} finally {
		server.closeAllConnections();
		server.close();
	}
}
