#include "domain/words.h"

#include <string.h>

struct str
words_join(struct arena *a, struct str_list list)
{
	size_t n = 0, at = 0;
	char *p;

	for (size_t i = 0; i < list.n; i++)
		n += list.items[i].n + 1;
	p = arena_alloc(a, n + 1);
	for (size_t i = 0; i < list.n; i++) {
		if (at > 0)
			p[at++] = ' ';
		memcpy(p + at, list.items[i].p, list.items[i].n);
		at += list.items[i].n;
	}
	return (struct str){ p, at };
}

struct str_list
words_split(struct arena *a, struct str text)
{
	size_t n = 0;
	struct str *items;

	if (text.n == 0)
		return (struct str_list){ 0 };
	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == ' ';
	items = arena_array(a, n + 1, sizeof *items);
	for (size_t i = 0; i <= n; i++)
		items[i] = str_take(&text, ' ');
	return (struct str_list){ items, n + 1 };
}

bool
words_have(struct str_list list, struct str word)
{
	for (size_t i = 0; i < list.n; i++)
		if (str_eq(list.items[i], word))
			return true;
	return false;
}

bool
words_among(const void *arg, struct str word)
{
	return words_have(*(const struct str_list *)arg, word);
}

int
words_check(struct arena *a, const char *field, struct str_list list,
    bool (*known)(const void *, struct str), const void *arg, const char *what,
    struct err *e)
{
	int result = 0;

	for (size_t i = 0; i < list.n; i++) {
		struct str_list before = { list.items, i };
		const char *at = arena_printf(a, "#/%s/%zu", field, i);

		if (words_have(before, list.items[i]))
			result = err_add_field(e, a, "pointer", at, "duplicate",
			    "%.*s is there twice", STR_ARGS(list.items[i]));
		else if (!known(arg, list.items[i]))
			result = err_add_field(e, a, "pointer", at, "unknown",
			    "%.*s is not %s", STR_ARGS(list.items[i]), what);
	}
	return result;
}
