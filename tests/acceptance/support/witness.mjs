// A witness (C2SP tlog-witness) that shares no code with the service: it keeps
// the tree that it saw last, checks signature and consistency by itself, and
// cosigns. `mood` makes it another, of ill will or out of order.
import { createPublicKey, generateKeyPairSync, sign, verify }
	from "node:crypto";
import { createServer } from "node:http";
import { extendsTree, sha256 } from "./rfc9162.mjs";

const rawKey = (key) => key.export({ format: "der", type: "spki" }).subarray(-32);
const spki = (raw) => createPublicKey({ format: "der", type: "spki",
	key: Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), raw]) });

const textOf = (note) => note.slice(0, note.indexOf("\n\n") + 1);
const tokenOf = (note, name) => {
	const line = note.split("\n").find((l) => l.startsWith(`— ${name} `));
	return line && Buffer.from(line.split(" ")[2], "base64");
};

// Whether the note has this witness's good cosignature.
export function isCosigned(note, witness) {
	const token = tokenOf(note, witness.name);
	if (!token || token.length !== 76) return false;
	const time = token.readBigUInt64BE(4);
	return token.subarray(0, 4).equals(witness.id) &&
		Math.abs(Number(time) - Date.now() / 1000) < 600 &&
		verify(null, Buffer.from(`cosignature/v1\ntime ${time}\n${textOf(note)}`),
			witness.pair.publicKey, token.subarray(12));
}

export class Witness {
	constructor(name, origin, logKey) {
		const raw = Buffer.from(logKey.split(" ")[1], "base64").subarray(-32);
		Object.assign(this, { name, origin, logKey: spki(raw), mood: "good",
			pair: generateKeyPairSync("ed25519"), requests: [],
			state: { size: 0, root: null }, sockets: new Set() });
		this.typed = Buffer.concat([Buffer.from([4]), rawKey(this.pair.publicKey)]);
		this.id = sha256(`${name}\n`, this.typed).subarray(0, 4);
	}

	get line() {
		return `${this.name}+${this.id.toString("hex")}+` +
			`${this.typed.toString("base64")} http://127.0.0.1:${this.port}/w\n`;
	}

	async start() {
		this.server = createServer((req, res) => this.take(req, res));
		this.server.on("connection", (s) => {
			this.sockets.add(s);
			s.once("close", () => this.sockets.delete(s));
		});
		await new Promise((done) =>
			this.server.listen(this.port ?? 0, "127.0.0.1", done));
		this.port = this.server.address().port;
		return this;
	}

	async stop() {
		for (const socket of this.sockets) socket.destroy();
		await new Promise((done) => this.server.close(done));
	}

	async take(req, res) {
		const parts = [];
		for await (const part of req) parts.push(part);
		const [status, body, headers] = this.answer(req,
			Buffer.concat(parts).toString("utf8"));
		this.requests.push({ status, body: Buffer.concat(parts).toString("utf8") });
		if (status === 0) return; // hangs
		res.writeHead(status, headers);
		res.end(body);
	}

	answer(req, text) {
		if (req.method !== "POST" || req.url !== "/w/add-checkpoint") return [405, ""];
		switch (this.mood) {
		case "hangs": return [0, ""];
		case "garbage": return [200, "\u0000\u0001 no signature\n"];
		case "empty": return [200, ""];
		case "too much": return [200, "— x AAAAAAAA\n".repeat(10000)];
		case "redirects": return [307, "", { Location: this.elsewhere }];
		case "refuses": return [500, "<h1>out of order</h1>"];
		case "conflicts": return [409, "no number\n"];
		case "always behind": return [409, "0\n"];
		case "far ahead": return [409, "9007199254740993\n"];
		default: return this.cosign(text);
		}
	}

	cosign(text) {
		const end = text.indexOf("\n\n");
		const [oldLine, ...proof] = text.slice(0, end).split("\n");
		const note = text.slice(end + 2);
		const [origin, sizeLine, root] = note.split("\n");
		const token = tokenOf(note, this.origin);
		const old = Number(oldLine.slice(4)), size = Number(sizeLine);
		const hash = Buffer.from(root, "base64");
		if (!/^old \d+$/.test(oldLine)) return [400, ""];
		if (origin !== this.origin) return [404, ""];
		if (!verify(null, Buffer.from(textOf(note)), this.logKey,
			token.subarray(4))) return [403, ""];
		if (old > size) return [400, ""];
		if (old !== this.state.size)
			return [409, `${this.state.size}\n`, { "Content-Type": "text/x.tlog.size" }];
		if (!extendsTree(old, this.state.root, size, hash,
			proof.map((p) => Buffer.from(p, "base64")))) return [422, ""];
		if (this.mood === "good") this.state = { size, root: hash };
		return [200, this.signatureLine(textOf(note))];
	}

	signatureLine(text) {
		const time = Buffer.alloc(8), now = Math.floor(Date.now() / 1000);
		time.writeBigUInt64BE(BigInt(now));
		const signed = this.mood === "signs another time" ? now - 1 : now;
		const name = this.mood === "signs as another" ? "else.example" : this.name;
		return `— ${name} ${Buffer.concat([this.id, time, sign(null,
			Buffer.from(`cosignature/v1\ntime ${signed}\n${text}`),
			this.pair.privateKey)]).toString("base64")}\n`;
	}
}
