/*
 * The names that credentials carry: the specification's 66 scopes and the five
 * that other operations use, each with what it needs, and the products an
 * application may be entitled to.
 */
#include "domain/catalog.h"

/*
 * The products are those of the published index; where it does not show a
 * scope's operations, those that their paths and descriptions belong to.
 */
const struct scope catalog_scopes[] = {
	{ "actions:autonomous", "financial-actions" },
	{ "actions:create", "financial-actions" },
	{ "actions:execute", "financial-actions" },
	{ "actions:read", "financial-actions" },
	{ "agent:execution:execute", "agents" },
	{ "agent:execution:invoke", "agents" },
	{ "agent:execution:propose", "agents" },
	{ "agent:execution:read", "agents" },
	{ "agent:execution:submit", "agents" },
	{ "agent:execution:webhooks", "agents" },
	{ "agents:mcp:read", "agents" },
	{ "agents:spaces:read", "agents" },
	{ "agents:spaces:run", "agents" },
	{ "ai:connections:read", "ai-runtime" },
	{ "ai:credits:read", "ai-runtime" },
	{ "ai:governance:read", "ai-runtime" },
	{ "ai:governance:write", "ai-runtime" },
	{ "ai:models:read", "ai-runtime" },
	{ "ai:routing:read", "ai-runtime" },
	{ "benchmark:read", "core-platform" },
	{ "client:intelligence:read", "knowledge" },
	{ "client:intelligence:run", "knowledge" },
	{ "client:intelligence:write", "knowledge" },
	{ "commercial:read", "commercial" },
	{ "commercial:write", "commercial" },
	{ "data:economics:read", "financial-data" },
	{ "data:fundamentals:read", "financial-data" },
	{ "data:market:read", "financial-data" },
	{ "data:reference:read", "financial-data" },
	{ "data:tables:read", "financial-data" },
	{ "data:tables:run", "financial-data" },
	{ "finance-core:close:read", "finance-core" },
	{ "finance-core:read", "finance-core" },
	{ "financial:analysis:read", "financial-data" },
	{ "financial:analysis:run", "financial-data" },
	{ "financial:read", "financial-data" },
	{ "generative:inference", "quant" },
	{ "generative:models:read", "quant" },
	{ "infrastructure:lineage", "infrastructure" },
	{ "infrastructure:read", "infrastructure" },
	{ "integrations:read", "developer" },
	{ "intelligence:read", "knowledge" },
	{ "investment:execute", "investment" },
	{ "investment:read", "investment" },
	{ "investment:run", "investment" },
	{ "lqm:build:read", "lqm-builder" },
	{ "lqm:build:run", "lqm-builder" },
	{ "lqm:build:write", "lqm-builder" },
	{ "lqm:promote:write", "lqm-builder" },
	{ "lqm:publish:write", "lqm-builder" },
	{ "marketplace:invoke", "commercial" },
	{ "marketplace:read", "commercial" },
	{ "ml:inference", "quant" },
	{ "ml:read", "quant" },
	{ "planning:forecast:create", "financial-data" },
	{ "planning:read", "financial-data" },
	{ "qlm:evaluate", "lqm-builder" },
	{ "qlm:invoke", "lqm-builder" },
	{ "qlm:read", "lqm-builder" },
	{ "quant:compute:read", "quant" },
	{ "quant:compute:run", "quant" },
	{ "quant:features:read", "quant" },
	{ "quant:models:read", "quant" },
	{ "quant:models:run", "quant" },
	{ "quant:research:read", "quant" },
	{ "quant:research:run", "quant" },
	{ "trust:read", "core-platform" },
	{ "trust:write", "core-platform" },
	{ "workflow:manage", "workflows" },
	{ "workflow:read", "workflows" },
	{ "workspace:read", "" },
	{ 0 },
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

const struct scope *
catalog_scope(struct str name)
{
	for (size_t i = 0; catalog_scopes[i].name; i++)
		if (str_is(name, catalog_scopes[i].name))
			return &catalog_scopes[i];
	return NULL;
}

bool
catalog_knows_scope(struct str name)
{
	return catalog_scope(name) != NULL;
}

bool
catalog_scope_needs(const struct scope *scope, const char *entitlement)
{
	struct str rest = str_from(scope->entitlements);

	while (rest.p)
		if (str_is(str_take(&rest, ' '), entitlement))
			return true;
	return false;
}
