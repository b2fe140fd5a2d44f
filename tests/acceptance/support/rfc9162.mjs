// Trees and proofs as RFC 9162 writes them down: they share no code with the
// service, and are what the tests hold it against.
import { createHash } from "node:crypto";

export const sha256 = (...parts) => {
	const hash = createHash("sha256");
	for (const part of parts) hash.update(part);
	return hash.digest();
};
export const leafOf = (event) => sha256(Buffer.from([0]), event);
const node = (left, right) => sha256(Buffer.from([1]), left, right);

// RFC 9162, 2.1.1 and 2.1.3.1, as they are written there.
const split = (n) => 2 ** Math.floor(Math.log2(n - 1));
export const rootOf = (leaves) => leaves.length === 1 ? leaves[0]
	: node(rootOf(leaves.slice(0, split(leaves.length))),
		rootOf(leaves.slice(split(leaves.length))));
export function pathOf(index, leaves) {
	if (leaves.length === 1) return [];
	const k = split(leaves.length);
	return index < k
		? [...pathOf(index, leaves.slice(0, k)), rootOf(leaves.slice(k))]
		: [...pathOf(index - k, leaves.slice(k)), rootOf(leaves.slice(0, k))];
}

// RFC 9162, 2.1.3.2.
export function includes(hash, index, size, path, root) {
	let fn = index, sn = size - 1, r = hash;
	if (index >= size) return false;
	for (const p of path) {
		if (sn === 0) return false;
		if (fn & 1 || fn === sn) {
			r = node(p, r);
			while (!(fn & 1) && fn !== 0) [fn, sn] = [fn >> 1, sn >> 1];
		} else {
			r = node(r, p);
		}
		[fn, sn] = [fn >> 1, sn >> 1];
	}
	return sn === 0 && r.equals(root);
}

// RFC 9162, 2.1.4.2.
export function extendsTree(first, firstHash, second, secondHash, proof) {
	if (first === 0) return proof.length === 0;
	if (first === second)
		return proof.length === 0 && firstHash.equals(secondHash);
	const path = (first & (first - 1)) === 0 ? [firstHash, ...proof] : [...proof];
	if (path.length === 0) return false;
	let fn = first - 1, sn = second - 1;
	while (fn & 1) [fn, sn] = [fn >> 1, sn >> 1];
	let fr = path[0], sr = path[0];
	for (const c of path.slice(1)) {
		if (sn === 0) return false;
		if (fn & 1 || fn === sn) {
			[fr, sr] = [node(c, fr), node(c, sr)];
			while (!(fn & 1) && fn !== 0) [fn, sn] = [fn >> 1, sn >> 1];
		} else {
			sr = node(sr, c);
		}
		[fn, sn] = [fn >> 1, sn >> 1];
	}
	return sn === 0 && fr.equals(firstHash) && sr.equals(secondHash);
}
