// A clock of programs that a test puts forward: waits of hours pass at once.
import { execFileSync } from "node:child_process";
import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { top } from "./places.mjs";

export class Clock {
	constructor(service) {
		const shim = join(service.dir, "shim_later.so");
		const file = join(service.dir, "later");
		execFileSync("cc", ["-std=c17", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o",
			shim, join(top, "tests/fault/shim_later.c")]);
		service.write(file, Buffer.alloc(8));
		this.fd = openSync(file, "r+");
		// What programs by this clock are started with; AddressSanitizer wants to
		// be loaded before all others.
		this.environment = { LD_PRELOAD: shim, LATER_FILE: file,
			ASAN_OPTIONS: "verify_asan_link_order=0" };
	}

	putForward(seconds) {
		const bytes = Buffer.alloc(8);
		bytes.writeBigInt64LE(BigInt(seconds));
		writeSync(this.fd, bytes, 0, 8, 0);
	}
}
