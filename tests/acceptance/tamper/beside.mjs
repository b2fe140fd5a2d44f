// What is changed in what stands beside a ledger: a checkpoint's cosignatures,
// its time-stamp, the tiles as a copied folder. Each change makes files and says
// how they are looked at: by probity-audit, and by a program of others.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isCosigned } from "../support/witness.mjs";
import { flip } from "../tlog/altered.mjs";

const save = (folder, name, bytes) => {
	const file = join(folder, name);
	mkdirSync(dirname(file), { recursive: true });
	writeFileSync(file, bytes);
	return file;
};
const changeToken = (line, change) => line.replace(/(\S+)\n$/, (_, token) =>
	`${change(Buffer.from(token, "base64")).toString("base64")}\n`);

// { note, line }: a checkpoint and a witness's line under it.
function cosigned({ witness, folder }, { note, line }) {
	const file = save(folder, "note", note + line);
	return { ours: ["check-checkpoint", file, "--witness",
		witness.line.split(" ")[0]],
	theirs: () => isCosigned(note + line, witness) };
}
const cosignatures = {
	"a cosignature": (w) => ({ note: w.note,
		line: changeToken(w.line, (token) => flip(token, 30)) }),
	"the time in a cosignature": (w) => ({ note: w.note,
		line: changeToken(w.line, (token) => flip(token, 11)) }),
	"a cosignature of another checkpoint": (w) => ({ note: w.older, line: w.line }),
	"a cosignature of another by the same name": (w) => ({ note: w.note,
		line: w.namesake.signatureLine(w.note.slice(0, w.note.indexOf("\n\n") + 1)) }),
	"a cosignature left out": (w) => ({ note: w.note, line: "" }),
};

// { note, token }: a checkpoint and the authority's reply.
function stamped({ authority, folder }, { note, token }) {
	return { ours: ["check-checkpoint", save(folder, "note", note), "--timestamp",
		save(folder, "token", token), "--ca", authority.path("ca.pem")],
	theirs: () => authority.accepts(note, token) };
}
const stamps = {
	"a time-stamp's signature": (w) => ({ note: w.note, token: flip(w.token, -5) }),
	"a time-stamp's time": (w) => {
		const at = w.token.indexOf(Buffer.from("180f", "hex"));
		return { note: w.note, token: flip(w.token, at + 5) };
	},
	"a time-stamp of another checkpoint": (w) => ({ note: w.older, token: w.token }),
	"a time-stamp of an authority that is not trusted": (w) => ({ note: w.note,
		token: w.authority.stamp(w.note, "other") }),
};

const made = (list, use) => Object.entries(list).map(([name, change]) =>
	({ name, thing: (world) => use(world, change(world)) }));

export const besideChanges = [...made(cosignatures, cosigned),
	...made(stamps, stamped)];
// Unchanged: nobody finds fault.
export const besideGood = [(w) => cosigned(w, w), (w) => stamped(w, w)];

// A folder as a mirror of the tiles has it.
export function saveTiles(folder, served) {
	for (const [name, bytes] of Object.entries(served)) save(folder, name, bytes);
	return folder;
}
