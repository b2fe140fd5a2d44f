/* The setting that somebody meant who wrote another name. */
#include "domain/config_file.h"
#include "domain/config_shape.h"

#define FARTHEST 4 /* edits from a name that is proposed */

/* Single edits from one name to the other (Levenshtein). */
static size_t
distance(struct str a, struct str b)
{
	size_t row[64];

	if (a.n >= 64 || b.n >= 64)
		return SIZE_MAX;
	for (size_t i = 0; i <= b.n; i++)
		row[i] = i;
	for (size_t i = 1; i <= a.n; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t k = 1; k <= b.n; k++) {
			size_t best = corner + (a.p[i - 1] != b.p[k - 1]);

			corner = row[k];
			if (row[k] + 1 < best)
				best = row[k] + 1;
			if (row[k - 1] + 1 < best)
				best = row[k - 1] + 1;
			row[k] = best;
		}
	}
	return row[b.n];
}

const char *
config_nearest(struct str name)
{
	size_t least = FARTHEST < name.n / 2 + 1 ? FARTHEST : name.n / 2 + 1;
	const char *found = NULL;

	for (size_t i = 0; i < config_shape.n; i++) {
		const char *known = config_shape.fields[i].name;
		size_t d = distance(name, str_from(known));

		if (d < least) {
			least = d;
			found = known;
		}
	}
	return found;
}
