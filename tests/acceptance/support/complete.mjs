// Whether a list is complete, from nothing but docs/ledger-format.md ("The
// index") and node's crypto: it shares no code with the service.
import assert from "node:assert/strict";
import { createHash, createPublicKey, verify } from "node:crypto";

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

// The raw key of "ssh-ed25519 <base64>".
const rawKey = (line) => Buffer.from(line.split(" ")[1], "base64").subarray(-32);
const publicKey = (raw) => createPublicKey({ format: "der", type: "spki",
	key: Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), raw]) });
const string = (bytes) => {
	const length = Buffer.alloc(4);
	length.writeUInt32BE(Buffer.byteLength(bytes));
	return Buffer.concat([length, Buffer.from(bytes)]);
};

// PROTOCOL.sshsig: the armored blob ends in the 64 bytes of the signature; the
// key stands at its place near the beginning.
export function commitIsSigned(commit, key) {
	const header = /gpgsig (-----BEGIN[^]*?-----END SSH SIGNATURE-----)\n/.exec(commit);
	if (!header) return false;
	const blob = Buffer.from(header[1].split("\n").slice(1, -1).join(""), "base64");
	const signed = Buffer.concat([Buffer.from("SSHSIG"), string("git"), string(""),
		string("sha512"), string(createHash("sha512")
			.update(commit.replace(header[0], "")).digest())]);
	return blob.subarray(14, 14 + 51).subarray(-32).equals(rawKey(key)) &&
		verify(null, signed, publicKey(rawKey(key)), blob.subarray(-64));
}

const trailer = (commit, name) =>
	new RegExp(`^${name}: (\\S+)$`, "m").exec(commit.split("\n\n").at(-1))?.[1];

function parse(page) {
	const [head, ...lines] = page.split("\n");
	const [, level] = /^probity-index\/v1 (\d+)$/.exec(head);
	assert.equal(lines.pop(), "");
	const rows = lines.map((line) => {
		const words = line.split(" ");
		return words[0] === "-" ? { key: "", hash: words[1] }
			: { key: words.slice(0, 2).join(" "), count: words.at(-2),
				hash: words.at(-1) };
	});
	return { level: Number(level), rows };
}

// Every row of the index in [from, to], found by hashes from the root down.
function rowsOf(pages, root, from, to) {
	const byHash = new Map(pages.map((page) => [sha256(page), page]));
	const used = new Set();
	const walk = (hash, level) => {
		const page = byHash.get(hash);
		assert.ok(page !== undefined, `the page ${hash} is not there`);
		used.add(hash);
		const p = parse(page);
		assert.ok(level === undefined || p.level === level, "a page's level");
		if (p.level === 0)
			return p.rows.filter(({ key }) => key >= from && key <= to);
		return p.rows.flatMap(({ key, hash: below }, i) =>
			key > to || (p.rows[i + 1]?.key ?? "~") <= from ? []
				: walk(below, p.level - 1));
	};
	const rows = walk(root);
	assert.equal(used.size, pages.length, "pages that nothing needs");
	return rows;
}

// How many leading groups of five bits of the key's hash are zero.
function height(key) {
	const bits = [...createHash("sha256").update(key).digest()]
		.map((byte) => byte.toString(2).padStart(8, "0")).join("");
	return Math.floor(bits.indexOf("1") / 5);
}

// The root of the index over these events, as texts.
export function indexRoot(events) {
	const entries = new Map();
	for (const event of events) {
		const { kind, uid } = JSON.parse(event).subject;
		const it = entries.get(`${kind} ${uid}`) ?? { n: 0, chain: "0".repeat(64) };
		entries.set(`${kind} ${uid}`,
			{ n: it.n + 1, chain: sha256(it.chain + sha256(event)) });
	}
	let rows = [...entries].sort(([a], [b]) => a < b ? -1 : 1)
		.map(([key, { n, chain }]) => ({ key, line: `${key} ${n} ${chain}\n` }));
	for (let level = 0; ; level++) {
		const above = [{ key: "", from: 0 }, ...rows.map(({ key }, from) =>
			({ key, from })).filter(({ key }) => key && height(key) > level)];
		const pages = above.map(({ key, from }, i) => ({ key, hash: sha256(
			`probity-index/v1 ${level}\n${rows.slice(from, above[i + 1]?.from)
				.map(({ line }) => line).join("")}`) }));
		if (pages.length === 1) return pages[0].hash;
		rows = pages.map(({ key, hash }) => ({ key, line: `${key || "-"} ${hash}\n` }));
	}
}

// Throws unless the reply's records are all that there are.
export function checkComplete(reply, key) {
	const { data, complete: c } = reply;
	assert.equal(c.format, "probity-index/v1");
	assert.ok(commitIsSigned(c.commit, key), "the commit's signature");
	assert.equal(trailer(c.commit, "Ledger-Size"), String(c.size));
	const from = c.subject ? `${c.kind} ${c.subject}`
		: `${c.kind} ${c.after ? `${c.after}~` : ""}`;
	const to = c.subject ? from : `${c.kind} ${c.to ?? "~"}`;
	const rows = rowsOf(c.pages, trailer(c.commit, "Ledger-Index"), from, to);
	if (!c.subject) {
		assert.deepEqual(data.map(({ uid }) => `${c.kind} ${uid}`),
			rows.map((row) => row.key));
		assert.equal(c.to, reply.has_more ? data.at(-1).uid : null);
		return rows;
	}
	let chain = "0".repeat(64);
	for (const { hash } of data) chain = sha256(chain + hash);
	assert.deepEqual(rows, data.length === 0 ? []
		: [{ key: from, count: String(data.length), hash: chain }]);
	return rows;
}
