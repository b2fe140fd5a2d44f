#include "domain/config_shape.h"
#include "domain/pool.h"

static void *
member_of(struct config *config, const struct field *f)
{
	return (char *)config + f->offset;
}

static void
copy_list(struct arena *a, struct str_list *list)
{
	struct str *items = arena_array(a, list->n, sizeof *items);

	for (size_t i = 0; i < list->n; i++)
		items[i] = arena_str(a, list->items[i]);
	list->items = items;
}

struct config *
config_copy(struct arena *a, const struct config *from)
{
	struct config *copy = ARENA_NEW(a, struct config);

	*copy = *from;
	for (size_t i = 0; i < config_shape.n; i++) {
		const struct field *f = &config_shape.fields[i];

		struct str *text = member_of(copy, f);

		if (f->type == FIELD_STR_LIST)
			copy_list(a, member_of(copy, f));
		else if (f->type == FIELD_STR && text->p)
			*text = arena_str(a, *text);
	}
	return copy;
}
