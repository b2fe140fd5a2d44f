// An application that may read the ledger, as auditors get one.
export function auditorKey(service, workspace, { scopes = "trust:read",
	name = "auditor" } = {}) {
	const application = service.ctl(workspace, "application create", { name,
		responsible: "auditor@example.com", scopes,
		entitlements: "core-platform,infrastructure" });
	return service.ctl(workspace, "credential issue",
		{ application: application.uid }).key;
}

export const basic = (key, user = "auditor") =>
	`Basic ${Buffer.from(`${user}:${key}`).toString("base64")}`;
