// The ledger that is changed.
import { join } from "node:path";

// Events 0, 1-2, 3, 4-5 with a payload, 6 and 7, in six batches. Its status, and
// the evidence of the last write.
export function makeLedger(service) {
	service.write(service.confFile, "# nothing but the environment\n");
	service.baseUrl = "https://ledger.example.com";
	const ctl = (words, options) => service.ctl("acme", words, options);
	ctl("workspace create", { name: "Workspace acme" });
	const party = (name, account, more) =>
		ctl("counterparty add", { name, account, ...more });
	party("Alpine Components GmbH", "NL91ABNA0417164300",
		{ lei: "HWUPKR0MPOU8FGXBT394" });
	const csv = join(service.dir, "invoices.csv");
	service.write(csv, "reference,counterparty,amount,currency\n" +
		"A,Alpine Components GmbH,1.00,EUR\nB,Alpine Components GmbH,2.00,EUR\n");
	ctl("source-record import", { format: "csv", kind: "invoice", file: csv });
	party("Südwind Handel AG", "FR1420041010050500013M02606");
	const { evidence } = party("Nordwind Logistik AG", "DE75512108001245126199",
		{ lei: "529900T8BM49AURSDO55" });
	return { ...ctl("ledger status"), receipt: evidence };
}
