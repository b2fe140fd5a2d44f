// A receiver of webhooks: https on loopback under an authority of its own. Each
// path is an endpoint, which answers as it was told; every request is kept, and
// checked by the libraries that its integrators would take.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createPublicKey, verify } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";

const spki = Buffer.from("302a300506032b6570032100", "hex");

// v1a of Standard Webhooks: Ed25519 over the same text.
export function v1aHolds(request, publicKey) {
	const key = createPublicKey({ format: "der", type: "spki", key: Buffer.concat([
		spki, Buffer.from(publicKey.replace(/^whpk_/, ""), "base64")]) });
	const { "webhook-id": id, "webhook-timestamp": at } = request.headers;
	return request.headers["webhook-signature"].split(" ")
		.filter((one) => one.startsWith("v1a,"))
		.some((one) => verify(null, Buffer.from(`${id}.${at}.${request.text}`), key,
			Buffer.from(one.slice(4), "base64")));
}

// Both signatures, and the members that every body has.
export function assertSigned(request, { secret, public_key }) {
	const body = new Webhook(secret).verify(request.text, request.headers);
	assert.ok(v1aHolds(request, public_key), "v1a");
	assert.match(request.headers["webhook-id"], /^msg_[0-9a-f-]{36}$/);
	assert.match(request.headers["content-type"], /^application\/json/);
	assert.deepEqual(Object.keys(body), ["data", "timestamp", "type"]);
	assert.ok(request.text.length < 20000);
	return body;
}

export class Receiver {
	requests = [];
	behaviours = new Map();
	held = new Set();

	// Makes its certificate in the folder.
	constructor(folder) {
		this.folder = folder;
		const openssl = (...args) => execFileSync("openssl", args,
			{ cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
		openssl("req", "-x509", "-newkey", "ec", "-pkeyopt",
			"ec_paramgen_curve:P-256", "-nodes", "-keyout", "hook-ca.key", "-out",
			"hook-ca.pem", "-subj", "/CN=receivers");
		openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
			"-nodes", "-keyout", "hook.key", "-out", "hook.csr", "-subj", "/CN=hook");
		writeFileSync(join(folder, "hook.ext"),
			"subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n");
		openssl("x509", "-req", "-in", "hook.csr", "-CA", "hook-ca.pem", "-CAkey",
			"hook-ca.key", "-extfile", "hook.ext", "-out", "hook.pem");
		this.ca = join(folder, "hook-ca.pem");
	}

	async start() {
		const file = (name) => readFileSync(join(this.folder, name));
		this.server = createServer({ key: file("hook.key"), cert: file("hook.pem") },
			(req, res) => this.take(req, res));
		await new Promise((done) => this.server.listen(0, "127.0.0.1", done));
		this.place = `127.0.0.1:${this.server.address().port}`;
		return this;
	}

	url(path) {
		return `https://${this.place}${path}`;
	}

	// answer: a status; or a function of how many came before that gives a
	// status, {status, headers}, or null to leave the request unanswered.
	on(path, answer) {
		this.behaviours.set(path, answer);
	}

	take(req, res) {
		const parts = [];
		req.on("data", (part) => parts.push(part));
		req.on("end", () => {
			const request = { path: req.url, headers: req.headers, at: Date.now(),
				text: Buffer.concat(parts).toString("utf8") };
			const n = this.of(req.url).length;
			this.requests.push(request);
			this.arrived?.(request);
			this.answer(res, this.behaviours.get(req.url) ?? 200, n);
		});
	}

	answer(res, behaviour, n) {
		const answer = typeof behaviour === "function" ? behaviour(n) : behaviour;
		if (answer === null) {
			this.held.add(res);
			res.on("close", () => this.held.delete(res));
			return;
		}
		const { status, headers = {} } =
			typeof answer === "number" ? { status: answer } : answer;
		res.writeHead(status, headers);
		res.end();
	}

	of(path) {
		return this.requests.filter((r) => r.path === path);
	}

	stop() {
		for (const res of this.held) res.destroy();
		this.server.closeAllConnections();
		this.server.close();
	}
}
