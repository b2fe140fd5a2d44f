#include "fcgi/transport.h"

#include <string.h>

struct str
transport_param(const char *const *params, const char *name)
{
	size_t n = strlen(name);

	for (; *params; params++)
		if (strncmp(*params, name, n) == 0 && (*params)[n] == '=')
			return str_from(*params + n + 1);
	return STR_NONE;
}
