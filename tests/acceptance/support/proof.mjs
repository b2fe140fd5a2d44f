// Evidence files made from nothing but docs/ledger-format.md and node's crypto,
// and the two programs that check them.
import { spawnSync } from "node:child_process";
import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import { join } from "node:path";
import { isRoot, top } from "./places.mjs";
import { leafOf, pathOf, rootOf, sha256 } from "./rfc9162.mjs";

export function makeKey(seed, origin) {
	const key = createPrivateKey({ format: "der", type: "pkcs8", key: Buffer.concat([
		Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, seed)]) });
	const raw = createPublicKey(key).export({ format: "der", type: "spki" })
		.subarray(-32);
	const blob = Buffer.concat([Buffer.from("0000000b7373682d6564323535313900000020",
		"hex"), raw]);
	const id = sha256(`${origin}\n\x01`, raw).subarray(0, 4);
	const token = (bytes) => Buffer.concat([id, sign(null, Buffer.from(bytes), key)])
		.toString("base64");
	return { token, row: { from_seq: 0, key_id: id.toString("hex"),
		public_key: `ssh-ed25519 ${blob.toString("base64")}`, until_seq: null } };
}

// A ledger of n events whose data hold `text`.
export function makeEvents(n, origin, text) {
	const events = [];
	for (let seq = 0; seq < n; seq++)
		events.push(JSON.stringify({ actor: { credential: null, id: text,
			kind: "operator" }, at: "2026-01-02T03:04:06.000000Z", data: { text },
		idempotency: null, ledger: origin, prev: seq
			? sha256(events[seq - 1]).toString("hex") : "0".repeat(64),
		request: null, seq, subject: { kind: "thing",
			uid: "019b7ca9-9070-7000-8000-0000000f4240" }, type: "thing.done",
		uid: "019b7ca9-9070-7000-8000-000000000000", v: 1 }));
	return events;
}

// The members of an evidence file, and what its proof says.
export function makeEvidence(events, index, origin, key) {
	const leaves = events.map(leafOf);
	const text = `${origin}\n${events.length}\n` +
		`${rootOf(leaves).toString("base64")}\n`;
	const path = pathOf(index, leaves).map((h) => `${h.toString("base64")}\n`);
	return { format: "probity-evidence/v1", keys: [key.row], ledger: origin,
		line: `${key.token(events[index])} ${events[index]}`,
		proof: `c2sp.org/tlog-proof@v1\nindex ${index}\n${path.join("")}\n` +
			`${text}\n— ${origin} ${key.token(text)}\n` };
}

// Without a network, which they may not need.
export function offline(command, { input, env } = {}) {
	const r = spawnSync("unshare", [isRoot ? "-n" : "-rn", ...command],
		{ encoding: "utf8", input, env: { ...process.env, ...env } });
	if (r.error) throw r.error;
	return r;
}
export const script = (...args) =>
	offline([join(top, "scripts/check-proof.sh"), ...args]);
