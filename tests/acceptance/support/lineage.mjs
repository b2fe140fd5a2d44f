// Lineage manifests checked from their description alone: canonical JSON, DSSE,
// paths and signatures by Node's own means, OpenLineage 2-0-2 by its rules.
import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { includes, leafOf, rootOf, sha256 } from "./rfc9162.mjs";

export const payloadType = "application/vnd.in-toto+json";

// RFC 8785 for what manifests hold: no number but integers.
export const canonical = (v) => Array.isArray(v)
	? `[${v.map(canonical).join(",")}]`
	: v !== null && typeof v === "object"
		? `{${Object.keys(v).sort().map((name) =>
			`${JSON.stringify(name)}:${canonical(v[name])}`).join(",")}}`
		: JSON.stringify(v);

// DSSE's pre-authentication encoding.
export const pae = (type, body) => Buffer.concat([
	Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${body.length} `), body]);

const blobOf = (line) => Buffer.from(line.split(" ")[1], "base64");
export const keyOf = (line) => createPublicKey({ format: "der", type: "spki",
	key: Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"),
		blobOf(line).subarray(-32)]) });
export const fingerprint = (line) =>
	`SHA256:${sha256(blobOf(line)).toString("base64").replace(/=+$/, "")}`;

// What OpenLineage's schema of RunEvents says, facets of any kind included.
const dataset = { type: "object", required: ["namespace", "name"],
	properties: { namespace: { type: "string" }, name: { type: "string" } } };
const facet = { type: "object", required: ["_producer", "_schemaURL"],
	properties: { _producer: { type: "string", format: "uri" },
		_schemaURL: { type: "string", format: "uri" } } };
const facets = { type: "object", additionalProperties: facet };
const ajv = addFormats(new Ajv2020({ allErrors: true }));
const runEvent = ajv.compile({ type: "object",
	required: ["eventTime", "producer", "schemaURL", "run", "job"],
	properties: {
		eventTime: { type: "string", format: "date-time" },
		producer: { type: "string", format: "uri" },
		schemaURL: { type: "string", format: "uri",
			pattern: "/2-0-2/OpenLineage\\.json#/\\$defs/RunEvent$" },
		eventType: { enum: ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL",
			"OTHER"] },
		run: { type: "object", required: ["runId"], properties: {
			runId: { type: "string", format: "uuid" }, facets } },
		job: { type: "object", required: ["namespace", "name"], properties: {
			namespace: { type: "string" }, name: { type: "string" }, facets } },
		inputs: { type: "array", items: dataset },
		outputs: { type: "array", items: dataset },
	} });
export function assertRunEvent(event) {
	assert.ok(runEvent(event), ajv.errorsText(runEvent.errors));
}
assert.equal(runEvent({ eventTime: "yesterday" }), false);

export const eventOf = (line) => JSON.parse(line.slice(line.indexOf(" ") + 1));
const bytesOf = (line) => Buffer.from(line.slice(line.indexOf(" ") + 1));

// The ledger's key that signs this event.
const keyAt = (keys, seq) => keys.find((k) =>
	seq >= k.from_seq && (k.until_seq === null || seq <= k.until_seq)).public_key;

// The line's one signature, by the ledger's key.
function assertSigned(line, ledgerKey) {
	const token = Buffer.from(line.slice(0, line.indexOf(" ")), "base64");
	assert.ok(verify(null, bytesOf(line), keyOf(ledgerKey), token.subarray(4)));
}

function checkpointOf(note, ledgerKey) {
	const [text, signature] = [note.slice(0, note.indexOf("\n\n") + 1),
		note.slice(note.indexOf("\n\n") + 2)];
	const [origin, size, root] = text.split("\n");
	const bytes = Buffer.from(signature.trim().split(" ").at(-1), "base64");
	assert.ok(verify(null, Buffer.from(text), keyOf(ledgerKey), bytes.subarray(4)));
	return { origin, size: Number(size), root: Buffer.from(root, "base64") };
}

const path = (item) => item.path.map((hash) => Buffer.from(hash, "base64"));

function assertEvidence({ events, evidence, log }, root) {
	assert.equal(events.length, evidence.length);
	evidence.forEach((item, i) => {
		const event = eventOf(item.line), run = events[i];
		assertRunEvent(run);
		assertSigned(item.line, keyAt(log.keys, item.seq));
		assert.equal(event.seq, item.seq);
		assert.ok(i === 0 || evidence[i - 1].seq < item.seq);
		assert.deepEqual([run.eventType, run.run.runId, run.eventTime, run.job],
			["COMPLETE", event.uid, event.at,
				{ namespace: log.origin, name: event.type }]);
		assert.deepEqual(run.outputs[0], { namespace: log.origin,
			name: `${event.subject.kind}/${event.subject.uid}` });
		assert.deepEqual([run.run.facets.probity_event.seq,
			run.run.facets.probity_event.hash],
		[item.seq, sha256(bytesOf(item.line)).toString("hex")]);
		if (log.complete) assert.deepEqual(item.path, []);
		else assert.ok(includes(leafOf(bytesOf(item.line)), item.seq, log.size,
			path(item), root));
	});
	if (!log.complete) return;
	assert.deepEqual(evidence.map((item) => item.seq),
		[...Array(log.size).keys()]);
	assert.deepEqual(rootOf(evidence.map((item) => leafOf(bytesOf(item.line)))),
		root);
}

// The event by which the ledger vouches for the manifest's key.
function assertCertified({ key_event: item, keys, origin, size }, root) {
	const event = eventOf(item.line), { purpose, public_key, possession } = event.data;
	assertSigned(item.line, keyAt(keys, item.seq));
	assert.ok(includes(leafOf(bytesOf(item.line)), item.seq, size, path(item), root));
	assert.deepEqual([event.type, event.seq, purpose],
		["manifest_key.certified", item.seq, "manifest"]);
	assert.ok(verify(null,
		Buffer.from(`probity-key/v1\n${origin}\nmanifest\n${public_key}\n`),
		keyOf(public_key), Buffer.from(possession, "base64")));
	assert.ok(keys.every((k) => k.public_key !== public_key));
	return public_key;
}

// One key after the other, each named by an event in the same tree.
function assertKeys({ checkpoint, keys, origin, size }, root, ledgerKey) {
	assert.deepEqual([keys[0].public_key, keys[0].from_seq], [ledgerKey, 0]);
	assert.equal(keys.at(-1).until_seq, null);
	keys.slice(1).forEach((key, i) => {
		assert.equal(key.from_seq, keys[i].until_seq + 1);
		const event = eventOf(key.line), revoked = event.type === "key.revoked";
		const [head, ...note] = key.proof.split("\n\n");
		const [, index, ...hashes] = head.split("\n");
		assert.equal(note.join("\n\n"), checkpoint);
		assert.equal(index, `index ${event.seq}`);
		assert.ok(includes(leafOf(bytesOf(key.line)), event.seq, size,
			hashes.map((hash) => Buffer.from(hash, "base64")), root));
		assertSigned(key.line, revoked && key.from_seq === event.seq
			? key.public_key : keys[i].public_key);
		if (key.from_seq === event.seq) return; // the recovery key's own event
		const { public_key, possession } = event.data;
		assert.deepEqual([public_key, event.seq + 1], [key.public_key, key.from_seq]);
		assert.ok(verify(null,
			Buffer.from(`probity-key/v1\n${origin}\nledger\n${public_key}\n`),
			keyOf(public_key), Buffer.from(possession, "base64")));
	});
}

// Everything that the reply claims, with the ledger's first key; returns the
// predicate.
export function assertManifest(reply, ledgerKey, { keys = 1 } = {}) {
	const { manifest, envelope } = reply;
	const payload = Buffer.from(envelope.payload, "base64");
	assert.equal(reply.status, "sealed");
	assert.equal(payload.toString(), canonical(manifest));
	assert.equal(reply.manifest_sha256, sha256(payload).toString("hex"));
	assert.equal(reply.bytes, payload.length);
	assert.equal(envelope.payloadType, payloadType);
	assert.equal(envelope.signatures.length, 1);
	assert.equal(manifest._type, "https://in-toto.io/Statement/v1");
	assert.equal(manifest.predicateType,
		"https://probity.dev/predicates/lineage-manifest/v1");
	const { predicate } = manifest, { log } = predicate;
	const note = checkpointOf(log.checkpoint, keyAt(log.keys, log.size - 1));
	assert.deepEqual([note.origin, note.size, note.root.toString("hex")],
		[log.origin, log.size, log.root_sha256]);
	assertKeys(log, note.root, ledgerKey);
	const key = assertCertified(log, note.root);
	const [{ keyid, sig }] = envelope.signatures;
	assert.equal(keyid, fingerprint(key));
	assert.ok(verify(null, pae(payloadType, payload), keyOf(key),
		Buffer.from(sig, "base64")));
	assertEvidence(predicate, note.root);
	assert.equal(log.keys.length, keys);
	return predicate;
}

// The .tlog-proof of the event that sealed the export.
export function assertSealing(reply, line, ledgerKey) {
	const [head, ...rest] = reply.proof.split("\n\n");
	const [format, index, ...hashes] = head.split("\n");
	const note = checkpointOf(rest.join("\n\n"), ledgerKey);
	assert.equal(format, "c2sp.org/tlog-proof@v1");
	const seq = Number(index.split(" ")[1]), event = eventOf(line);
	assert.equal(event.seq, seq);
	assert.ok(includes(leafOf(bytesOf(line)), seq, note.size,
		hashes.map((hash) => Buffer.from(hash, "base64")), note.root));
	assert.deepEqual([event.type, event.subject, event.data.manifest_sha256],
		["lineage_export.sealed", { kind: "lineage_export", uid: reply.uid },
			reply.manifest_sha256]);
}
