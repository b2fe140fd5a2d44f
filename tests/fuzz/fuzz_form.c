/*
 * A hostile form body, and a hostile Authorization header in front of it. The
 * input: the header's value, a zero byte, the form.
 */
#include <stdlib.h>
#include <string.h>

#include "fcgi/oauth.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
demand(bool holds)
{
	if (!holds)
		abort();
}

static void
check_text(struct str s)
{
	demand(str_is_utf8(s) && (s.n == 0 || !memchr(s.p, '\0', s.n)));
}

static void
check_header(struct str header, struct arena *a)
{
	struct str id = STR_NONE, secret = STR_NONE;
	struct api_key key;
	struct err e = { 0 };

	if (header.n > HEADER_BYTES_MAX)
		return;
	if (oauth_read_basic(header, a, &id, &secret, &e)) {
		demand(e.kind == &err_oauth_client);
		return;
	}
	check_text(id);
	check_text(secret);
	if (key_parse(a, secret, &key))
		demand(workspace_name_is_valid(key.place.workspace));
}

static void
check_form(struct str body, struct arena *a)
{
	struct str values[4];
	struct form form;
	struct err e = { 0 };

	if (form_decode(a, body, &form, &e)) {
		demand(e.kind == &err_malformed);
		return;
	}
	demand(form.n <= FORM_PARAMS_MAX);
	for (size_t i = 0; i < form.n; i++) {
		check_text(form.items[i].name);
		check_text(form.items[i].value);
		demand(form.items[i].value.n <= body.n);
	}
	demand(form_get_all(&form, "resource", values, 4) <= form.n);
	if (form_check_single(&form, "resource", &e) == 0)
		demand(form_get_all(&form, "scope", values, 4) <= 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	char *copy = arena_alloc(a, size + 1);
	struct str body = { copy, size }, header;

	if (size > 0)
		memcpy(copy, data, size);
	header = str_take(&body, '\0');
	check_header(header, a);
	if (body.p)
		check_form(body, a);
	arena_free(a);
	return 0;
}
