// Two samples of times: whether one could tell which of them a time is from.

// Abramowitz and Stegun 7.1.26, within 1.5e-7.
function errorFunction(x) {
	const t = 1 / (1 + 0.3275911 * x);
	return 1 - t * Math.exp(-x * x) * (0.254829592 + t * (-0.284496736 +
		t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
}

// Mann and Whitney's U by its normal approximation, corrected for ties: p, two
// sided, and how often a time of `b` is above one of `a`, a half for equal ones.
export function mannWhitney(a, b) {
	const all = [...a.map((x) => [x, 0]), ...b.map((x) => [x, 1])]
		.sort((x, y) => x[0] - y[0]);
	const n = all.length;
	let ranks = 0, ties = 0;
	for (let i = 0, j; i < n; i = j) {
		for (j = i; j < n && all[j][0] === all[i][0]; j++);
		for (let k = i; k < j; k++)
			if (all[k][1]) ranks += (i + j + 1) / 2;
		ties += (j - i) ** 3 - (j - i);
	}
	const u = ranks - b.length * (b.length + 1) / 2;
	const deviation = Math.sqrt(a.length * b.length / 12 *
		(n + 1 - ties / (n * (n - 1))));
	const z = deviation ? (u - a.length * b.length / 2) / deviation : 0;
	return { p: 1 - errorFunction(Math.abs(z) / Math.SQRT2),
		above: u / (a.length * b.length) };
}

// mulberry32: the same seed, the same interval.
function generator(seed) {
	let state = seed;
	return () => {
		state = state + 0x6d2b79f5 | 0;
		let t = Math.imul(state ^ state >>> 15, 1 | state);
		t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
		return ((t ^ t >>> 14) >>> 0) / 4294967296;
	};
}

const median = (sorted) => (sorted[sorted.length - 1 >> 1] +
	sorted[sorted.length >> 1]) / 2;

// The median of as many draws, with replacement, of a sorted sample.
function drawnMedian(sorted, random) {
	const n = sorted.length, counts = new Uint16Array(n);
	for (let i = 0; i < n; i++) counts[random() * n | 0]++;
	let i = 0;
	for (let seen = counts[0]; 2 * seen < n; seen += counts[i]) i++;
	return sorted[i];
}

// The medians, how far the one of `b` is above the one of `a`, and the bootstrap
// interval that holds this difference in 95 of 100 cases.
export function compareMedians(a, b, { draws = 1000, seed = 1 } = {}) {
	const one = Float64Array.from(a).sort(), two = Float64Array.from(b).sort();
	const random = generator(seed);
	const differences = Float64Array.from({ length: draws }, () =>
		drawnMedian(two, random) - drawnMedian(one, random)).sort();
	return { a: median(one), b: median(two), difference: median(two) - median(one),
		low: differences[Math.floor(draws * 0.025)],
		high: differences[Math.ceil(draws * 0.975) - 1] };
}
