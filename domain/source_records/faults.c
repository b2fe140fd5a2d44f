#include "domain/source_records/faults.h"

#include <stdio.h>

void
faults_init(struct faults *f, struct arena *a)
{
	f->arena = a;
	f->n = 0;
}

__attribute__((format(printf, 4, 0))) static void
keep(struct faults *f, const char *at, const char *code, const char *fmt,
    va_list ap)
{
	char words[320];

	if (f->n++ >= FAULTS_KEPT)
		return;
	vsnprintf(words, sizeof words, fmt, ap);
	f->kept[f->n - 1] =
	    (struct fault){ at, code, arena_cstr(f->arena, str_from(words)) };
}

void
faults_add(struct faults *f, const char *code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	keep(f, "#/file", code, fmt, ap);
	va_end(ap);
}

void
faults_add_at(
    struct faults *f, const char *at, const char *code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	keep(f, at, code, fmt, ap);
	va_end(ap);
}

int
faults_raise(const struct faults *f, struct err *e)
{
	if (f->n == 0)
		return 0;
	err_set(e, &err_invalid, "nothing was imported; %s%zu fault%s: %s",
	    f->n > FAULTS_KEPT ? "the first 64 are shown of " : "", f->n,
	    f->n == 1 ? "" : "s", f->kept[0].detail);
	for (size_t i = 0; i < f->n && i < FAULTS_KEPT; i++)
		err_add_field(e, f->arena, "pointer", f->kept[i].at,
		    f->kept[i].code, "%s", f->kept[i].detail);
	return -1;
}
