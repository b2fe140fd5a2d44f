/*
 * The witnesses of the configured file: a line each, verifier key and address.
 */
#include <ctype.h>

#include "domain/outbound.h"
#include "domain/witnesses/group.h"
#include "ledger/base/io.h"

#define FILE_MAX 65536

static struct str
trim(struct str s)
{
	while (s.n > 0 && isspace((unsigned char)s.p[0]))
		s = str_slice(s, 1, s.n);
	while (s.n > 0 && isspace((unsigned char)s.p[s.n - 1]))
		s.n--;
	return s;
}

/* Faults name it, and are cut off somewhere. */
static bool
is_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] <= ' ' || (unsigned char)s.p[i] > '~')
			return false;
	return s.n <= WITNESS_URL_MAX;
}

/* A witness that stood there twice would count twice. */
static bool
is_listed(const struct witness_list *list, const struct witness_key *key)
{
	for (size_t i = 0; i < list->n; i++)
		if (str_eq(list->items[i].key.name, key->name) ||
		    public_key_eq(list->items[i].key.key, key->key))
			return true;
	return false;
}

static int
add(struct witness_list *list, struct str line, struct err *e)
{
	struct witness *w = &list->items[list->n];
	struct str url = line;
	struct str key = str_take(&url, ' ');

	if (list->n == WITNESSES_MAX)
		return err_set(
		    e, &err_invalid, "at most %d witnesses", WITNESSES_MAX);
	url = trim(url);
	if (witness_key_parse(key, &w->key, e))
		return -1;
	if (!is_plain(url))
		return err_set(e, &err_invalid,
		    "an address has at most %d characters, all of ASCII",
		    WITNESS_URL_MAX);
	if (outbound_check_url(url, e))
		return -1;
	if (is_listed(list, &w->key))
		return err_set(e, &err_invalid,
		    "%.*s or its key is there twice", STR_ARGS(w->key.name));
	while (url.p[url.n - 1] == '/')
		url.n--;
	w->url = url;
	list->n++;
	return 0;
}

int
witness_list_read(struct service *service, struct arena *a,
    struct witness_list *out, struct err *e)
{
	const struct config *config = service_config(service);
	struct err fault = { 0 };
	struct str text;

	*out = (struct witness_list){ 0 };
	if (config->witness_file.n == 0)
		return 0;
	if (io_read_file(
		a, arena_cstr(a, config->witness_file), FILE_MAX, &text, e))
		return -1;
	/* One more: add looks at the place before it counts. */
	out->items = arena_array(a, WITNESSES_MAX + 1, sizeof *out->items);
	for (int number = 1; text.p; number++) {
		struct str line = trim(str_take(&text, '\n'));

		if (line.n > 0 && line.p[0] != '#' && add(out, line, &fault))
			return err_set(e, &err_invalid, "%.*s, line %d: %s",
			    STR_ARGS(config->witness_file), number,
			    fault.detail);
	}
	out->minimum = config->witness_minimum > 0
			   ? (size_t)config->witness_minimum
			   : out->n;
	if (out->minimum > out->n)
		return err_set(e, &err_invalid,
		    "witness_minimum is %zu, and %.*s names %zu", out->minimum,
		    STR_ARGS(config->witness_file), out->n);
	return 0;
}
