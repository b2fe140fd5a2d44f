#include "fcgi/form.h"

#include "ledger/codec/text.h"

static int
add(struct form *form, struct str pair, struct arena *a, struct err *e)
{
	struct form_param *p = &form->items[form->n];
	struct str value = pair, name = str_take(&value, '=');

	if (form->n == FORM_PARAMS_MAX)
		return err_set(e, &err_malformed,
		    "the form holds more than %d parameters", FORM_PARAMS_MAX);
	if (!value.p)
		value = STR("");
	if (!percent_decode(a, name, true, &p->name) ||
	    !percent_decode(a, value, true, &p->value))
		return err_set(
		    e, &err_malformed, "the form is not percent-encoded UTF-8");
	form->n++;
	return 0;
}

int
form_decode(struct arena *a, struct str body, struct form *form, struct err *e)
{
	struct str rest = body;

	form->items = arena_array(a, FORM_PARAMS_MAX + 1, sizeof *form->items);
	form->n = 0;
	while (rest.p) {
		struct str pair = str_take(&rest, '&');

		if (pair.n > 0 && add(form, pair, a, e))
			return -1;
	}
	return 0;
}

size_t
form_get_all(
    const struct form *form, const char *name, struct str *out, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < form->n; i++) {
		const struct form_param *p = &form->items[i];

		if (p->value.n == 0 || !str_is(p->name, name))
			continue;
		if (n < max)
			out[n] = p->value;
		n++;
	}
	return n;
}

struct str
form_get(const struct form *form, const char *name)
{
	struct str value = STR_NONE;

	form_get_all(form, name, &value, 1);
	return value;
}

int
form_check_single(const struct form *form, const char *but, struct err *e)
{
	for (size_t i = 0; i < form->n; i++)
		for (size_t k = 0; k < i; k++)
			if (str_eq(form->items[i].name, form->items[k].name) &&
			    !str_is(form->items[i].name, but))
				return err_set(e, &err_malformed,
				    "a parameter of the form is there twice");
	return 0;
}
