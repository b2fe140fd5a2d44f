// Requests as an ordinary client makes them, and as one with ill will does.
import { Agent, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { theContract } from "./contract.mjs";

const agent = new Agent({ keepAlive: true, maxSockets: 256 });

// A server closes what was idle for some seconds, and a test that waits for a
// program is deaf meanwhile: what is that old is not used again.
const IDLE_MS = 2000;
const freeSince = new WeakMap();
agent.on("free", (socket) => freeSince.set(socket, Date.now()));

function closeIdle() {
	for (const socket of Object.values(agent.freeSockets).flat())
		if (Date.now() - freeSince.get(socket) > IDLE_MS) socket.destroy();
}

export const paths = {
	workspace: "/api/v2/workspace",
	create: "/api/v2/actions/credit-corporate",
	action: (uid) => `/api/v2/agent-execution/actions/${uid}`,
	assurance: (uid) => `/api/v2/agent-execution/actions/${uid}/assurance`,
	financeCore: "/api/v2/finance-core",
	statements: "/api/v2/finance-core/bank-statements",
};

// body: an object becomes JSON, a string or Buffer goes as it is. Every reply
// is held against the document; unchecked says why one is not, as where a web
// server answers by itself.
// again: a write, too, is sent once more where the server closed the connection
// while it was idle, as clients do with reads.
export async function send(service, method, path,
	{ unchecked, again = method === "GET" || method === "HEAD",
		...options } = {}) {
	const reply = await exchange(service, method, path, options).catch((e) => {
		if (!again || !e.wasIdle) throw e;
		return exchange(service, method, path, options);
	});
	if (unchecked === undefined) theContract().checkAny(method, path, reply);
	return reply;
}

function exchange(service, method, path, { key, body, headers = {}, raw }) {
	const bytes = body === undefined ? null
		: typeof body === "string" || Buffer.isBuffer(body) ? Buffer.from(body)
			: Buffer.from(JSON.stringify(body));
	const all = { ...(key ? { Authorization: `Bearer ${key}` } : {}),
		...(bytes ? { "Content-Type": "application/json",
			"Content-Length": bytes.length } : {}), ...headers };
	for (const name of Object.keys(all))
		if (all[name] === undefined) delete all[name];
	closeIdle();
	return new Promise((done, fail) => {
		const req = httpRequest({ host: "127.0.0.1", port: service.port, agent,
			method, path, headers: all, timeout: 60000 }, (res) => {
			const parts = [];
			res.on("data", (part) => parts.push(part));
			res.on("end", () => {
				const bytes = Buffer.concat(parts);
				const text = bytes.toString("utf8");
				done({ status: res.statusCode, headers: res.headers, text,
					bytes, json: parse(text) });
			});
			res.on("error", fail);
		});
		req.on("timeout", () => req.destroy(new Error(`${method} ${path}: no reply`)));
		req.on("error", (e) => fail(Object.assign(e,
			{ wasIdle: req.reusedSocket &&
				["ECONNRESET", "EPIPE"].includes(e.code) })));
		if (raw) raw(req, bytes);
		else req.end(bytes ?? undefined);
	});
}

export function parse(text) {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

// Bytes as they are; the reply up to the server's close.
export function sendRaw(service, text, { end = false } = {}) {
	return new Promise((done, fail) => {
		const socket = connect(service.port, "127.0.0.1");
		const parts = [];
		socket.setTimeout(30000, () => socket.destroy(new Error("no reply")));
		socket.on("data", (part) => parts.push(part));
		socket.on("error", (e) => parts.length ? finish() : fail(e));
		socket.on("close", finish);
		if (end) socket.end(text);
		else socket.write(text);
		function finish() {
			const reply = Buffer.concat(parts).toString("utf8");
			const [head, ...rest] = reply.split("\r\n\r\n");
			const lines = head.split("\r\n");
			const body = rest.join("\r\n\r\n");
			const at = body.indexOf("{");
			done({ status: Number(lines[0].split(" ")[1]), head, text: body,
				// A chunked body's one object lies between its sizes.
				json: parse(body) ??
					parse(body.slice(at, body.lastIndexOf("}") + 1)) });
		}
	});
}

export const rawRequest = (method, target, lines, body = "") =>
	[`${method} ${target} HTTP/1.1`, "Host: 127.0.0.1", "Connection: close",
		...lines, "", body].join("\r\n");

export function close() {
	agent.destroy();
}
