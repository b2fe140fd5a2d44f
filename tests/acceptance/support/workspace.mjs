// A provisioned workspace: parties, sealed source records, an application's key.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { top } from "./places.mjs";

const scopes = ["workspace:read", "actions:create", "agent:execution:read",
	"finance-core:read"];
const entitlements = ["core-platform", "financial-actions", "agents",
	"finance-core"];

const rows = [
	["EUR-BIG", "Alpine Components GmbH", "900000000.00", "EUR"],
	["EUR-SMALL", "Alpine Components GmbH", "100.00", "EUR"],
	["USD-1", "Alpine Components GmbH", "5000.00", "USD"],
	["JPY-1", "Alpine Components GmbH", "1000000", "JPY"],
	["KWD-1", "Alpine Components GmbH", "1000.125", "KWD"],
];

// create: false for a workspace that is there, with nothing in it.
export function provision(service, name, { create = true } = {}) {
	const ctl = (words, options) => service.ctl(name, words, options);
	const w = { name, service };

	if (create)
		w.created = ctl("workspace create", { name: `Workspace ${name}` });
	w.counterparty = ctl("counterparty add", { name: "Alpine Components GmbH",
		account: "NL91ABNA0417164300" });
	w.other = ctl("counterparty add", { name: "Nordwind Logistik AG",
		account: "DE75512108001245126199" });
	w.arrangement = ctl("arrangement add", { kind: "supply",
		"counterparty-id": w.other.id, currency: "EUR", limit: "50000" });
	w.connector = ctl("connector add", { name: "Sandbox bank", kind: "sandbox",
		modes: "sandbox" });

	const csv = join(service.dir, `${name}.csv`);
	writeFileSync(csv, ["reference,counterparty,amount,currency",
		...rows.map((r) => r.join(","))].join("\n") + "\n", { mode: 0o644 });
	ctl("source-record import", { format: "csv", kind: "invoice", file: csv });
	const framed = join(service.dir, `${name}-framed.csv`);
	writeFileSync(framed, "reference,counterparty,amount,currency,arrangement\n" +
		`FRAME-1,Nordwind Logistik AG,2000.00,EUR,${w.arrangement.uid}\n`);
	ctl("source-record import", { format: "csv", kind: "obligation", file: framed });
	const statement = join(service.dir, `${name}.xml`);
	service.copy(join(top, "conf/demo/statement.xml"), statement);
	ctl("source-record import", { format: "camt.053", file: statement,
		"general-ledger-id": 1200 });

	w.sources = Object.fromEntries(ctl("source-record list", {}).data
		.map((r) => [r.reference, r]));
	w.application = ctl("application create", { name: "acceptance",
		responsible: "a@example.com", scopes: scopes.join(","),
		entitlements: entitlements.join(",") });
	w.credential = ctl("credential issue", { application: w.application.uid });
	w.key = w.credential.key;
	return w;
}

// A request that is good as it stands; `changes` make it another, undefined
// takes a member away.
export function actionBody(w, changes = {}) {
	return { action_key: "supplier-payment",
		source_uid: w.sources["EUR-BIG"].uid, connector_id: w.connector.id,
		counterparty_id: w.counterparty.id, currency: "EUR", amount: "1.00",
		execution_mode: "sandbox", ...changes };
}
