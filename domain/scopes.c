/*
 * The names that credentials carry: the specification's 66 scopes and the five
 * that other operations use, and the products an application may be entitled
 * to.
 */
#include "domain/catalog.h"

const char *const catalog_scopes[] = {
	"actions:autonomous",
	"actions:create",
	"actions:execute",
	"actions:read",
	"agent:execution:execute",
	"agent:execution:invoke",
	"agent:execution:propose",
	"agent:execution:read",
	"agent:execution:submit",
	"agent:execution:webhooks",
	"agents:mcp:read",
	"agents:spaces:read",
	"agents:spaces:run",
	"ai:connections:read",
	"ai:credits:read",
	"ai:governance:read",
	"ai:governance:write",
	"ai:models:read",
	"ai:routing:read",
	"benchmark:read",
	"client:intelligence:read",
	"client:intelligence:run",
	"client:intelligence:write",
	"commercial:read",
	"commercial:write",
	"data:economics:read",
	"data:fundamentals:read",
	"data:market:read",
	"data:reference:read",
	"data:tables:read",
	"data:tables:run",
	"finance-core:close:read",
	"finance-core:read",
	"financial:analysis:read",
	"financial:analysis:run",
	"financial:read",
	"generative:inference",
	"generative:models:read",
	"infrastructure:lineage",
	"infrastructure:read",
	"integrations:read",
	"intelligence:read",
	"investment:execute",
	"investment:read",
	"investment:run",
	"lqm:build:read",
	"lqm:build:run",
	"lqm:build:write",
	"lqm:promote:write",
	"lqm:publish:write",
	"marketplace:invoke",
	"marketplace:read",
	"ml:inference",
	"ml:read",
	"planning:forecast:create",
	"planning:read",
	"qlm:evaluate",
	"qlm:invoke",
	"qlm:read",
	"quant:compute:read",
	"quant:compute:run",
	"quant:features:read",
	"quant:models:read",
	"quant:models:run",
	"quant:research:read",
	"quant:research:run",
	"trust:read",
	"trust:write",
	"workflow:manage",
	"workflow:read",
	"workspace:read",
	NULL,
};

const struct entitlement catalog_entitlements[] = {
	{ "agents", "Agents & MCP" },
	{ "ai-runtime", "AI Runtime" },
	{ "commercial", "Commercial" },
	{ "core-platform", "Core Platform" },
	{ "developer", "Developer" },
	{ "finance-core", "Finance Core" },
	{ "financial-actions", "Financial Actions" },
	{ "financial-data", "Financial Data" },
	{ "infrastructure", "Infrastructure" },
	{ "investment", "Investment" },
	{ "knowledge", "Knowledge" },
	{ "lqm-builder", "LQM Builder" },
	{ "quant", "Quant" },
	{ "workflows", "Workflows" },
	{ 0 },
};

bool
catalog_knows_entitlement(struct str key)
{
	for (size_t i = 0; catalog_entitlements[i].key; i++)
		if (str_is(key, catalog_entitlements[i].key))
			return true;
	return false;
}

bool
catalog_knows_scope(struct str scope)
{
	for (size_t i = 0; catalog_scopes[i]; i++)
		if (str_is(scope, catalog_scopes[i]))
			return true;
	return false;
}
