// A DNS server over UDP on a port of this machine. A name has rounds of answers:
// each screening of a URL asks for both families once, and gets one round; the
// last one stays. So a name means something public at first, and 127.0.0.1 then.
//
//	const resolver = await Resolver.start();
//	resolver.say("hook.example.com", ["8.8.8.8"], ["127.0.0.1"]);
//	PROBITY_OUTBOUND_RESOLVER: resolver.address
//
// A record is an address or "CNAME name"; one of NXDOMAIN, SERVFAIL and SILENT
// stands for a whole round. A name that nobody spoke of is NXDOMAIN.
import { createSocket } from "node:dgram";
import { isIP } from "node:net";

const types = { 1: "A", 28: "AAAA" };
const codes = { SERVFAIL: 2, NXDOMAIN: 3 };

const encodeName = (name) => Buffer.concat([...name.split(".").map((label) =>
	Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
Buffer.from([0])]);

function encodeAddress(text) {
	if (isIP(text) === 4) return Buffer.from(text.split(".").map(Number));
	const { hostname } = new URL(`http://[${text}]/`); // shortened, no IPv4 in it
	const [head, tail] = hostname.slice(1, -1).split("::")
		.map((part) => part.split(":").filter(Boolean));
	const groups = tail
		? [...head, ...Array(8 - head.length - tail.length).fill("0"), ...tail]
		: head;
	return Buffer.from(groups.flatMap((g) =>
		[parseInt(g, 16) >> 8, parseInt(g, 16) & 255]));
}

function record(owner, type, data) {
	const fixed = Buffer.alloc(10);
	fixed.writeUInt16BE(type, 0);
	fixed.writeUInt16BE(1, 2);
	fixed.writeUInt16BE(data.length, 8); // the life before it is zero seconds
	return Buffer.concat([owner, fixed, data]);
}

function readQuestion(message) {
	const labels = [];
	let at = 12;
	while (message[at]) {
		labels.push(message.toString("latin1", at + 1, at + 1 + message[at]));
		at += message[at] + 1;
	}
	return { name: labels.join(".").toLowerCase(), end: at + 5,
		type: message.readUInt16BE(at + 1) };
}

export class Resolver {
	static async start() {
		const resolver = new Resolver();
		resolver.names = new Map();
		resolver.given = new Map();
		resolver.queries = [];
		resolver.socket = createSocket("udp4");
		resolver.socket.on("message", (message, from) => {
			const reply = resolver.answerOnce(message, from);
			if (reply) resolver.socket.send(reply, from.port, from.address);
		});
		await new Promise((done) =>
			resolver.socket.bind(0, "127.0.0.1", done));
		return resolver;
	}

	get address() {
		return `127.0.0.1:${this.socket.address().port}`;
	}

	say(name, ...rounds) {
		this.names.set(name, { rounds, asked: { A: 0, AAAA: 0 } });
	}

	round(name, type) {
		const known = this.names.get(name);
		if (!known) return ["NXDOMAIN"];
		const { rounds, asked } = known;
		return rounds[Math.min(asked[type]++, rounds.length - 1)];
	}

	// A question that comes again, as its asker has waited long enough on a
	// busy machine, is the same one and gets the same answer.
	answerOnce(message, { port }) {
		const which = `${port} ${message.toString("latin1")}`;
		if (!this.given.has(which)) this.given.set(which, this.answer(message));
		return this.given.get(which);
	}

	answer(message) {
		const { name, type, end } = readQuestion(message);
		this.queries.push({ name, type: types[type] });
		const said = types[type] ? this.round(name, types[type]) : [];
		if (said[0] === "SILENT") return null;
		const header = Buffer.alloc(12);
		message.copy(header, 0, 0, 2);
		header.writeUInt16BE(0x8180 | (codes[said[0]] ?? 0), 2);
		header.writeUInt16BE(1, 4);
		let owner = Buffer.from([0xc0, 12]);
		const records = [];
		for (const one of said) {
			if (one.startsWith("CNAME ")) {
				const target = encodeName(one.slice(6));
				records.push(record(owner, 5, target));
				owner = target;
			} else if (isIP(one) === (type === 1 ? 4 : 6)) {
				records.push(record(owner, type, encodeAddress(one)));
			}
		}
		header.writeUInt16BE(records.length, 6);
		return Buffer.concat([header, message.subarray(12, end), ...records]);
	}

	stop() {
		return new Promise((done) => this.socket.close(done));
	}
}
