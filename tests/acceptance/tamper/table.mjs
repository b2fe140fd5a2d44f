// The tables of docs/auditing.md, between their markers.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { top } from "../support/places.mjs";

const page = join(top, "docs/auditing.md");
const writers = { manifests: "tamper_manifests", packs: "tamper_manifests" };
const start = (name) => `<!-- ${name}: written by tests/acceptance/${
	writers[name] ?? "tamper"}.test.mjs -->\n`;
const end = "<!-- end -->\n";

function place(text, name) {
	const from = text.indexOf(start(name)) + start(name).length;
	const to = text.indexOf(end, from);
	assert.ok(from >= start(name).length && to >= from, `no place for ${name}`);
	return [from, to];
}

const line = (cells) => `| ${cells.join(" | ")} |\n`;
// null: not noticed. undefined: it is not for that verifier.
const word = (found) => found === null ? "–" : found ?? "";

// What the page says of a change, as cells; undefined if nothing.
export function documented(name) {
	const text = readFileSync(page, "utf8");
	const rows = text.slice(...place(text, name)).trim().split("\n")
		.map((row) => row.slice(2, -2).split(" | ").map((cell) => cell.trim()));
	return { head: rows[0].slice(1), of: new Map(rows.slice(2)
		.map(([change, ...cells]) => [change, cells])) };
}

export const words = (found) => found.map(word);

export function write(name, head, rows) {
	const text = readFileSync(page, "utf8");
	const [from, to] = place(text, name);
	writeFileSync(page, text.slice(0, from) + line(["changed", ...head]) +
		line(["changed", ...head].map(() => "---")) +
		rows.map(([change, found]) => line([change, ...words(found)])).join("") +
		text.slice(to));
}
