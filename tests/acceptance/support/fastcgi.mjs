// A web server's side of FastCGI, as a peer of probity.fcgi's own socket: to
// send what no shipped configuration lets through.
import { connect } from "node:net";

const BEGIN = 1, PARAMS = 4, STDIN = 5;
export const KEEP = 1;

// Padded to eight bytes, as web servers do.
export function record(type, content = Buffer.alloc(0), id = 1) {
	const padding = -content.length & 7;
	const head = Buffer.from([1, type, id >> 8, id & 255, content.length >> 8,
		content.length & 255, padding, 0]);
	return Buffer.concat([head, content, Buffer.alloc(padding)]);
}

const pair = ([name, value]) => Buffer.concat([
	Buffer.from([Buffer.byteLength(name), Buffer.byteLength(value)]),
	Buffer.from(name + value)]);

// A request whose body has these parts, each shorter than 64 KiB.
export const requestOf = (method, uri, parts = [], flags = KEEP) =>
	Buffer.concat([record(BEGIN, Buffer.from([0, 1, flags, 0, 0, 0, 0, 0])),
		record(PARAMS, Buffer.concat(Object.entries({ REQUEST_METHOD: method,
			REQUEST_URI: uri }).map(pair))), record(PARAMS),
		...parts.map((part) => record(STDIN, part)), record(STDIN)]);

// Sends bytes, and gives the statuses of all replies once the program has
// closed the connection, or once `enough` of them have come.
export function exchange(service, bytes, enough = Infinity) {
	return new Promise((done, fail) => {
		const socket = connect({ path: service.socket });
		let text = "";
		const statuses = () => [...text.matchAll(/Status: (\d+)/g)]
			.map(([, status]) => Number(status));
		socket.setTimeout(60000, () => socket.destroy(
			new Error(`neither a reply nor a close, after ${statuses()}`)));
		socket.on("data", (part) => {
			text += part.toString("latin1");
			if (statuses().length >= enough) socket.destroy();
		});
		// A program that closes in the middle of our sending.
		socket.on("error", (e) => e.code === "EPIPE" || e.code === "ECONNRESET"
			? socket.destroy() : fail(e));
		socket.on("close", () => done(statuses()));
		socket.write(bytes);
	});
}
