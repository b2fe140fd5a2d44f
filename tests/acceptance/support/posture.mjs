// GET /infrastructure/posture, by an application of its own.
import assert from "node:assert/strict";
import { auditorKey } from "./auditor.mjs";
import { send } from "./client.mjs";

export function postureOf(service, workspace) {
	const key = auditorKey(service, workspace,
		{ scopes: "infrastructure:read", name: "posture" });
	return async (part) => {
		const reply = await send(service, "GET",
			"/api/v2/infrastructure/posture", { key });
		assert.equal(reply.status, 200, reply.text);
		return reply.json[part];
	};
}
