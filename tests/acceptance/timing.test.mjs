// Whether times tell known from unknown credentials, and others' records from
// missing ones. Few requests, so that it runs; scripts/timing sends as many as a
// verdict needs.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { close } from "./support/client.mjs";
import { compareMedians, mannWhitney } from "./support/statistics.mjs";
import { experiment, table, toldApart } from "./support/timing.mjs";

const rounds = Number(process.env.PROBITY_TIMING_ROUNDS ?? 100);
const enough = 10000;

after(close);

test("the statistics say what textbooks do", () => {
	// Mann and Whitney's U is 3 of 25: z is -1.9845.
	const { p, above } = mannWhitney([19, 22, 16, 29, 24], [20, 11, 17, 12, 15]);
	assert.ok(Math.abs(above - 3 / 25) < 1e-9, `${above}`);
	assert.ok(Math.abs(p - 0.0472) < 0.001, `${p}`);
	const same = [1, 1, 2, 2, 3, 3];
	assert.equal(mannWhitney(same, same).above, 0.5);
	assert.ok(mannWhitney(same, same).p > 0.999);
	const hundred = Array.from({ length: 100 }, (_, i) => i);
	const moved = compareMedians(hundred, hundred.map((x) => x + 50));
	assert.equal(moved.difference, 50);
	assert.ok(moved.low > 20 && moved.low < 50 && moved.high > 50 &&
		moved.high < 80, JSON.stringify(moved));
});

test("every pair is asked for, and its times compared", async () => {
	const rows = await experiment({ rounds, many: rounds < enough ? 2 : 20,
		seed: Number(process.env.PROBITY_TIMING_SEED ?? 1) });
	console.log(table(rows));
	assert.equal(rows.length, 12);
	for (const row of rows) {
		assert.deepEqual(row.n, [rounds, rounds]);
		assert.ok(row.a > 0 && row.b > 0 && row.low <= row.high &&
			row.p >= 0 && row.p <= 1, JSON.stringify(row));
	}
	if (rounds >= enough)
		assert.deepEqual(rows.filter((row) => toldApart(row, rows))
			.map((row) => row.name), ["control: by the checksum"]);
});
