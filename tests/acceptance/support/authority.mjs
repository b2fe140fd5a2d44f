// Time-stamping authorities (RFC 3161) of stock openssl, in a folder: one that
// is trusted, "ca", and one that is not, "other".
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export class Authority {
	constructor(folder) {
		this.folder = folder;
		for (const name of ["ca", "other"])
			this.openssl("req", "-x509", "-newkey", "ed25519", "-nodes", "-keyout",
				`${name}.key`, "-out", `${name}.pem`, "-subj", `/CN=${name}`);
		this.write("ext", "extendedKeyUsage=critical,timeStamping\n");
		for (const name of ["ca", "other"]) this.makeSigner(name);
		this.write("conf", "[tsa]\ndefault_tsa=t\n[t]\n" +
			"serial=serial\nsigner_digest=sha256\ndefault_policy=1.2.3.4\n" +
			"digests=sha256\n");
	}

	makeSigner(name) {
		this.openssl("req", "-newkey", "ec", "-pkeyopt",
			"ec_paramgen_curve:P-256", "-nodes", "-keyout", `${name}-tsa.key`,
			"-out", "csr", "-subj", "/CN=tsa");
		this.openssl("x509", "-req", "-in", "csr", "-CA", `${name}.pem`, "-CAkey",
			`${name}.key`, "-extfile", "ext", "-out", `${name}-tsa.pem`);
	}

	path(name) {
		return join(this.folder, name);
	}

	write(name, bytes) {
		writeFileSync(this.path(name), bytes);
		return this.path(name);
	}

	openssl(...args) {
		return execFileSync("openssl", args, { cwd: this.folder,
			stdio: ["ignore", "pipe", "ignore"] });
	}

	reply(query, issuer = "ca") {
		this.write("query", query);
		this.openssl("ts", "-reply", "-config", "conf", "-queryfile", "query",
			"-signer", `${issuer}-tsa.pem`, "-inkey", `${issuer}-tsa.key`,
			"-out", "reply");
		return readFileSync(this.path("reply"));
	}

	// What a client of its own would have got for these bytes.
	stamp(bytes, issuer) {
		this.write("data", bytes);
		this.openssl("ts", "-query", "-data", "data", "-sha256", "-cert",
			"-out", "own-query");
		return this.reply(readFileSync(this.path("own-query")), issuer);
	}

	// Whether `openssl ts -verify` takes the reply for these bytes.
	accepts(bytes, reply) {
		this.write("data", bytes);
		this.write("token.tsr", reply);
		try {
			this.openssl("ts", "-verify", "-data", "data", "-in", "token.tsr",
				"-CAfile", "ca.pem");
			return true;
		} catch {
			return false;
		}
	}
}
