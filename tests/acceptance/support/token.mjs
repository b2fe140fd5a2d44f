// A token of SoftHSM2 of the service's own, made with its tools and OpenSC's.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, renameSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const module = "/usr/lib/softhsm/libsofthsm2.so";
const label = "acceptance";
export const pin = "the-PIN-7351-of-a-token";

export class Token {
	constructor(service) {
		this.service = service;
		this.dir = join(service.dir, "tokens");
		this.pin = join(service.dir, "pin");
		const conf = join(service.dir, "softhsm2.conf");
		const suppressions = join(service.dir, "lsan.supp");

		mkdirSync(this.dir);
		service.own(this.dir);
		writeFileSync(conf, `directories.tokendir = ${this.dir}\n`);
		// SoftHSM2 forgets the curve's name at each signature. It has no
		// frame pointers, so only the slow way finds it in a stack.
		writeFileSync(suppressions, "leak:libsofthsm2.so\n");
		Object.assign(service.settings, { SOFTHSM2_CONF: conf,
			ASAN_OPTIONS: `${service.environment.ASAN_OPTIONS}` +
				":fast_unwind_on_malloc=0",
			LSAN_OPTIONS: `suppressions=${suppressions}:print_suppressions=0` });
		this.setPin(pin);
		this.run("softhsm2-util", "--init-token", "--free", "--label", label,
			"--so-pin", "12345678", "--pin", pin);
	}

	run(program, ...args) {
		const r = this.service.run(program, args);
		assert.equal(r.code, 0, r.stdout + r.stderr);
		return r.stdout;
	}

	setPin(pin) {
		this.writePrivate(this.pin, pin);
	}

	writePrivate(path, text) {
		this.service.write(path, text);
		chmodSync(path, 0o600);
	}

	// An Ed25519 key that the token makes and does not let out.
	makeKey(name, id) {
		this.run("pkcs11-tool", "--module", module, "--token-label", label,
			"--login", "--pin", pin, "--keypairgen", "--key-type",
			"EC:edwards25519", "--label", name, "--id", id);
	}

	// A key that was in a file.
	importKey(path, name, id) {
		this.run("softhsm2-util", "--import", path, "--token", label,
			"--label", name, "--id", id, "--pin", pin);
	}

	// The file that says so, where a ledger looks for its key.
	keyFile(workspace, name, object) {
		const path = join(this.service.keys, workspace, "sandbox", name);
		for (const dir of [dirname(dirname(path)), dirname(path)]) {
			mkdirSync(dir, { recursive: true, mode: 0o700 });
			this.service.own(dir);
		}
		this.writePrivate(path, `pkcs11:token=${label};object=${object};` +
			`type=private?module-path=${module}&pin-source=file:${this.pin}\n`);
		return path;
	}

	takeAway() {
		renameSync(this.dir, `${this.dir}.away`);
		mkdirSync(this.dir);
		this.service.own(this.dir);
	}

	putBack() {
		rmdirSync(this.dir);
		renameSync(`${this.dir}.away`, this.dir);
	}
}
