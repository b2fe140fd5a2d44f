// Many clients at once, each with one request at a time.
import { send } from "./client.mjs";

// make(i) gives {method, path, …}. Counts replies by status for `seconds`.
export async function load(service, { clients, seconds, make, more }) {
	const end = Date.now() + seconds * 1000;
	const statuses = new Map(), errors = [], replies = [];
	let n = 0;

	async function client() {
		while (Date.now() < end && (!more || more())) {
			const { method, path, ...options } = make(n++);
			try {
				const reply = await send(service, method, path, options);
				statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
				replies.push(reply);
			} catch (e) {
				errors.push(e);
			}
		}
	}
	await Promise.all(Array.from({ length: clients }, client));
	return { statuses: Object.fromEntries(statuses), errors, replies,
		total: replies.length };
}
