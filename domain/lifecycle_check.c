#include "domain/lifecycle.h"

#include <string.h>

static void
fault(struct buf *faults, const struct operation *op, const char *what)
{
	buf_addf(faults, "%s: %s\n", op->id ? op->id : "(no id)", what);
}

/* The same day a year later, which the 29th of February may lack: as text it
 * still compares right. */
static bool
is_a_year_later(const char *from, const char *to)
{
	char later[11];

	memcpy(later, from, sizeof later);
	for (int i = 3; i >= 0; i--) {
		later[i] = later[i] == '9' ? '0' : (char)(later[i] + 1);
		if (later[i] != '0')
			break;
	}
	return strcmp(to, later) >= 0;
}

static bool
is_row(const struct group *const *groups, const struct operation *op)
{
	for (size_t i = 0; groups[i]; i++) {
		const struct operation *const *row = groups[i]->operations;

		for (; row && *row; row++)
			if (*row != op && (*row)->method && (*row)->path &&
			    strcmp((*row)->method, op->method) == 0 &&
			    strcmp((*row)->path, op->successor) == 0)
				return true;
	}
	return false;
}

/* What its path needs has to be in this row's path. */
static bool
has_names(const struct operation *op)
{
	struct str rest = str_from(op->successor);

	while (str_take(&rest, '{').p && rest.p) {
		struct str name = str_take(&rest, '}'), own, at;
		bool found = false;

		for (at = str_from(op->path); str_take(&at, '{').p && at.p;) {
			own = str_take(&at, '}');
			found = found || str_eq(own, name);
		}
		if (!found)
			return false;
	}
	return true;
}

static void
check_dates(const struct operation *op, struct buf *faults)
{
	struct instant ignored;

	if (!op->deprecated) {
		fault(faults, op, "ends, and is not deprecated");
		return;
	}
	if (!op->sunset)
		fault(faults, op, "is deprecated, and has no sunset");
	else if (!lifecycle_date(op->deprecated, &ignored) ||
		 !lifecycle_date(op->sunset, &ignored))
		fault(faults, op, "deprecated and sunset are dates");
	else if (!is_a_year_later(op->deprecated, op->sunset))
		fault(faults, op, "sunset is under a year after deprecated");
}

void
lifecycle_check(const struct operation *op, const struct group *const *groups,
    struct buf *faults)
{
	if (strcmp(lifecycle_stability(op), "Stable") != 0 &&
	    strcmp(lifecycle_stability(op), "Beta") != 0)
		fault(faults, op, "stability is not Stable or Beta");
	if (op->deprecated || op->sunset || op->successor)
		check_dates(op, faults);
	if (!op->successor || !op->method || !op->path)
		return;
	if (!is_row(groups, op))
		fault(faults, op, "successor is no row of the same method");
	if (!has_names(op))
		fault(faults, op, "successor needs what the path has not");
}
