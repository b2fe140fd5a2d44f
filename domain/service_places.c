#include "domain/service.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#define PLACES_MAX 100000

struct places {
	struct arena *arena;
	struct place *list;
	size_t n, room;
};

static void
add(struct places *p, const char *workspace, const char *environment)
{
	if (p->n == p->room) {
		size_t room = p->room ? 2 * p->room : 64;
		struct place *list =
		    arena_array(p->arena, room, sizeof(struct place));

		for (size_t i = 0; i < p->n; i++)
			list[i] = p->list[i];
		p->list = list;
		p->room = room;
	}
	p->list[p->n++] = (struct place){
		.workspace = arena_str(p->arena, str_from(workspace)),
		.environment = str_from(environment),
	};
}

static int
compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = str_cmp(x->workspace, y->workspace);

	return order ? order : str_cmp(x->environment, y->environment);
}

static void
add_existing(struct places *p, const char *dir, const char *workspace)
{
	static const char *const environments[] = { "production", "sandbox" };
	struct stat st;

	for (size_t i = 0; i < 2; i++)
		if (stat(arena_printf(p->arena, "%s/%s/%s/ledger.git", dir,
			     workspace, environments[i]),
			&st) == 0)
			add(p, workspace, environments[i]);
}

int
service_places(struct service *s, struct arena *a, struct place **out,
    size_t *n, struct err *e)
{
	const char *dir =
	    arena_printf(a, "%.*s/ledgers", STR_ARGS(service_config(s)->state));
	struct places p = { .arena = a };
	DIR *d = opendir(dir);
	struct dirent *entry;

	*out = NULL;
	*n = 0;
	if (!d && errno == ENOENT)
		return 0;
	if (!d)
		return err_errno(e, &err_unavailable, "%s", dir);
	/* A stream of our own. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	while ((entry = readdir(d)) && p.n < PLACES_MAX)
		if (workspace_name_is_valid(str_from(entry->d_name)))
			add_existing(&p, dir, entry->d_name);
	closedir(d);
	if (p.n > 0)
		qsort(p.list, p.n, sizeof *p.list, compare);
	*out = p.list;
	*n = p.n;
	return 0;
}
