#include <stdlib.h>

#include "ledger/codec/canon.h"
#include "ledger/codec/canon_form.h"
#include "ledger/codec/place.h"

static int
refuse(struct err *e, const struct place *at, const char *why)
{
	char text[PLACE_TEXT_MAX];

	place_format(at, false, text);
	return err_set(e, &err_malformed, "at \"%.300s\": %s", text, why);
}

static bool
is_event_name(struct str name)
{
	if (name.n == 0 || name.p[0] < 'a' || name.p[0] > 'z')
		return false;
	for (size_t i = 1; i < name.n; i++)
		if (!canon_form_in_name((unsigned char)name.p[i]))
			return false;
	return true;
}

static int
check_scalar(const struct json *v, const struct place *at, struct err *e)
{
	int64_t whole;

	if (v->type == JSON_NUMBER &&
	    (!str_to_i64(v->text, &whole) || whole > CANON_FORM_SAFE_INTEGER ||
		whole < -CANON_FORM_SAFE_INTEGER))
		return refuse(e, at, CANON_FORM_NUMBER);
	if (v->type == JSON_STRING && str_find(v->text, '\0') < v->text.n)
		return refuse(e, at, CANON_FORM_NUL);
	return 0;
}

static int
check_value(
    const struct json *v, const struct place *at, unsigned depth, struct err *e)
{
	struct place inner = { .up = at };

	if (v->type != JSON_ARRAY && v->type != JSON_OBJECT)
		return check_scalar(v, at, e);
	if (depth == CANON_FORM_DEPTH)
		return refuse(e, at, CANON_FORM_TOO_DEEP);
	for (const struct json *child = v->first; child; child = child->next) {
		if (v->type == JSON_OBJECT) {
			inner.name = child->name;
			if (!is_event_name(child->name))
				return refuse(e, &inner, CANON_FORM_NAME);
		}
		if (check_value(child, &inner, depth + 1, e))
			return -1;
		inner.index++;
	}
	return 0;
}

int
canon_event(
    struct arena *a, const struct json *v, struct str *out, struct err *e)
{
	if (check_value(v, NULL, 0, e))
		return -1;
	return canon_str(a, v, out, e);
}
