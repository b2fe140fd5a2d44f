#include <stdlib.h>
#include <string.h>

#include "domain/catalog.h"
#include "domain/service.h"
#include "fcgi/conditions.h"
#include "fcgi/ledger_pages.h"
#include "fcgi/negotiation.h"
#include "fcgi/problem.h"
#include "fcgi/request.h"

#define KINDS_MAX 256

#define ADDRESS(name, ...) &err_##name,
static const struct err_kind *const common[] = {
	ERR_KINDS(ADDRESS) & err_uri_too_long, &err_clone_unavailable,
	&err_clone_busy, &err_precondition, &err_not_acceptable, &err_capacity
};
#undef ADDRESS

static int
by_slug(const void *a, const void *b)
{
	const struct err_kind *const *x = a, *const *y = b;

	return strcmp((*x)->slug, (*y)->slug);
}

static void
add(const struct err_kind **kinds, size_t *n, const struct err_kind *kind)
{
	for (size_t i = 0; i < *n; i++)
		if (kinds[i] == kind)
			return;
	if (*n < KINDS_MAX)
		kinds[(*n)++] = kind;
}

const struct err_kind **
problem_kinds(struct arena *a, size_t *n)
{
	const struct err_kind **kinds =
	    arena_array(a, KINDS_MAX, sizeof *kinds);

	*n = 0;
	/* What a command line alone meets is no problem of the web. */
	for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
		if (common[i] != &err_usage)
			add(kinds, n, common[i]);
	for (size_t i = 0; catalog_groups[i]; i++) {
		const struct err_kind *const *p = catalog_groups[i]->problems;

		for (; p && *p; p++)
			add(kinds, n, *p);
	}
	qsort(kinds, *n, sizeof *kinds, by_slug);
	return kinds;
}

const struct err_kind *
problem_kind_find(struct arena *a, struct str slug)
{
	size_t n;
	const struct err_kind **kinds = problem_kinds(a, &n);

	for (size_t i = 0; i < n; i++)
		if (str_is(slug, kinds[i]->slug))
			return kinds[i];
	return NULL;
}

struct str
problem_page(struct arena *a, const struct err_kind *kind)
{
	return arena_strf(a,
	    "%s\n\n"
	    "HTTP status: %d\n"
	    "Problem:     %s\n\n"
	    "What to do:  %s\n"
	    "%s\n",
	    kind->title, kind->status, kind->slug, kind->remedy,
	    kind->retryable
		? "The same request may succeed later."
		: "The same request will not succeed as it stands.");
}

void
problem_reference(struct arena *a, struct buf *out)
{
	size_t n;
	const struct err_kind **kinds = problem_kinds(a, &n);

	buf_add_cstr(out,
	    "# Problems\n\n"
	    "Generated from the tables of error kinds by `probity.fcgi "
	    "--print-errors`.\n\n"
	    "Every error reply is `application/problem+json` (RFC 9457). Its "
	    "`type` is the\npublic URL followed by `/problems/` and the name "
	    "below, and leads to the same\nwords; `code` is the name with "
	    "underscores. Names never change. *Retry* says\nwhether the same "
	    "request may succeed later. Two have a type that is "
	    "registered below\n"
	    "`https://iana.org/assignments/http-problem-types`: "
	    "`rate-limited` is\n`#quota-exceeded`, `reduced-capacity` is "
	    "`#temporary-reduced-capacity`.\n\n"
	    "| name | status | retry | what it means | what to do |\n"
	    "| --- | --- | --- | --- | --- |\n");
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "| `%s` | %d | %s | %s | %s |\n", kinds[i]->slug,
		    kinds[i]->status, kinds[i]->retryable ? "yes" : "no",
		    kinds[i]->title, kinds[i]->remedy);
}
