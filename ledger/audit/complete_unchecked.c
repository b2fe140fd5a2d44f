/* What a list says that the index does not hold. */
#include "ledger/audit/complete.h"

#define NAME_MAX 64

bool
complete_has_no_events(const struct json *item)
{
	return !json_get(item, "events") && !json_get(item, "chain");
}

bool
complete_is_bare(const struct complete_file *f)
{
	return str_is(f->kind, "bank_statement") && f->data->first &&
	       complete_has_no_events(f->data->first);
}

static bool
is_checked(const struct complete_file *f, struct str name)
{
	if (!uid_is_none(f->subject))
		return str_is(name, "hash") || str_is(name, "subject");
	return str_is(name, "uid") ||
	       (!complete_is_bare(f) &&
		   (str_is(name, "events") || str_is(name, "chain")));
}

static void
add_unchecked(struct complete_shown *s, struct str name)
{
	if (name.n > NAME_MAX)
		name = STR("others");
	for (size_t i = 0; i < s->n_unchecked; i++)
		if (str_eq(s->unchecked[i], name))
			return;
	if (s->n_unchecked < COMPLETE_UNCHECKED_MAX)
		s->unchecked[s->n_unchecked++] = name;
}

void
complete_find_unchecked(struct complete_shown *s, const struct complete_file *f)
{
	for (const struct json *v = f->data->first; v; v = v->next)
		for (const struct json *m = v->first; m; m = m->next)
			if (!is_checked(f, m->name))
				add_unchecked(s, m->name);
}
