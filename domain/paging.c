#include "domain/paging.h"

#include <string.h>

#define PREFIX "next_"

static const struct field *
find_field(const struct shape *shape, const char *name)
{
	for (size_t i = 0; i < shape->n; i++)
		if (strcmp(shape->fields[i].name, name) == 0)
			return &shape->fields[i];
	return NULL;
}

const struct field *
paging_member(const struct operation *op)
{
	for (size_t i = 0; op->out && i < op->out->n; i++) {
		const struct field *f = &op->out->fields[i], *in;

		if (strncmp(f->name, PREFIX, sizeof PREFIX - 1) != 0)
			continue;
		in = find_field(op->in, f->name + sizeof PREFIX - 1);
		if (in && in->place == IN_QUERY)
			return f;
	}
	return NULL;
}

const char *
paging_parameter(const struct field *member)
{
	return member->name + sizeof PREFIX - 1;
}

bool
paging_is_whole(const struct operation *op)
{
	return !op->out || !find_field(op->out, "has_more") ||
	       paging_member(op) != NULL;
}
