// Lineage manifests made from nothing but docs/ledger-format.md and node's
// crypto, and the two programs that check them.
import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import { join } from "node:path";
import { makeKey, offline } from "./proof.mjs";
import { top } from "./places.mjs";
import { leafOf, pathOf, rootOf, sha256 } from "./rfc9162.mjs";

export const canonical = (v) => Array.isArray(v) ? `[${v.map(canonical).join(",")}]`
	: v && typeof v === "object" ? `{${Object.keys(v).sort().map((k) =>
		`${JSON.stringify(k)}:${canonical(v[k])}`).join(",")}}` : JSON.stringify(v);

const uid = (n) => `019b7ca9-9070-7000-8000-${n.toString(16).padStart(12, "0")}`;

// A manifest key: signs anything, and says what it is.
export function makeManifestKey(seed) {
	const key = createPrivateKey({ format: "der", type: "pkcs8", key: Buffer.concat([
		Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, seed)]) });
	const raw = createPublicKey(key).export({ format: "der", type: "spki" })
		.subarray(-32);
	const blob = Buffer.concat([Buffer.from("0000000b7373682d6564323535313900000020",
		"hex"), raw]);
	return { public: createPublicKey(key), sign: (bytes) => sign(null, Buffer.from(bytes), key).toString("base64"),
		line: `ssh-ed25519 ${blob.toString("base64")}`,
		id: `SHA256:${sha256(blob).toString("base64").replace(/=$/, "")}` };
}

// A ledger of n events, of which number `certified` certifies the key. The data
// of the others holds `text`.
export function makeLedger(n, { origin, key = makeKey(7, origin),
	manifestKey = makeManifestKey(9), certified = 1, text = "x" }) {
	const possession = manifestKey.sign(
		`probity-key/v1\n${origin}\nmanifest\n${manifestKey.line}\n`);
	const events = [];
	for (let seq = 0; seq < n; seq++) {
		const data = seq === 0 ? { algorithms: { hash: "sha256",
			signature: "ed25519", tree: "rfc6962-sha256" }, continues: null,
		public_key: key.row.public_key, recovery_key: makeManifestKey(3).line }
			: seq === certified ? { possession, public_key: manifestKey.line,
				purpose: "manifest" } : { text };
		events.push(canonical({ actor: { credential: null, id: "root",
			kind: "operator" }, at: "2026-01-02T03:04:06.000000Z", data,
		idempotency: null, ledger: origin, prev: seq
			? sha256(events[seq - 1]).toString("hex") : "0".repeat(64),
		request: null, seq, subject: { kind: "thing", uid: uid(seq + 100000) },
		type: seq === 0 ? "ledger.opened" : seq === certified
			? "manifest_key.certified" : "thing.done", uid: uid(seq), v: 1 }));
	}
	const leaves = events.map(leafOf);
	const root = rootOf(leaves);
	const note = `${origin}\n${n}\n${root.toString("base64")}\n`;
	return { origin, key, manifestKey, certified, events, leaves, root,
		checkpoint: `${note}\n— ${origin} ${key.token(note)}\n` };
}

const evidenceOf = (ledger, seq, complete) => ({
	line: `${ledger.key.token(ledger.events[seq])} ${ledger.events[seq]}`,
	path: complete ? []
		: pathOf(seq, ledger.leaves).map((h) => h.toString("base64")), seq });

const runEventOf = (ledger, seq) => {
	const event = JSON.parse(ledger.events[seq]);
	return { eventTime: event.at, eventType: "COMPLETE", inputs: [],
		job: { name: event.type, namespace: event.ledger },
		outputs: [{ name: `${event.subject.kind}/${event.subject.uid}`,
			namespace: event.ledger }],
		producer: "https://probity.dev", run: { runId: event.uid },
		schemaURL: "https://openlineage.io/spec/2-0-2/OpenLineage.json" };
};

// seqs: the events that it holds; all of the ledger's when there are none.
export function makeStatement(ledger, seqs = null) {
	const all = seqs ?? ledger.events.map((_, i) => i);
	return { _type: "https://in-toto.io/Statement/v1",
		predicate: { events: all.map((seq) => runEventOf(ledger, seq)),
			evidence: all.map((seq) => evidenceOf(ledger, seq, !seqs)),
			generated_at: "2026-01-02T03:05:00.000000Z",
			log: { checkpoint: ledger.checkpoint, complete: !seqs,
				key_event: evidenceOf(ledger, ledger.certified, false),
				keys: [ledger.key.row], origin: ledger.origin,
				root_sha256: ledger.root.toString("hex"),
				size: ledger.events.length },
			materials: [], scope: { id: "acme", type: "workspace" } },
		predicateType: "https://probity.dev/predicates/lineage-manifest/v1",
		subject: [{ digest: { sha256: "0".repeat(64) }, name: "workspace/acme" }] };
}

const payloadType = "application/vnd.in-toto+json";

export function makeEnvelope(payload, key) {
	const pae = Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ` +
		`${payloadType} ${payload.length} `), payload]);
	return { payload: payload.toString("base64"), payloadType,
		signatures: [{ keyid: key.id, sig: key.sign(pae) }] };
}

export const makeManifest = (ledger, statement) =>
	makeEnvelope(Buffer.from(canonical(statement)), ledger.manifestKey);

// As the service answers, from the envelope.
export function makeReply(envelope, sealing) {
	const payload = Buffer.from(envelope.payload, "base64");
	const { evidence, generated_at: made, log, scope } = JSON.parse(payload).predicate;
	const index = sealing.events.length - 1;
	const path = pathOf(index, sealing.leaves)
		.map((h) => `${h.toString("base64")}\n`);
	return `{"uid":"${uid(1)}","status":"sealed","scope":${JSON.stringify(scope)},` +
		`"size":${log.size},"event_count":${evidence.length},` +
		`"generated_at":"${made}","manifest":${payload},` +
		`"manifest_sha256":"${sha256(payload).toString("hex")}",` +
		`"bytes":${payload.length},"envelope":` +
		`${JSON.stringify(envelope)},"proof":${JSON.stringify(
			`c2sp.org/tlog-proof@v1\nindex ${index}\n${path.join("")}\n` +
			sealing.checkpoint)},"progress":null,"fault":null,"created_at":null}\n`;
}

export const script = (...args) =>
	offline([join(top, "scripts/check-manifest.sh"), ...args]);
