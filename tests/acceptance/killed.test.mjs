// kill -9 of the web server, and of the program behind it, under load, for every
// kind of server: what was answered is there, and what a client sent again until
// it was answered happened once.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { close, paths, send } from "./support/client.mjs";
import { finish } from "./support/evidence.mjs";
import { Service, serverKinds, until } from "./support/service.mjs";
import { actionBody, provision } from "./support/workspace.mjs";

after(close);

// Every process as {pid, parent, name}.
function processes() {
	return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
		try {
			const text = readFileSync(`/proc/${pid}/stat`, "utf8");
			const end = text.lastIndexOf(")");
			return [{ pid: Number(pid), name: text.slice(text.indexOf("(") + 1, end),
				parent: Number(text.slice(end + 4).split(" ")[0]) }];
		} catch {
			return []; // it ended meanwhile
		}
	});
}

function descendants(pid, all = processes()) {
	return all.filter((p) => p.parent === pid)
		.flatMap((p) => [p, ...descendants(p.pid, all)]);
}

function kill(pid, signal = "SIGKILL") {
	try {
		process.kill(pid, signal);
	} catch (e) {
		if (e.code !== "ESRCH") throw e;
	}
}

for (const kind of serverKinds)
	describe(kind, () => {
		const service = new Service({ kind, worker: false });
		const startsProgram = kind === "apache-fcgid" || kind === "apache-cgi";
		const acknowledged = new Map(), failures = [];
		let w, keys = 0, stopping = false, clients;

		const count = () => Number(service.run("sqlite3", [join(service.state,
			"ledgers/acme/sandbox/state.db"), "SELECT count(*) FROM action"]).stdout);

		// null: nobody knows what became of it.
		async function attempt(headers) {
			try {
				return await send(service, "POST", paths.create, { key: w.key, headers,
					body: actionBody(w, { amount: "0.01" }),
					unchecked: "a web server answers for a program that is gone" });
			} catch {
				return null;
			}
		}

		// As a careful client: the same key until there is an answer.
		async function client() {
			while (!stopping) {
				const name = `key-${keys++}`;
				for (let reply; reply?.status !== 201;) {
					reply = await attempt({ "Idempotency-Key": name });
					if (reply?.status === 201)
						acknowledged.set(name, reply.json.uid);
					else if (reply && reply.status < 500)
						throw new Error(`${reply.status} ${reply.text}`);
					else
						failures.push(reply?.status ?? "no reply"), await sleep(20);
				}
			}
		}

		const more = (n = 20) => {
			const enough = acknowledged.size + n;
			return until(`${n} more are answered`, () => acknowledged.size >= enough,
				60);
		};

		test("starts", async () => {
			await service.start();
			w = provision(service, "acme");
			clients = Promise.all(Array.from({ length: 8 }, client));
			clients.catch(() => {}); // until it is waited for
			await more();
		});

		test("the web server is killed", async () => {
			const { pid } = service.children.get("server");
			const before = failures.length;
			kill(pid, "SIGSTOP"); // it starts no more children meanwhile
			for (const child of descendants(pid)) kill(child.pid);
			await service.end("server", "SIGKILL");
			await until("somebody noticed", () => failures.length > before);
			await service.startServer();
			await more();
		});

		async function killProgram() {
			if (!startsProgram) {
				await service.end("fcgi", "SIGKILL");
				return;
			}
			const { pid } = service.children.get("server");
			const programs = await until("the program runs", () => {
				const found = descendants(pid).filter((p) => p.name === "probity.fcgi");
				return found.length > 0 && found;
			});
			for (const program of programs) kill(program.pid);
		}

		test("the program is killed", async () => {
			const before = failures.length;
			// A process for each request: the one that is hit may be past its reply.
			await until("somebody noticed", async () => {
				await killProgram();
				if (!startsProgram) await until("a client noticed",
					() => failures.length > before);
				return failures.length > before;
			});
			if (!startsProgram) await service.startFront();
			await more();
		});

		test("what was answered is there, and everything once", async () => {
			stopping = true;
			await clients;
			assert.equal(acknowledged.size, keys);
			assert.equal(new Set(acknowledged.values()).size, keys);
			assert.equal(count(), keys);
			for (const uid of acknowledged.values()) {
				const reply = await send(service, "GET", paths.action(uid),
					{ key: w.key });
				assert.equal(reply.status, 200, reply.text);
			}
			console.log(`${kind}: ${keys} answered, ${failures.length} times not`);
			await finish(service, { long: true });
		});
	});
