#include "domain/caller.h"

#define NAME_MAX_BYTES 39

bool
workspace_name_is_valid(struct str name)
{
	if (name.n == 0 || name.n > NAME_MAX_BYTES || name.p[0] == '-')
		return false;
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		if (c == '-' && i + 1 < name.n && name.p[i + 1] == '-')
			return false;
		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
		    c != '-')
			return false;
	}
	return true;
}

bool
caller_has_scope(const struct caller *caller, const char *scope)
{
	if (caller->kind != CALLER_APPLICATION)
		return true;
	for (size_t i = 0; i < caller->n_scopes; i++)
		if (str_is(caller->scopes[i], scope))
			return true;
	return false;
}
