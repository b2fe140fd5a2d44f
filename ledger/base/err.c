#include "ledger/base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ledger/base/arena.h"

#define FIELDS_MAX 64

#define ERR_DEFINE(name, slug, status, retryable, title, remedy)             \
	const struct err_kind err_##name = { slug, title, status, retryable, \
		remedy };
ERR_KINDS(ERR_DEFINE)
#undef ERR_DEFINE

/* A detail cut at its maximum does not end within a character. */
__attribute__((format(printf, 3, 0))) static void
format_detail(char *out, size_t size, const char *fmt, va_list ap)
{
	int n = vsnprintf(out, size, fmt, ap);
	size_t end = size - 1;

	if (n < 0 || (size_t)n < size)
		return;
	while (end > 0 && ((unsigned char)out[end - 1] & 0xc0) == 0x80)
		end--;
	if (end > 0 && (unsigned char)out[end - 1] >= 0xc0)
		end--;
	out[end] = '\0';
}

int
err_set(struct err *e, const struct err_kind *kind, const char *fmt, ...)
{
	va_list ap;

	if (!e || e->kind)
		return -1;
	e->kind = kind;
	va_start(ap, fmt);
	format_detail(e->detail, sizeof e->detail, fmt, ap);
	va_end(ap);
	return -1;
}

int
err_errno(struct err *e, const struct err_kind *kind, const char *fmt, ...)
{
	int cause = errno;
	char reason[128];
	size_t n;
	va_list ap;

	if (!e || e->kind)
		return -1;
	e->kind = cause == ENOSPC || cause == EDQUOT ? &err_no_space : kind;
	va_start(ap, fmt);
	format_detail(e->detail, sizeof e->detail, fmt, ap);
	va_end(ap);
	n = strlen(e->detail);
	snprintf(e->detail + n, sizeof e->detail - n, ": %s",
	    strerror_r(cause, reason, sizeof reason));
	errno = cause;
	return -1;
}

int
err_own(struct err *e, const struct err_kind *kind, const struct err *why)
{
	return err_set(
	    e, why->kind->status < 500 ? kind : why->kind, "%s", why->detail);
}

void
err_clear(struct err *e)
{
	if (!e)
		return;
	*e = (struct err){ 0 };
}

/* The end of the list, NULL when it is full. */
static struct err_field **
field_slot(struct err *e)
{
	struct err_field **slot = &e->fields;

	for (int n = 0; *slot; n++) {
		if (n == FIELDS_MAX - 1)
			return NULL;
		slot = &(*slot)->next;
	}
	return slot;
}

int
err_add_field(struct err *e, struct arena *a, const char *place, const char *at,
    const char *code, const char *fmt, ...)
{
	struct err_field *field, **slot;
	char detail[256];
	va_list ap;

	if (!e)
		return -1;
	va_start(ap, fmt);
	format_detail(detail, sizeof detail, fmt, ap);
	va_end(ap);
	err_set(e, &err_invalid, "%.200s: %s", at, detail);
	slot = field_slot(e);
	if (!slot)
		return -1;
	field = ARENA_NEW(a, struct err_field);
	field->place = arena_cstr(a, str_from(place));
	field->at = arena_cstr(a, str_from(at));
	field->code = arena_cstr(a, str_from(code));
	field->detail = arena_cstr(a, str_from(detail));
	*slot = field;
	return -1;
}
